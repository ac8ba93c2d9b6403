"""Find idle sessions that still have something to learn, and mark them."""

from datetime import datetime

from bethink.base.frozen import frozen
from bethink.memory.log.succession import mark_pending
from bethink.model.jobs import JobKind
from bethink.model.moments import later
from bethink.model.records import Trigger, channel_of
from bethink.store import jobs, learning, sessions
from bethink.store.db import Tx


@frozen
class IdleRules:
    """Unmarked sessions to learn from: idle for `idle_hours`, at most `age_days` old, on these channels."""

    idle_hours: int = 6
    age_days: int = 30
    channels: tuple[str, ...] = ()


def look(tx: Tx, rules: IdleRules, *, space: str, session_id: str) -> bool:
    """Mark an idle session that has something to learn; return whether it did. If not, schedule the next check."""
    session = sessions.find(tx, space=space, session_id=session_id, lock=True)
    last = None if session is None else learning.last_said(tx, space=space, session_id=session_id)
    again = later(tx.now, hours=rules.idle_hours)
    if session is None or not session.is_learned_from or not _is_allowed(tx, rules, space, session.conversation_id):
        again = None
    elif last is None or last <= later(tx.now, days=-rules.age_days):
        again = (
            again if last is None and session.ended_at is None and _is_recent(tx, rules, session.created_at) else None
        )
    elif last > later(tx.now, hours=-rules.idle_hours):
        again = later(last, hours=rules.idle_hours)
    elif mark_pending(tx, space=session.space, session_id=session.id, trigger=Trigger.IDLE):
        return True
    elif session.ended_at is not None:
        again = None
    jobs.set_idle_check(tx, space=space, kind=JobKind.EXTRACT, key=session_id, due=again)
    if again is None and session is not None and session.is_learned_from and session.ended_at is None:
        learning.note_failure(tx, space=space, session_id=session_id)  # a new message wakes it
    return False


def _is_recent(tx: Tx, rules: IdleRules, created_at: datetime) -> bool:
    return created_at > later(tx.now, days=-rules.age_days)


def _is_allowed(tx: Tx, rules: IdleRules, space: str, conversation: str) -> bool:
    if not rules.channels:
        return True
    key = sessions.key_of(tx, space=space, conversation=conversation)
    return key is not None and channel_of(key) in rules.channels
