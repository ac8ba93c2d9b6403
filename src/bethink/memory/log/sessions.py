"""Opens sessions and marks them."""

from bethink.errors import InvalidRequestError
from bethink.memory.log.succession import end_session, get_session, mark_pending, succeed_session
from bethink.model.records import AgentKind, EndReason, SessionInfo, Trigger, checked_name
from bethink.model.rules import TURN_THRESHOLD, makes_memory
from bethink.store import messages, sessions
from bethink.store.db import Tx


def open_session(
    tx: Tx, *, space: str, agent: str, kind: AgentKind, key: str, ephemeral: bool | None = None
) -> tuple[SessionInfo, bool]:
    """Return the active session of a conversation, opening one if there is none, and whether it was opened now.

    `key` is the stored name of the conversation. An open session with a different `ephemeral` is ended; None
    accepts either.
    """
    speaker = sessions.ensure_agent(tx, space=space, name=checked_name(agent, "an agent's name"), kind=kind)
    conversation = sessions.ensure_conversation(tx, agent=speaker, key=key)
    sessions.lock_conversation(tx, space=space, conversation=conversation)
    last = sessions.newest(tx, space=space, conversation=conversation)
    learns = makes_memory(speaker.kind) and not ephemeral
    if last is not None and last.ended_at is None:
        if ephemeral is None or last.is_learned_from == learns:
            return last, False
        last = end_session(tx, space=space, session_id=last.id, reason=EndReason.RESET)
    if (
        last is not None
        and last.end_reason is EndReason.RESTORED
        and (ephemeral is None or last.is_learned_from == learns)
    ):
        return succeed_session(tx, space=space, session_id=last.id, reason=EndReason.RESTORED), True
    opened = sessions.open_next(
        tx,
        space=space,
        conversation=conversation,
        ordinal=1 if last is None else last.ordinal + 1,
        learns=learns,
    )
    return opened, True


def mark_after_turn(tx: Tx, *, space: str, session_id: str) -> bool:
    """Mark a session if it has more than five unprocessed records."""
    current = get_session(tx, space=space, session_id=session_id, lock=True)
    since = messages.count_since(tx, space=space, session_id=session_id, number=current.processed_until or 0)
    trigger = Trigger.TURN_THRESHOLD
    return since > TURN_THRESHOLD and mark_pending(tx, space=space, session_id=session_id, trigger=trigger)


def invalidate(tx: Tx, session: SessionInfo, *, number: int) -> bool:
    """Set or raise the mark of a session to the number of a record. A mark is never lowered."""
    current = get_session(tx, space=session.space, session_id=session.id, lock=True)
    if not 1 <= number <= current.last_number:
        raise InvalidRequestError(
            f"Session {session.id} has no record {number}.", hint=f"The last record is {current.last_number}."
        )
    return sessions.mark(tx, space=session.space, session_id=session.id, number=number, trigger=Trigger.IDLE)


def mark_processed(tx: Tx, session: SessionInfo, *, until: int, expected: int) -> bool:
    """Clear the mark and set `processed_until` if the mark is still `expected`; otherwise change nothing."""
    return sessions.clear_mark(tx, space=session.space, session_id=session.id, until=until, expected=expected)
