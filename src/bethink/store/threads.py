"""Threads: their queue of events, their mode, and the lock for stepping."""

import json
from collections.abc import Sequence
from datetime import timedelta

from bethink.model.ids import new_id
from bethink.model.moments import from_micros, from_micros_or_none
from bethink.model.records import checked_name
from bethink.model.text import canonical_json
from bethink.model.working import Event, FailedEvent, Mode, QueuedEvent, Strategy, Thread
from bethink.store import jobs
from bethink.store.db import NO_LIMIT, Row, Tx


def create(
    tx: Tx,
    *,
    space: str,
    thread_id: str,
    mode: Mode,
    session_id: str | None = None,
    conversation: str | None = None,
    forked: tuple[str, int] | None = None,
) -> bool:
    """Create a thread for the text of a conversation, if any. Returns False if the id is taken."""
    jobs.ensure_space(tx, space=space)
    source, at = forked or (None, None)
    inserted = tx.run(
        "insert_thread",
        space=space,
        id=checked_name(thread_id, "a thread's id"),
        session=session_id,
        conversation=conversation,
        mode=mode,
        forked_from=source,
        forked_at=at,
        now=tx.now,
    )
    return inserted == 1


def find(tx: Tx, *, space: str, thread_id: str, lock: bool = False) -> Thread | None:
    """Return a thread, if it exists; with `lock`, it is locked until this transaction ends."""
    row = tx.first("lock_thread" if lock else "find_thread", space=space, id=thread_id)
    return None if row is None else _thread(row)


def conversation_of(tx: Tx, *, space: str, thread_id: str) -> str | None:
    """Return the conversation whose text a thread has: that of its session, or of the thread it was forked from."""
    row = tx.first("conversation_of_thread", space=space, id=thread_id)
    return None if row is None else row["conversation_id"]


def list_threads(tx: Tx, *, space: str, limit: int, after: str) -> list[Thread]:
    """Return the threads of a space ordered by id, after one."""
    return [_thread(row) for row in tx.all("list_threads", space=space, limit=limit, after=after)]


def set_mode(tx: Tx, *, space: str, thread_id: str, mode: Mode) -> None:
    """Change how a thread processes its events."""
    tx.run("set_mode", space=space, id=thread_id, mode=mode)


def remove(tx: Tx, *, space: str, thread_id: str) -> None:
    """Delete a thread and all its contents."""
    tx.run("drop_thread", space=space, id=thread_id)


def push(
    tx: Tx, *, space: str, thread_id: str, events: Sequence[Event], urgent: bool = False
) -> list[QueuedEvent] | None:
    """Queue events and return them with their ids; None if there is no such thread. Urgent events go first."""
    row = tx.first("take_event_numbers", space=space, id=thread_id, count=len(events))
    if row is None:
        return None
    queued: list[QueuedEvent] = []
    for number, event in enumerate(events, row["last_event"] - len(events) + 1):
        queued.append(QueuedEvent(id=new_id("qevt"), number=number, event=event, queued_at=tx.now))
        tx.run(
            "insert_event",
            space=space,
            thread=thread_id,
            number=number,
            id=queued[-1].id,
            type=event.type,
            payload=canonical_json(event.payload),
            strategy=event.strategy,
            urgent=int(urgent),
            now=tx.now,
        )
    return queued


def queue(tx: Tx, *, space: str, thread_id: str, limit: int = NO_LIMIT) -> list[QueuedEvent]:
    """Return the waiting events, in the order in which they will be processed."""
    return [_event(row) for row in tx.all("list_queue", space=space, thread=thread_id, limit=limit)]


def queue_length(tx: Tx, *, space: str, thread_id: str) -> int:
    """Count the waiting events."""
    row = tx.first("count_queue", space=space, thread=thread_id)
    return 0 if row is None else row["count"]


def drop_event(tx: Tx, *, space: str, thread_id: str, number: int) -> bool:
    """Remove one event from the queue. Returns False if it was not waiting."""
    return tx.run("drop_event", space=space, thread=thread_id, number=number) == 1


