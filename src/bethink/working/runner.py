"""How a thread's events are worked in: one at a time under its lock, and kept short on the way."""

from collections import OrderedDict
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from bethink.errors import Conflict, Invalid, Misconfigured, NotFound, StoreError
from bethink.extend import Redactor
from bethink.logs import logger
from bethink.model.ids import new_id
from bethink.model.thread_results import DispatchResult, Processed
from bethink.model.working import Chunk, Event, EventType, Mode, QueuedEvent, State, Thread
from bethink.store import states, threads
from bethink.store.db import Database, Tx, under_way
from bethink.working import ladder, process, time_travel
from bethink.working.ladder import Compactor
from bethink.working.observers import Observers, Occasion
from bethink.working.process import Attempt, Engine

T = TypeVar("T")

LEASE = timedelta(minutes=5)
"""Microseconds a step may hold a thread before another may take it over."""

_CACHED = 32
"""How many states a desk keeps at hand."""

_log = logger("working")


class EventFailed(Invalid):
    """The `Invalid` of an event that was set aside: told apart, so that the events behind it go on."""

    def __init__(self, thread_id: str, event: QueuedEvent, reason: str) -> None:
        self.event = event
        super().__init__(
            f"the event {event.id} ({event.event.type}) of thread {thread_id} could not be processed "
            f"and was set aside: {reason}",
            hint="failed_events has it; dispatch it again once it is as its reducer expects it.",
        )


