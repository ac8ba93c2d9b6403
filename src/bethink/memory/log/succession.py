"""Ends sessions, marks them, and opens the next ones."""

from bethink.errors import NotFoundError
from bethink.model.jobs import JobKind
from bethink.model.records import EndReason, SessionInfo, Trigger, checked_name
from bethink.model.rules import trigger_of
from bethink.store import jobs, messages, sessions, threads
from bethink.store.db import Tx


def get_session(tx: Tx, *, space: str, session_id: str, lock: bool = False) -> SessionInfo:
    """Return the current state of a session. Raises `NotFoundError` if the id is not in the space."""
    session = sessions.find(tx, space=space, session_id=checked_name(session_id, "a session's id"), lock=lock)
    if session is None:
        raise NotFoundError(f"No session {session_id!r} in space {space!r}.")
    return session


def end_session(tx: Tx, *, space: str, session_id: str, reason: EndReason) -> SessionInfo:
    """End a session and mark it. Ending it again changes nothing."""
    session = get_session(tx, space=space, session_id=session_id)
    # Lock the conversation before the session, as everywhere else: another order could deadlock.
    sessions.lock_conversation(tx, space=session.space, conversation=session.conversation_id)
    if sessions.end(tx, space=space, session_id=session_id, reason=reason):
        mark_pending(tx, space=space, session_id=session_id, trigger=trigger_of(reason))
    return get_session(tx, space=space, session_id=session_id)


def succeed_session(tx: Tx, *, space: str, session_id: str, reason: EndReason) -> SessionInfo:
    """End and mark a session, then open the next of its conversation; if that was already done, return the active one.

    The thread moves to the next session, unless that has its own.
    """
    ended = end_session(tx, space=space, session_id=session_id, reason=reason)
    last = sessions.newest(tx, space=ended.space, conversation=ended.conversation_id)
    if last is not None and last.ended_at is None:
        following = last
    else:
        following = sessions.open_next(
            tx,
            space=ended.space,
            conversation=ended.conversation_id,
            ordinal=(last or ended).ordinal + 1,
            learns=ended.is_learned_from,
        )
        following = sessions.label(tx, following, tags=ended.tags, metadata=ended.metadata)
    threads.move(tx, space=ended.space, before=ended.id, session_id=following.id)
    return following


def queue_consolidation(tx: Tx, *, space: str) -> None:
    """Queue a consolidation of a space. Raises `NotFoundError` if the space does not exist."""
    if not jobs.list_jobs(tx, space=space, limit=1):
        raise NotFoundError(f"No space {space!r}.")
    jobs.queue(tx, space=space, kind=JobKind.CONSOLIDATE, key=jobs.SPACE_KEY, watermark=0)


def mark_pending(tx: Tx, *, space: str, session_id: str, trigger: Trigger) -> bool:
    """Mark a session up to its last message, if any message is not learned from yet."""
    current = get_session(tx, space=space, session_id=session_id, lock=True)
    last = messages.max_number(tx, space=space, session_id=session_id)
    if last is None or last <= (current.processed_until or 0):
        return False
    return sessions.mark(tx, space=space, session_id=session_id, number=last, trigger=trigger)