def clear_queue(tx: Tx, *, space: str, thread_id: str) -> int:
    """Remove every event from the queue and return how many there were."""
    return tx.run("drop_queue", space=space, thread=thread_id)


def mark_applied(tx: Tx, *, space: str, thread_id: str, number: int, applied: int) -> None:
    """Remove an event from the queue as processed, with its sequence number in the thread."""
    tx.run("mark_applied", space=space, thread=thread_id, number=number, applied=applied)


def mark_failed(tx: Tx, *, space: str, thread_id: str, number: int, reason: str) -> None:
    """Set aside an event that could not be processed, with the reason. It no longer waits."""
    tx.run("mark_failed", space=space, thread=thread_id, number=number, reason=reason)


def failed_events(tx: Tx, *, space: str, thread_id: str) -> list[FailedEvent]:
    """Return the events that were set aside, the oldest first."""
    rows = tx.all("list_failed", space=space, thread=thread_id)
    return [FailedEvent(event=_event(row), reason=row["failed"]) for row in rows]


def failure_of(tx: Tx, *, space: str, thread_id: str, number: int) -> str | None:
    """Return why an event was set aside, if it was."""
    row = tx.first("failure_of_event", space=space, thread=thread_id, number=number)
    return None if row is None else row["failed"]


def applied_events(tx: Tx, *, space: str, thread_id: str, upto: int, after: int = 0) -> list[QueuedEvent]:
    """Return the processed events, in the order in which they were processed."""
    rows = tx.all("list_applied", space=space, thread=thread_id, after=after, upto=upto, limit=NO_LIMIT)
    return [_event(row) for row in rows]


def take_step(tx: Tx, *, space: str, thread_id: str, step_id: str, lease: timedelta) -> int | None:
    """Acquire the step lock for the duration of `lease` and return its token; None while another step holds it."""
    row = tx.first("take_step", space=space, id=thread_id, step=step_id, until=tx.now + lease, now=tx.now)
    return None if row is None else row["step_token"]


def drop_step(tx: Tx, *, space: str, thread_id: str, step_id: str) -> bool:
    """Release the step lock. Returns False if it belongs to another step."""
    return tx.run("drop_step", space=space, id=thread_id, step=step_id) == 1


def set_pending(tx: Tx, *, space: str, thread_id: str, compaction: bool, truncation: bool) -> None:
    """Record whether a thread is to be compacted or truncated."""
    tx.run("set_pending", space=space, id=thread_id, compaction=int(compaction), truncation=int(truncation))


def move(tx: Tx, *, space: str, before: str, session_id: str) -> None:
    """Move the thread of a session to another session, if that has none."""
    tx.run("move_thread", space=space, before=before, session=session_id)


def free_session(tx: Tx, *, space: str, session_id: str) -> None:
    """Detach a thread that moved here from an earlier session."""
    tx.run("free_session", space=space, session=session_id)


def _event(row: Row) -> QueuedEvent:
    strategy = None if row["strategy"] is None else Strategy(row["strategy"])
    event = Event(type=row["type"], payload=json.loads(row["payload"]), strategy=strategy)
    return QueuedEvent(id=row["id"], number=row["number"], event=event, queued_at=from_micros(row["queued_at"]))


def _thread(row: Row) -> Thread:
    return Thread(
        space=row["space_id"],
        id=row["id"],
        session_id=row["session_id"],
        mode=Mode(row["mode"]),
        state_number=row["state_number"],
        applied=row["applied"],
        last_event=row["last_event"],
        last_position=row["last_position"],
        total_tokens=row["total_tokens"],
        compressible_tokens=row["compressible_tokens"],
        pending_compaction=bool(row["pending_compaction"]),
        pending_truncation=bool(row["pending_truncation"]),
        step_id=row["step_id"],
        step_token=row["step_token"],
        step_until=from_micros_or_none(row["step_until"]),
        created_at=from_micros(row["created_at"]),
        forked_from=row["forked_from"],
        forked_at=row["forked_at"],
    )
