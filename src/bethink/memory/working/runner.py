"""Process the events of a thread one at a time under its lock, and keep the thread short."""

from collections import OrderedDict
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from bethink.base.logs import logger
from bethink.errors import ConfigurationError, ConflictError, DatabaseError, InvalidRequestError, NotFoundError
from bethink.extend import Redactor
from bethink.memory.working import ladder, process, time_travel
from bethink.memory.working.ladder import Compactor
from bethink.memory.working.observers import Observers, Occasion
from bethink.memory.working.process import Attempt, Engine
from bethink.model.ids import new_id
from bethink.model.thread_results import DispatchResult, Processed
from bethink.model.working import Chunk, Event, EventType, Mode, QueuedEvent, State, Thread
from bethink.store import states, threads
from bethink.store.db import Database, Tx, after_first_commit

T = TypeVar("T")

LEASE = timedelta(minutes=5)
"""The time for which a step may keep the lock of a thread before another may take over."""

_MAX_CACHED = 32
"""The maximum number of cached states."""

_log = logger("working")


class EventFailed(InvalidRequestError):
    """An event was set aside. A class of its own, so that processing can continue with the next event."""

    def __init__(self, thread_id: str, event: QueuedEvent, reason: str) -> None:
        self.event = event
        super().__init__(
            f"Event {event.id} ({event.event.type}) of thread {thread_id} failed and was set aside: {reason}",
            hint="Correct the failed event, and dispatch it again.",
        )