class Runner:
    """The work on one thread that a desk's verbs have in common."""

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
        """Read a thread as it stands now."""
        return await self.read(lambda tx: process.get_thread(tx, space=self.space, thread_id=thread_id))

    async def state(self, thread_id: str) -> State:
        """Return the current state, from the cache if it is that very state and not one of the same number."""
        cached = self._cache.pop(thread_id, None)

        def body(tx: Tx) -> State:
            thread = process.get_thread(tx, space=self.space, thread_id=thread_id)
            if cached is not None:
                found = states.infos(tx, thread=thread, first=thread.state_number, limit=1)
                if found and found[0].id == cached.info.id:
                    return cached
            return time_travel.state_at(tx, thread, thread.state_number)

        state = await self.read(body)
        self._cache[thread_id] = state
        if len(self._cache) > _CACHED:
            self._cache.popitem(last=False)
        return state

    def drop_state(self, thread_id: str) -> None:
        """Forget the cached state of a thread."""
        self._cache.pop(thread_id, None)

    async def advance(self, thread_id: str, sent: QueuedEvent | None = None) -> DispatchResult:
        """Process what waits if the thread is in auto mode."""
        thread = await self.thread(thread_id)
        return await self.drain(thread_id, sent) if thread.mode is Mode.AUTO else DispatchResult(thread=thread)

    async def drain(self, thread_id: str, sent: QueuedEvent | None = None) -> DispatchResult:
        """Process what waits. An event that fails is set aside, and those behind it go on.

        Raises `EventFailed` in the end if that which was just sent has failed.
        """
        done: list[Processed] = []
        own: EventFailed | None = None
        while True:
            try:
                one = await self.process_one(thread_id, None)
            except EventFailed as failure:
                if sent is not None and failure.event.id == sent.id:
                    own = failure
                continue
            if one is None:
                break
            done.append(one)
            done += await self._keep_short(thread_id, one.thread)
            if one.terminates:
                break
        if own is not None:
            raise own
        return DispatchResult(thread=await self.thread(thread_id), processed=tuple(done))

    async def _keep_short(self, thread_id: str, thread: Thread) -> tuple[Processed, ...]:
        """After an event in auto mode: truncate if that is due, then compact if that is still due."""
        done: tuple[Processed, ...] = ()
        if thread.pending_truncation or thread.pending_compaction:
            try:
                step_id = await self.take_lock(thread_id)
            except Conflict:
                return done  # whoever holds the thread sees the same flags
            try:
                if thread.pending_truncation:
                    done += (await self.truncate(thread_id, step_id)).processed
                if (await self.thread(thread_id)).pending_compaction:
                    done += (await self.compact(thread_id, step_id)).processed
            finally:
                await self.release(thread_id, step_id)
        return done

    async def truncate(self, thread_id: str, step_id: str) -> DispatchResult:
        """Take the oldest away until the thread is short enough."""
        event = Event(type=EventType.MEMORY_TRUNCATE, payload={"hard": self.engine.thresholds.hard})
        return await self._apply_now(thread_id, step_id, event)

    async def compact(
        self,
        thread_id: str,
        step_id: str,
        chunks: list[Chunk] | None = None,
        kind: EventType = EventType.MEMORY_COMPACT_AUTO,
    ) -> DispatchResult:
        """Have these chunks, or all that may be, summed up; with none, let it be due no longer."""
        await self._finish_interrupted(thread_id, step_id)
        state = await self.state(thread_id)
        chosen = ladder.to_compact(state.chunks, self.engine.retain_recent) if chunks is None else chunks
        if not chosen:
            await self.call_off_compaction(thread_id)
            return DispatchResult(thread=await self.thread(thread_id))
        self.observers.tell(Occasion.COMPACTION_START, thread_id, chunks=chosen)
        summary = await self.compactor.compact(ladder.request_for(thread_id, state.chunks, chosen))
        payload = {"summary": summary, "chunks": [chunk.id for chunk in chosen]}
        result = await self._apply_now(thread_id, step_id, Event(type=kind, payload=payload))
        self.observers.tell(Occasion.COMPACTION_END, thread_id, summary=summary)
        return result

    async def call_off_compaction(self, thread_id: str) -> bool:
        """Let a compaction be due no longer, and nothing else; say whether it was."""

        def body(tx: Tx) -> bool:
            thread = process.get_thread(tx, space=self.space, thread_id=thread_id, lock=True)
            threads.set_pending(
                tx, space=self.space, thread_id=thread_id, compaction=False, truncation=thread.pending_truncation
            )
            return thread.pending_compaction

        return await self.write(body)

    async def _finish_interrupted(self, thread_id: str, step_id: str) -> None:
        """Apply what an earlier step had stored and not applied when it died, before anything is built upon it."""
        while (first := await self.peek(thread_id)) is not None and first.event.type in process.OWN:
            try:
                await self.process_one(thread_id, step_id)
            except EventFailed:
                continue  # it was not ours, and waits no longer

    async def maintain(self, thread_id: str, event: Event) -> DispatchResult:
        """Apply one event of our own under the lock, then what was dispatched meanwhile."""
        step_id = await self.take_lock(thread_id)
        with under_way():
            try:
                result = await self._apply_now(thread_id, step_id, event)
            finally:
                await self.release(thread_id, step_id)
            await self.advance(thread_id)
        return result

    async def _apply_now(self, thread_id: str, step_id: str, event: Event) -> DispatchResult:
        """Store an event of our own before all others, then process it: a crash between the two loses nothing."""
        await self.queue(thread_id, event, urgent=True)
        done = await self.process_one(thread_id, step_id)
        assert done is not None  # noqa: S101 - it was just put first in the queue of a thread we hold
        return DispatchResult(thread=done.thread, processed=(done,))

    async def queue(self, thread_id: str, event: Event, *, urgent: bool = False) -> list[QueuedEvent]:
        """Store an event in a thread's queue, its texts redacted; an urgent one goes before all others."""

        def body(tx: Tx) -> list[QueuedEvent]:
            cut = process.redacted(event, self._redactor)
            return process.push(tx, space=self.space, thread_id=thread_id, events=[cut], urgent=urgent)

        return await self.write(body)

    async def peek(self, thread_id: str) -> QueuedEvent | None:
        """Look at the first event of the queue."""
        waiting = await self.read(lambda tx: threads.queue(tx, space=self.space, thread_id=thread_id, limit=1))
        return waiting[0] if waiting else None

    async def process_one(self, thread_id: str, step_id: str | None) -> Processed | None:
        """Process the first event. Raises `EventFailed` if it cannot be, after it was set aside."""
        attempt = Attempt()
        try:
            done = await self.write(
                lambda tx: process.process_next(
                    tx, space=self.space, thread_id=thread_id, engine=self.engine, attempt=attempt, step_id=step_id
                )
            )
        except (StoreError, Misconfigured):
            raise  # no fault of the event's: it is tried again
        except Exception as error:
            if attempt.event is None:
                raise
            raise await self._set_aside(thread_id, attempt.event, error) from error
        if done is not None:
            self.observers.tell(Occasion.EVENT_DEQUEUED, thread_id, event=done.event)
            self.observers.tell(Occasion.REDUCER_EXECUTE, thread_id, operations=done.operations)
            if done.operations:
                self.observers.tell(Occasion.STATE_CHANGE, thread_id, number=done.thread.state_number)
        return done

    async def _set_aside(self, thread_id: str, event: QueuedEvent, error: Exception) -> EventFailed:
        # What others raise may quote what was said; what we raise never does.
        reason = str(error) if isinstance(error, (Conflict, Invalid, NotFound)) else type(error).__name__
        await self.write(
            lambda tx: threads.mark_failed(
                tx, space=self.space, thread_id=thread_id, number=event.number, reason=reason
            ),
            repeatable=True,
        )
        _log.error("event %s of thread %s was set aside: %s", event.id, thread_id, type(error).__name__)
        self.observers.tell(Occasion.ERROR, thread_id, event=event, reason=reason)
        return EventFailed(thread_id, event, reason)

    async def take_lock(self, thread_id: str) -> str:
        """Take the step lock and return its id. Raises `Conflict` while another holds it."""
        step_id = new_id("step")

        def body(tx: Tx) -> None:
            process.get_thread(tx, space=self.space, thread_id=thread_id)
            token = threads.take_step(tx, space=self.space, thread_id=thread_id, step_id=step_id, lease=self._lease)
            if token is None:
                raise Conflict(f"thread {thread_id} is being stepped.", hint="Wait for that step to end.")

        await self.write(body)
        return step_id

    async def release(self, thread_id: str, step_id: str) -> None:
        """Give the step lock back, if it is still ours."""
        await self.write(
            lambda tx: threads.drop_step(tx, space=self.space, thread_id=thread_id, step_id=step_id), repeatable=True
        )

    async def read(self, body: Callable[[Tx], T]) -> T:
        """Read in one transaction of the space."""
        return await self._database.transact(body, space=self.space, read=True)

    async def write(self, body: Callable[[Tx], T], *, repeatable: bool = False) -> T:
        """Write in one transaction of the space."""
        return await self._database.transact(body, space=self.space, repeatable=repeatable)
