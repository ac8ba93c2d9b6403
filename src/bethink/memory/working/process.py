"""Process one event in one transaction: it leaves the queue together with its effect, or not at all."""

import json
from collections.abc import Sequence
from dataclasses import field
from datetime import timedelta

from bethink.base.frozen import frozen
from bethink.errors import ConflictError, NotFoundError
from bethink.extend import Redactor, Tokens
from bethink.memory.log import succession
from bethink.memory.working import ladder
from bethink.memory.working.chunk_list import ChunkList
from bethink.memory.working.ladder import Thresholds
from bethink.memory.working.reducers import Reducers, default_reducers
from bethink.model.ids import new_id
from bethink.model.records import EndReason
from bethink.model.text import canonical_json, clean
from bethink.model.thread_results import Processed
from bethink.model.working import Event, EventType, Mode, QueuedEvent, StateCause, Thread
from bethink.providers.estimated_tokens import EstimatedTokens
from bethink.store import sessions, states, threads
from bethink.store.db import Tx

_SOURCES: dict[str, StateCause] = {
    EventType.MEMORY_COMPACT_AUTO: StateCause.COMPACTION,
    EventType.MEMORY_COMPACT_MANUAL: StateCause.COMPACTION,
    EventType.MEMORY_TRUNCATE: StateCause.TRUNCATION,
    EventType.MEMORY_EMERGENCY: StateCause.TRUNCATION,
    EventType.MEMORY_EDIT: StateCause.MANUAL,
}
INTERNAL_EVENTS = frozenset(_SOURCES)
"""Events that the memory creates itself. They are processed before all others."""

_ENDINGS: dict[str, EndReason] = {
    EventType.MEMORY_COMPACT_AUTO: EndReason.COMPACTION,
    EventType.MEMORY_COMPACT_MANUAL: EndReason.COMPACTION,
    EventType.MEMORY_EMERGENCY: EndReason.EMERGENCY,
}


@frozen
class Engine:
    """The settings of event processing."""

    reducers: Reducers = field(default_factory=default_reducers)
    tokens: Tokens = field(default_factory=EstimatedTokens)
    thresholds: Thresholds = field(default_factory=Thresholds)
    auto_compact: bool = True
    retain_recent: int = 20
    emergency_retain: int = 5


def get_thread(tx: Tx, *, space: str, thread_id: str, lock: bool = False) -> Thread:
    """Return a thread. Raises `NotFoundError` if the space has no thread with this id."""
    thread = threads.find(tx, space=space, thread_id=thread_id, lock=lock)
    if thread is None:
        raise NotFoundError(f"No thread {thread_id!r} in space {space!r}.")
    return thread


def open_thread(tx: Tx, *, space: str, thread_id: str, session_id: str | None, mode: Mode) -> Thread:
    """Return a thread, creating it with an empty first state if no thread has this id.

    Raises `NotFoundError` if the space does not have the session. A thread that followed its conversation to that
    session is detached from it.
    """
    conversation = None
    if session_id is not None:
        conversation = succession.get_session(tx, space=space, session_id=session_id).conversation_id
        if threads.find(tx, space=space, thread_id=thread_id) is None:
            threads.free_session(tx, space=space, session_id=session_id)
    if threads.create(
        tx, space=space, thread_id=thread_id, session_id=session_id, conversation=conversation, mode=mode
    ):
        thread = get_thread(tx, space=space, thread_id=thread_id)
        states.record(tx, thread=thread, number=0, source=StateCause.INITIAL)
    return get_thread(tx, space=space, thread_id=thread_id)


def redact_event(event: Event, redactor: Redactor) -> Event:
    """Return an event with every text in its payload cleaned and redacted, as it must be to be queued."""
    payload = canonical_json(event.payload, lambda text: redactor.redact(clean(text)))
    return Event(type=event.type, payload=json.loads(payload), strategy=event.strategy)


def push(tx: Tx, *, space: str, thread_id: str, events: Sequence[Event], urgent: bool = False) -> list[QueuedEvent]:
    """Queue events. Raises `NotFoundError` if the thread does not exist."""
    queued = threads.push(tx, space=space, thread_id=thread_id, events=events, urgent=urgent)
    if queued is None:
        raise NotFoundError(f"No thread {thread_id!r} in space {space!r}.")
    return queued


class Attempt:
    """The event that is being processed. Errors are attributed to it, except for those of the database."""

    event: QueuedEvent | None = None