class Runner:
    """The work on threads that the methods of `WorkingMemory` have in common."""

    def __init__(
        self,
        database: Database,
        *,
        space: str,
        engine: Engine,
        observers: Observers,
        compactor: Compactor,
        redactor: Redactor,
        lease: timedelta,
    ) -> None:
        self.space = space
        self.engine = engine
        self.observers = observers
        self.compactor = compactor
        self._database = database
        self._redactor = redactor
        self._lease = lease
        self._cache: OrderedDict[str, State] = OrderedDict()

    async def thread(self, thread_id: str) -> Thread:
        """Return the current state of a thread. Raises `NotFoundError`."""
        return await self.query(lambda tx: process.get_thread(tx, space=self.space, thread_id=thread_id))

    async def state(self, thread_id: str) -> State:
        """Return the current state, from the cache if the id of the state is still the same."""
        cached = self._cache.pop(thread_id, None)

        def body(tx: Tx) -> State:
            thread = process.get_thread(tx, space=self.space, thread_id=thread_id)
            if cached is not None:
                infos = states.infos(tx, thread=thread, first=thread.state_number, limit=1)
                if infos and infos[0].id == cached.info.id:
                    return cached
            return time_travel.state_at(tx, thread, thread.state_number)

        state = await self.query(body)
        self._cache[thread_id] = state
        if len(self._cache) > _MAX_CACHED:
            self._cache.popitem(last=False)
        return state

    def drop_state(self, thread_id: str) -> None:
        """Forget the cached state of a thread."""
        self._cache.pop(thread_id, None)

    async def advance(self, thread_id: str, sent: QueuedEvent | None = None) -> DispatchResult:
        """Process the queue if the thread is in auto mode."""
        thread = await self.thread(thread_id)
        return await self.drain(thread_id, sent) if thread.mode is Mode.AUTO else DispatchResult(thread=thread)

    async def drain(self, thread_id: str, sent: QueuedEvent | None = None) -> DispatchResult:
        """Process the queue. An event that fails is set aside, and the next ones are processed.

        Raises `EventFailed` at the end if the event `sent` has failed.
        """
        done: list[Processed] = []
        failed: EventFailed | None = None
        while True:
            try:
                result = await self.process_one(thread_id, None)
            except EventFailed as failure:
                if sent is not None and failure.event.id == sent.id:
                    failed = failure
                continue
            if result is None:
                break
            done.append(result)
            done += await self._keep_short(thread_id, result.thread)
            if result.terminates:
                break
        if failed is not None:
            raise failed
        return DispatchResult(thread=await self.thread(thread_id), processed=tuple(done))

    async def _keep_short(self, thread_id: str, thread: Thread) -> tuple[Processed, ...]:
        """After an event in auto mode, truncate if that is due, then compact if that is still due."""
        done: tuple[Processed, ...] = ()
        if thread.pending_truncation or thread.pending_compaction:
            try:
                step_id = await self.take_lock(thread_id)
            except ConflictError:
                return done  # the step that has the lock sees the same flags
            try:
                if thread.pending_truncation:
                    done += (await self.truncate(thread_id, step_id)).processed
                if (await self.thread(thread_id)).pending_compaction:
                    done += (await self.compact(thread_id, step_id)).processed
            finally:
                await self.release(thread_id, step_id)
        return done

    async def truncate(self, thread_id: str, step_id: str) -> DispatchResult:
        """Remove the oldest chunks until the thread is short enough."""
        event = Event(type=EventType.MEMORY_TRUNCATE, payload={"hard": self.engine.thresholds.hard})
        return await self._apply_now(thread_id, step_id, event)

    async def compact(
        self,
        thread_id: str,
        step_id: str,
        chunks: list[Chunk] | None = None,
        kind: EventType = EventType.MEMORY_COMPACT_AUTO,
    ) -> DispatchResult:
        """Compact these chunks, or all that may be compacted. If there are none, clear the flag."""
        await self._finish_interrupted(thread_id, step_id)
        state = await self.state(thread_id)
        chosen = ladder.to_compact(state.chunks, self.engine.retain_recent) if chunks is None else chunks
        if not chosen:
            await self.cancel_compaction(thread_id)
            return DispatchResult(thread=await self.thread(thread_id))
        self.observers.notify(Occasion.COMPACTION_START, thread_id, chunks=chosen)
        summary = await self.compactor.compact(ladder.request_for(thread_id, state.chunks, chosen))
        payload = {"summary": summary, "chunks": [chunk.id for chunk in chosen]}
        result = await self._apply_now(thread_id, step_id, Event(type=kind, payload=payload))
        self.observers.notify(Occasion.COMPACTION_END, thread_id, summary=summary)
        return result

    async def cancel_compaction(self, thread_id: str) -> bool:
        """Clear the flag of a due compaction, and return whether it was set."""

        def body(tx: Tx) -> bool:
            thread = process.get_thread(tx, space=self.space, thread_id=thread_id, lock=True)
            threads.set_pending(
                tx, space=self.space, thread_id=thread_id, compaction=False, truncation=thread.pending_truncation
            )
            return thread.pending_compaction

        return await self.write(body)

    async def _finish_interrupted(self, thread_id: str, step_id: str) -> None:
        """Apply events that an earlier step stored but did not apply because it died."""
        while (first := await self.peek(thread_id)) is not None and first.event.type in process.INTERNAL_EVENTS:
            try:
                await self.process_one(thread_id, step_id)
            except EventFailed:
                continue  # it belongs to an earlier step, and is set aside now

    async def maintain(self, thread_id: str, event: Event) -> DispatchResult:
        """Apply an internal event under the lock, then process events that were dispatched in the meantime."""
        step_id = await self.take_lock(thread_id)
        with after_first_commit():
            try:
                result = await self._apply_now(thread_id, step_id, event)
            finally:
                await self.release(thread_id, step_id)
            await self.advance(thread_id)
        return result

    async def _apply_now(self, thread_id: str, step_id: str, event: Event) -> DispatchResult:
        """Store an internal event at the head of the queue, then process it. A crash in between loses nothing."""
        await self.queue(thread_id, event, urgent=True)
        done = await self.process_one(thread_id, step_id)
        assert done is not None  # noqa: S101 - the event is first in the queue, and we have the lock
        return DispatchResult(thread=done.thread, processed=(done,))

    async def queue(self, thread_id: str, event: Event, *, urgent: bool = False) -> list[QueuedEvent]:
        """Queue an event with its texts redacted. An urgent event goes before all others."""
        size = len(repr(event.payload))
        redacted = await self._database.lanes.run(self.space, size, lambda: process.redact_event(event, self._redactor))

        def body(tx: Tx) -> list[QueuedEvent]:
            return process.push(tx, space=self.space, thread_id=thread_id, events=[redacted], urgent=urgent)

        return await self.write(body)

    async def peek(self, thread_id: str) -> QueuedEvent | None:
        """Return the first event of the queue without removing it."""
        waiting = await self.query(lambda tx: threads.queue(tx, space=self.space, thread_id=thread_id, limit=1))
        return waiting[0] if waiting else None

    async def process_one(self, thread_id: str, step_id: str | None) -> Processed | None:
        """Process the first event. If that fails, set it aside and raise `EventFailed`."""
        attempt = Attempt()
        try:
            done = await self.write(
                lambda tx: process.process_next(
                    tx, space=self.space, thread_id=thread_id, engine=self.engine, attempt=attempt, step_id=step_id
                )
            )
        except (DatabaseError, ConfigurationError):
            raise  # not caused by the event, which stays in the queue
        except Exception as error:
            if attempt.event is None:
                raise
            raise await self._set_aside(thread_id, attempt.event, error) from error
        if done is not None:
            self.observers.notify(Occasion.EVENT_DEQUEUED, thread_id, event=done.event)
            self.observers.notify(Occasion.REDUCER_EXECUTE, thread_id, operations=done.operations)
            if done.operations:
                self.observers.notify(Occasion.STATE_CHANGE, thread_id, number=done.thread.state_number)
        return done

    async def _set_aside(self, thread_id: str, event: QueuedEvent, error: Exception) -> EventFailed:
        # Foreign errors may quote a message, so only their type is stored. Bethink's errors never do.
        reason = (
            str(error)
            if isinstance(error, (ConflictError, InvalidRequestError, NotFoundError))
            else type(error).__name__
        )
        await self.write(
            lambda tx: threads.mark_failed(
                tx, space=self.space, thread_id=thread_id, number=event.number, reason=reason
            ),
            repeatable=True,
        )
        _log.error("Event %s of thread %s was set aside: %s", event.id, thread_id, type(error).__name__)
        self.observers.notify(Occasion.ERROR, thread_id, event=event, reason=reason)
        return EventFailed(thread_id, event, reason)

    async def take_lock(self, thread_id: str) -> str:
        """Take the step lock and return its id. Raises `ConflictError` while another step has it."""
        step_id = new_id("step")

        def body(tx: Tx) -> None:
            process.get_thread(tx, space=self.space, thread_id=thread_id)
            token = threads.take_step(tx, space=self.space, thread_id=thread_id, step_id=step_id, lease=self._lease)
            if token is None:
                raise ConflictError(
                    f"Another step has the lock of thread {thread_id}.", hint="Wait for that step to end."
                )

        await self.write(body)
        return step_id

    async def release(self, thread_id: str, step_id: str) -> None:
        """Release the step lock, if we still have it."""
        await self.write(
            lambda tx: threads.drop_step(tx, space=self.space, thread_id=thread_id, step_id=step_id), repeatable=True
        )

    async def query(self, body: Callable[[Tx], T]) -> T:
        """Run `body` in one read transaction of the space."""
        return await self._database.transact(body, space=self.space, read_only=True)

    async def write(self, body: Callable[[Tx], T], *, repeatable: bool = False) -> T:
        """Run `body` in one write transaction of the space."""
        return await self._database.transact(body, space=self.space, repeatable=repeatable)
