"""Sessions open, end and follow one another; the four triggers mark them."""

from bethink.errors import Invalid, NotFound
from bethink.model.records import AgentKind, ConversationKey, EndReason, Session, Trigger, checked_name
from bethink.model.rules import TURN_THRESHOLD, makes_memory, trigger_of
from bethink.store import messages, sessions
from bethink.store.db import Tx


def open_session(tx: Tx, *, space: str, agent: str, kind: AgentKind, key: ConversationKey) -> Session:
    """Return the active session of a conversation, opening one if there is none."""
    speaker = sessions.ensure_agent(tx, space=space, name=checked_name(agent, "an agent's name"), kind=kind)
    conversation = sessions.ensure_conversation(tx, agent=speaker, key=str(key))
    sessions.lock_conversation(tx, space=space, conversation=conversation)
    last = sessions.newest(tx, space=space, conversation=conversation)
    if last is not None and last.ended_at is None:
        return last
    return sessions.open_next(
        tx,
        space=space,
        conversation=conversation,
        ordinal=1 if last is None else last.ordinal + 1,
        learns=makes_memory(speaker.kind),
    )


def get_session(tx: Tx, *, space: str, session_id: str, lock: bool = False) -> Session:
    """Return a session as it stands now."""
    found = sessions.find(tx, space=space, session_id=checked_name(session_id, "a session's id"), lock=lock)
    if found is None:
        raise NotFound(f"no session {session_id!r} in space {space!r}.")
    return found


def _locked(tx: Tx, session: Session) -> Session:
    return get_session(tx, space=session.space, session_id=session.id, lock=True)


def end_session(tx: Tx, session: Session, *, reason: EndReason) -> Session:
    """End a session and mark it. Ending it again changes nothing."""
    found = get_session(tx, space=session.space, session_id=session.id)
    # The conversation before the session, as everywhere: two orders would be a deadlock.
    sessions.lock_conversation(tx, space=found.space, conversation=found.conversation_id)
    if sessions.end(tx, space=session.space, session_id=session.id, reason=reason):
        mark_pending(tx, session, trigger=trigger_of(reason))
    return get_session(tx, space=session.space, session_id=session.id)


def succeed_session(tx: Tx, session: Session, *, reason: EndReason) -> Session:
    """End and mark a session, then open the next of its conversation; if that was done, return the active one."""
    ended = end_session(tx, session, reason=reason)
    last = sessions.newest(tx, space=ended.space, conversation=ended.conversation_id)
    if last is not None and last.ended_at is None:
        return last
    return sessions.open_next(
        tx,
        space=ended.space,
        conversation=ended.conversation_id,
        ordinal=(last or ended).ordinal + 1,
        learns=ended.learns,
    )


def mark_pending(tx: Tx, session: Session, *, trigger: Trigger) -> bool:
    """Mark a session up to its last message, if anything there is still to be learnt."""
    current = _locked(tx, session)
    last = messages.max_number(tx, space=session.space, session_id=session.id)
    if last is None or last <= (current.processed_until or 0):
        return False
    return sessions.mark(tx, space=session.space, session_id=session.id, number=last, trigger=trigger)


def mark_after_turn(tx: Tx, session: Session) -> bool:
    """Mark a session if more than five records follow what was last processed."""
    current = _locked(tx, session)
    since = messages.count_since(tx, space=session.space, session_id=session.id, number=current.processed_until or 0)
    return since > TURN_THRESHOLD and mark_pending(tx, session, trigger=Trigger.TURN_THRESHOLD)


def invalidate(tx: Tx, session: Session, *, number: int, trigger: Trigger = Trigger.IDLE) -> bool:
    """Set or raise a session's mark to a record's number. A mark is never lowered."""
    current = _locked(tx, session)
    if not 1 <= number <= current.last_number:
        raise Invalid(f"session {session.id} has no record {number}.", hint=f"Its last is {current.last_number}.")
    return sessions.mark(tx, space=session.space, session_id=session.id, number=number, trigger=trigger)


def mark_processed(tx: Tx, session: Session, *, until: int, expected: int) -> bool:
    """Clear the mark and set `processed_until`, only if the mark is still `expected`; else change nothing."""
    return sessions.clear_mark(tx, space=session.space, session_id=session.id, until=until, expected=expected)