def process_next(
    tx: Tx, *, space: str, thread_id: str, engine: Engine, attempt: Attempt, step_id: str | None = None
) -> Processed | None:
    """Process the first event of the queue. Return None if the queue is empty or another step has the lock.

    With a `step_id`, the caller must have the step lock under that id; otherwise it is taken and released here.
    Raises `ConflictError` if that lock is lost.
    """
    attempt.event = None  # a transaction may run again
    own_id = step_id or new_id("step")
    _lock_session(tx, space=space, thread_id=thread_id)
    thread = get_thread(tx, space=space, thread_id=thread_id, lock=True)
    if step_id is None:
        if threads.take_step(tx, space=space, thread_id=thread_id, step_id=own_id, lease=timedelta()) is None:
            return None
        thread = get_thread(tx, space=space, thread_id=thread_id)
    elif thread.step_id != step_id:
        raise ConflictError(
            f"Step {step_id} no longer has the lock of thread {thread_id}.", hint="Its lease expired. Step again."
        )
    waiting = threads.queue(tx, space=space, thread_id=thread_id, limit=1)
    attempt.event = waiting[0] if waiting else None
    done = apply_event(tx, thread, waiting[0], engine) if waiting else None
    attempt.event = None
    if step_id is None:
        threads.drop_step(tx, space=space, thread_id=thread_id, step_id=own_id)
    return done


def _lock_session(tx: Tx, *, space: str, thread_id: str) -> None:
    """Lock the session first if the next event ends it. Appends also lock the session before the thread."""
    thread = get_thread(tx, space=space, thread_id=thread_id)
    waiting = threads.queue(tx, space=space, thread_id=thread_id, limit=1)
    if thread.session_id is not None and waiting and waiting[0].event.type in _ENDINGS:
        session = succession.get_session(tx, space=space, session_id=thread.session_id)
        sessions.lock_conversation(tx, space=space, conversation=session.conversation_id)
        succession.get_session(tx, space=space, session_id=thread.session_id, lock=True)


def apply_event(tx: Tx, thread: Thread, event: QueuedEvent, engine: Engine) -> Processed:
    """Reduce an event, apply its operations, and remove it from the queue."""
    state = ChunkList(tx, thread, event, engine.tokens)
    operations = engine.reducers.reduce(event.event, state)
    for operation in operations:
        state.apply(operation)
    if operations:
        states.record(
            tx,
            thread=thread,
            number=state.number,
            source=_source(event.event),
            cause=event,
            operations=state.labels,
            total_tokens=state.total_tokens,
        )
    threads.mark_applied(tx, space=thread.space, thread_id=thread.id, number=event.number, applied=thread.applied + 1)
    states.advance(
        tx,
        thread=thread,
        number=state.number if operations else thread.state_number,
        position=state.last_position,
        tokens=(state.total_tokens, state.compressible_tokens),
        pending=_pending(event.event, state, engine),
    )
    _follow_session(tx, thread, event.event)
    return Processed(
        thread=get_thread(tx, space=thread.space, thread_id=thread.id),
        event=event,
        operations=tuple(operations),
        added=tuple(state.added),
        removed=tuple(state.removed),
    )


def _source(event: Event) -> StateCause:
    return _SOURCES.get(event.type, StateCause.EVENT)


def _pending(event: Event, state: ChunkList, engine: Engine) -> tuple[bool, bool]:
    compaction, truncation = ladder.pending(state.total_tokens, engine.thresholds, auto_compact=engine.auto_compact)
    # A truncation that chose its own chunks has removed all it could: another one would find nothing, forever.
    spent = event.type == EventType.MEMORY_TRUNCATE and "chunks" not in event.payload
    return compaction, truncation and not spent


def _follow_session(tx: Tx, thread: Thread, event: Event) -> None:
    """After a compaction, store the summary of the conversation and continue in its next session.

    If another thread already works on that session, this one stays behind and its summary is not stored.
    """
    reason = _ENDINGS.get(event.type)
    if thread.session_id is None or reason is None:
        return
    following = succession.succeed_session(tx, space=thread.space, session_id=thread.session_id, reason=reason)
    moved = get_thread(tx, space=thread.space, thread_id=thread.id).session_id == following.id
    if moved and "summary" in event.payload:
        sessions.set_summary(
            tx, space=thread.space, conversation=following.conversation_id, content=str(event.payload["summary"])
        )
