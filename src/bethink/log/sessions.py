"""Sessions open, and are marked by what happens in them."""

from typing import cast

from bethink.errors import Invalid
from bethink.log.succession import end_session, get_session, mark_pending
from bethink.model.ids import new_id
from bethink.model.moments import EPOCH
from bethink.model.records import (
    AgentKind,
    ConversationKey,
    EndReason,
    Session,
    Trigger,
    checked_name,
    conversation_text,
)
from bethink.model.rules import TURN_THRESHOLD, makes_memory
from bethink.store import messages, sessions
from bethink.store.db import Tx


def open_session(
    tx: Tx, *, space: str, agent: str, kind: AgentKind, key: ConversationKey | str, ephemeral: bool | None = None
) -> tuple[Session, bool]:
    """Return the active session of a conversation, opening one if there is none, and whether it was opened now.

    One that is learnt from where an `ephemeral` one is asked for, or the other way, is ended; None takes either.
    """
    speaker = sessions.ensure_agent(tx, space=space, name=checked_name(agent, "an agent's name"), kind=kind)
    conversation = sessions.ensure_conversation(tx, agent=speaker, key=conversation_text(key))
    sessions.lock_conversation(tx, space=space, conversation=conversation)
    last = sessions.newest(tx, space=space, conversation=conversation)
    learns = makes_memory(speaker.kind) and not ephemeral
    if last is not None and last.ended_at is None:
        if ephemeral is None or last.learns == learns:
            return last, False
        last = end_session(tx, last, reason=EndReason.RESET)
    opened = sessions.open_next(
        tx,
        space=space,
        conversation=conversation,
        ordinal=1 if last is None else last.ordinal + 1,
        learns=learns,
    )
    return opened, True


def home_of(session: Session) -> str:
    """Return the space of a session, or raise `Invalid` for what is none, such as its id."""
    if not isinstance(cast("object", session), Session):
        what = f"a {type(session).__name__} is no session."
        raise Invalid(what, hint="Give what open_session returns, or get_session for an id.")
    return session.space


def id_within(session: Session | None, space: str) -> str | None:
    """Return the id of a session, if there is one. Raises `Invalid` unless it is in the space."""
    if session is not None and home_of(session) != space:
        raise Invalid(f"session {session.id} is not in space {space!r}.", hint="Ask in the space of the session.")
    return None if session is None else session.id


def nowhere(*, space: str, agent: str, key: ConversationKey | str) -> Session:
    """Return the session that stands in for all where nothing is stored."""
    return Session(
        space=space,
        id=new_id("ses"),
        conversation_id=conversation_text(key),
        agent_id=agent,
        ordinal=1,
        learns=False,
        created_at=EPOCH,
    )


def mark_after_turn(tx: Tx, session: Session) -> bool:
    """Mark a session if more than five records follow what was last processed."""
    current = get_session(tx, space=session.space, session_id=session.id, lock=True)
    since = messages.count_since(tx, space=session.space, session_id=session.id, number=current.processed_until or 0)
    return since > TURN_THRESHOLD and mark_pending(tx, session, trigger=Trigger.TURN_THRESHOLD)


def invalidate(tx: Tx, session: Session, *, number: int, trigger: Trigger = Trigger.IDLE) -> bool:
    """Set or raise a session's mark to a record's number. A mark is never lowered."""
    current = get_session(tx, space=session.space, session_id=session.id, lock=True)
    if not 1 <= number <= current.last_number:
        raise Invalid(f"session {session.id} has no record {number}.", hint=f"Its last is {current.last_number}.")
    return sessions.mark(tx, space=session.space, session_id=session.id, number=number, trigger=trigger)


def mark_processed(tx: Tx, session: Session, *, until: int, expected: int) -> bool:
    """Clear the mark and set `processed_until`, only if the mark is still `expected`; else change nothing."""
    return sessions.clear_mark(tx, space=session.space, session_id=session.id, until=until, expected=expected)
