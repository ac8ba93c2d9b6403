"""Looks at sessions that nobody marked: those that went quiet with something left to learn are marked here."""

from dataclasses import dataclass

from bethink.model.jobs import JobKind
from bethink.model.records import Trigger, channel_of
from bethink.store import jobs, learning, sessions
from bethink.store.db import Tx
from bethink.store.succession import mark_pending

_HOUR = 3_600_000_000
_DAY = 24 * _HOUR


@dataclass(frozen=True, slots=True, kw_only=True)
class QuietRules:
    """Which unmarked sessions are learnt from: quiet for some hours, not older than some days, on these channels."""

    idle_hours: int = 6
    age_days: int = 30
    channels: tuple[str, ...] = ()


def look(tx: Tx, rules: QuietRules, *, space: str, session_id: str) -> bool:
    """Mark a session if it went quiet with something to learn, and say whether; else look again later, or never."""
    session = sessions.find(tx, space=space, session_id=session_id, lock=True)
    last = None if session is None else learning.last_said(tx, space=space, session_id=session_id)
    again = tx.now + rules.idle_hours * _HOUR
    if session is None or not session.learns or not _allowed(tx, rules, space, session.conversation_id):
        again = None
    elif last is None or last <= tx.now - rules.age_days * _DAY:
        again = again if last is None and session.ended_at is None and _young(tx, rules, session.created_at) else None
    elif last > tx.now - rules.idle_hours * _HOUR:
        again = last + rules.idle_hours * _HOUR
    elif mark_pending(tx, session, trigger=Trigger.IDLE):
        return True
    elif session.ended_at is not None:
        again = None
    jobs.settle_quiet(tx, space=space, kind=JobKind.EXTRACT, key=session_id, due=again)
    if again is None and session is not None and session.learns and session.ended_at is None:
        learning.rest(tx, space=space, session_id=session_id)  # whoever comes back after all wakes it
    return False


def _young(tx: Tx, rules: QuietRules, created_at: int) -> bool:
    return created_at > tx.now - rules.age_days * _DAY


def _allowed(tx: Tx, rules: QuietRules, space: str, conversation: str) -> bool:
    if not rules.channels:
        return True
    key = sessions.key_of(tx, space=space, conversation=conversation)
    return key is not None and channel_of(key) in rules.channels
