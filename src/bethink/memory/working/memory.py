"""The working memory of a space: threads process events one at a time, automatically or step by step."""

from collections.abc import Callable
from datetime import timedelta

from bethink.errors import ConflictError
from bethink.extend import Redactor
from bethink.memory.working import ladder, process, time_travel
from bethink.memory.working.ladder import Compactor, ExtractiveCompactor, Thresholds
from bethink.memory.working.observers import Observers, Occasion, Watch
from bethink.memory.working.process import Engine
from bethink.memory.working.prompt import build as build_prompt
from bethink.memory.working.runner import LEASE, EventFailed, Runner
from bethink.model.ids import new_id
from bethink.model.prompts import Prompt
from bethink.model.thread_results import DispatchResult, StateDiff, StepResult, TokenUsage
from bethink.model.working import (
    Chunk,
    Event,
    EventType,
    FailedEvent,
    Mode,
    QueuedEvent,
    State,
    StateInfo,
    Thread,
)
from bethink.providers.no_redaction import NoRedaction
from bethink.store import holds, states, threads
from bethink.store.db import Database, Tx, after_first_commit


class WorkingMemory:
    """Working memory of one space. Every event is queued first, and leaves the queue together with its effect."""

    def __init__(
        self,
        database: Database,
        *,
        space: str,
        engine: Engine | None = None,
        compactor: Compactor | None = None,
        redactor: Redactor | None = None,
        default_mode: Mode = Mode.AUTO,
        lease: timedelta = LEASE,
    ) -> None:
        self.space = space
        self.engine = engine or Engine()
        self.observers = Observers()
        self._default_mode = default_mode
        self._runner = Runner(
            database,
            space=space,
            engine=self.engine,
            observers=self.observers,
            compactor=compactor or ExtractiveCompactor(),
            redactor=redactor or NoRedaction(),
            lease=lease,
        )

    @property
    def thresholds(self) -> Thresholds:
        """The lengths at which a thread is compacted or truncated."""
        return self.engine.thresholds

    def register_compactor(self, compactor: Compactor) -> None:
        """Use another compactor for the summaries."""
        self._runner.compactor = compactor

    def watch(self, watch: Watch) -> Callable[[], None]:
        """Call `watch` for everything that happens to threads. Call the returned function to stop."""
        return self.observers.add(watch)

    async def open_thread(
        self, thread_id: str | None = None, *, session_id: str | None = None, mode: Mode | None = None
    ) -> Thread:
        """Return a thread, creating it if no thread has this id."""
        name = thread_id or new_id("thread")
        return await self._runner.write(
            lambda tx: process.open_thread(
                tx, space=self.space, thread_id=name, session_id=session_id, mode=mode or self._default_mode
            ),
            repeatable=True,
        )

    async def get_thread(self, thread_id: str) -> Thread:
        """Return the current state of a thread. Raises `NotFoundError`."""
        return await self._runner.thread(thread_id)

    async def threads(self, *, limit: int = 100, after: str = "") -> list[Thread]:
        """Return the threads of the space, ordered by id, from the first one after `after`."""
        return await self._runner.query(lambda tx: threads.list_threads(tx, space=self.space, limit=limit, after=after))

    async def delete_thread(self, thread_id: str) -> None:
        """Delete a thread with its events and states. Raises `LegalHoldError` if the space is under a legal hold."""

        def body(tx: Tx) -> None:
            holds.check_not_on_hold(tx, space=self.space)
            threads.remove(tx, space=self.space, thread_id=thread_id)

        await self._runner.write(body, repeatable=True)
        self._runner.drop_state(thread_id)

    async def push_event(self, thread_id: str, event: Event) -> QueuedEvent:
        """Queue an event without processing it. Its texts are redacted first."""
        [queued] = await self._runner.queue(thread_id, event)
        self.observers.notify(Occasion.EVENT_QUEUED, thread_id, event=queued)
        return queued

    async def pop_event(self, thread_id: str) -> QueuedEvent | None:
        """Remove the first event from the queue without processing it, and return it."""

        def body(tx: Tx) -> QueuedEvent | None:
            process.get_thread(tx, space=self.space, thread_id=thread_id, lock=True)
            waiting = threads.queue(tx, space=self.space, thread_id=thread_id, limit=1)
            for event in waiting:
                threads.drop_event(tx, space=self.space, thread_id=thread_id, number=event.number)
            return waiting[0] if waiting else None

        return await self._runner.write(body)

    async def peek_event(self, thread_id: str) -> QueuedEvent | None:
        """Return the first event of the queue without removing it."""
        return await self._runner.peek(thread_id)

    async def queue(self, thread_id: str) -> list[QueuedEvent]:
        """Return the queued events in the order in which they will be processed."""
        return await self._runner.query(lambda tx: threads.queue(tx, space=self.space, thread_id=thread_id))

    async def queue_length(self, thread_id: str) -> int:
        """Return the number of queued events."""
        return await self._runner.query(lambda tx: threads.queue_length(tx, space=self.space, thread_id=thread_id))

    async def clear_queue(self, thread_id: str) -> int:
        """Remove every event from the queue, and return how many there were."""
        return await self._runner.write(lambda tx: threads.clear_queue(tx, space=self.space, thread_id=thread_id))

    async def failed_events(self, thread_id: str) -> list[FailedEvent]:
        """Return the events that could not be processed and were set aside, each with the reason."""
        return await self._runner.query(lambda tx: threads.failed_events(tx, space=self.space, thread_id=thread_id))

    async def get_mode(self, thread_id: str) -> Mode:
        """Return how a thread processes its events."""
        return (await self.get_thread(thread_id)).mode

    async def set_mode(self, thread_id: str, mode: Mode) -> DispatchResult:
        """Change how a thread processes its events. Switching to auto processes the queue at once."""
        await self._runner.write(
            lambda tx: threads.set_mode(tx, space=self.space, thread_id=thread_id, mode=mode), repeatable=True
        )
        with after_first_commit():
            if mode is Mode.AUTO:
                return await self._runner.drain(thread_id)
            return DispatchResult(thread=await self.get_thread(thread_id))

    async def acquire_step_lock(self, thread_id: str) -> str:
        """Take the step lock and return its id. Raises `ConflictError` while another step has it."""
        return await self._runner.take_lock(thread_id)

    async def release_step_lock(self, thread_id: str, step_id: str) -> None:
        """Release the step lock. Raises `ConflictError` if another step has it."""

        def body(tx: Tx) -> None:
            if not threads.drop_step(tx, space=self.space, thread_id=thread_id, step_id=step_id):
                raise ConflictError(
                    f"Step {step_id} does not have the lock of thread {thread_id}.",
                    hint="Its lease expired, or the lock was already released.",
                )

        await self._runner.write(body)

    async def is_step_locked(self, thread_id: str) -> bool:
        """Return whether a step has the lock of the thread."""
        return await self.current_step_id(thread_id) is not None

    async def current_step_id(self, thread_id: str) -> str | None:
        """Return the id of the step that has the lock, or None if no step has it or its lease expired."""

        def body(tx: Tx) -> str | None:
            thread = process.get_thread(tx, space=self.space, thread_id=thread_id)
            return thread.step_id if thread.step_until is not None and thread.step_until >= tx.now else None

        return await self._runner.query(body)

    async def dispatch(self, thread_id: str, event: Event) -> DispatchResult:
        """Queue an event. In auto mode, process it at once, and compact or truncate the thread if necessary.

        Raises `InvalidRequestError` if the event fails: it is set aside, and the thread continues without it.
        """
        queued = await self.push_event(thread_id, event)
        self.observers.notify(Occasion.EVENT_DISPATCH, thread_id, event=event)
        with after_first_commit():
            result = await self._runner.advance(thread_id, queued)
            if result.thread.mode is Mode.AUTO and all(
                processed.event.id != queued.id for processed in result.processed
            ):
                # Another task has taken the event, or it is still queued. If it failed there, raise here.
                failure = await self._runner.query(
                    lambda tx: threads.failure_of(tx, space=self.space, thread_id=thread_id, number=queued.number)
                )
                if failure is not None:
                    raise EventFailed(thread_id, queued, failure)
        return result

    async def step(self, thread_id: str) -> StepResult:
        """Process one event; with an empty queue, truncate or else compact the thread if that is due.

        Raises `ConflictError` in auto mode and while another step has the lock, `InvalidRequestError` if it fails.
        """
        if (await self._runner.thread(thread_id)).mode is Mode.AUTO:
            raise ConflictError(
                f"Thread {thread_id} is in auto mode and cannot be stepped.", hint="Set its mode to 'stepping' first."
            )
        step_id = await self._runner.take_lock(thread_id)
        with after_first_commit():
            try:
                done = await self._runner.process_one(thread_id, step_id)
                if done is not None:
                    return await self._step_result(
                        thread_id, DispatchResult(thread=done.thread, processed=(done,)), "event"
                    )
                thread = await self._runner.thread(thread_id)
                if thread.pending_truncation:
                    return await self._step_result(
                        thread_id, await self._runner.truncate(thread_id, step_id), "truncation"
                    )
                if thread.pending_compaction:
                    return await self._step_result(
                        thread_id, await self._runner.compact(thread_id, step_id), "compaction"
                    )
                return await self._step_result(thread_id, None, "")
            finally:
                await self._runner.release(thread_id, step_id)

    async def trigger_compaction(self, thread_id: str, chunks: list[Chunk] | None = None) -> DispatchResult:
        """Compact these chunks now, or all compressible ones except the newest."""
        step_id = await self._runner.take_lock(thread_id)
        with after_first_commit():
            try:
                result = await self._runner.compact(thread_id, step_id, chunks, kind=EventType.MEMORY_COMPACT_MANUAL)
            finally:
                await self._runner.release(thread_id, step_id)
            await self._runner.advance(thread_id)  # events that were dispatched in the meantime
        return result

    async def execute_truncation(self, thread_id: str, chunk_ids: list[str]) -> DispatchResult:
        """Remove these chunks. Chunks that are already removed are ignored."""
        event = Event(type=EventType.MEMORY_TRUNCATE, payload={"chunks": chunk_ids})
        return await self._runner.maintain(thread_id, event)

    async def emergency(self, thread_id: str) -> DispatchResult:
        """Keep only the newest chunks of the working flow, without a model, and continue in a new session."""
        payload = {"retain": self.engine.emergency_retain}
        return await self._runner.maintain(thread_id, Event(type=EventType.MEMORY_EMERGENCY, payload=payload))

    async def advance(self, thread_id: str) -> DispatchResult:
        """Process the queue if the thread is in auto mode; otherwise do nothing. Events that fail are set aside."""
        return await self._runner.advance(thread_id)

    async def consume_pending_compaction(self, thread_id: str) -> list[Chunk]:
        """Take over a compaction that is due: return its chunks, and clear the flag."""
        state = await self._runner.state(thread_id)
        due = await self._runner.cancel_compaction(thread_id)
        return ladder.to_compact(state.chunks, self.engine.retain_recent) if due else []

    async def prompt(self, thread_id: str, *, budget: int) -> Prompt:
        """Return the current state as messages within a token budget, with a report on every chunk."""
        state = await self.current_state(thread_id)
        return build_prompt(state.chunks, budget=budget, tokens=self.engine.tokens)

    async def has_pending_compaction(self, thread_id: str) -> bool:
        """Return whether a compaction is due."""
        return (await self.get_thread(thread_id)).pending_compaction

    async def has_pending_truncation(self, thread_id: str) -> bool:
        """Return whether a truncation is due."""
        return (await self.get_thread(thread_id)).pending_truncation

    async def check_token_usage(self, thread_id: str) -> TokenUsage:
        """Compare the length of a thread with the thresholds."""
        state = await self.current_state(thread_id)
        return ladder.usage(await self.get_thread(thread_id), state, self.thresholds)

    async def current_state(self, thread_id: str) -> State:
        """Return the current state with its chunks, from the cache if nothing has changed since."""
        return await self._runner.state(thread_id)

    def clear_state_cache(self, thread_id: str) -> None:
        """Forget the cached state; the next read comes from the database."""
        self._runner.drop_state(thread_id)

    async def history(self, thread_id: str, *, first: int = 0, limit: int | None = None) -> list[StateInfo]:
        """Return the states that a thread has had from a number on, without the chunks."""
        limits = {} if limit is None else {"limit": limit}
        return await self._runner.query(
            lambda tx: states.infos(
                tx, thread=process.get_thread(tx, space=self.space, thread_id=thread_id), first=first, **limits
            )
        )

    async def state_at(self, thread_id: str, number: int) -> State:
        """Return one state of a thread with its chunks."""
        return await self._runner.query(
            lambda tx: time_travel.state_at(tx, process.get_thread(tx, space=self.space, thread_id=thread_id), number)
        )

    async def diff(self, thread_id: str, before: int, after: int) -> StateDiff:
        """Compare two states of a thread."""
        return time_travel.diff(await self.state_at(thread_id, before), await self.state_at(thread_id, after))

    async def fork(self, thread_id: str, *, at: int, into: str | None = None, mode: Mode | None = None) -> Thread:
        """Open a new thread that begins with the state `at` of this one.

        It is deleted together with the conversation of this thread.
        """
        return await self._runner.write(
            lambda tx: time_travel.fork(
                tx,
                space=self.space,
                source_id=thread_id,
                at=at,
                thread_id=into,
                mode=mode or self._default_mode,
            )
        )

    async def replay(self, thread_id: str) -> tuple[Chunk, ...]:
        """Rebuild the current state from the events alone, without a model, and return its chunks."""
        return await self._runner.write(
            lambda tx: time_travel.replay(
                tx, process.get_thread(tx, space=self.space, thread_id=thread_id, lock=True), self.engine
            ),
            repeatable=True,
        )

    async def _step_result(self, thread_id: str, result: DispatchResult | None, action: str) -> StepResult:
        thread = await self.get_thread(thread_id)
        waiting = await self.queue_length(thread_id)
        return StepResult(
            dispatch_result=result,
            event_processed=action == "event",
            compaction_performed=action == "compaction",
            truncation_performed=action == "truncation",
            has_pending_operations=bool(waiting) or thread.pending_compaction or thread.pending_truncation,
            queued_event_count=waiting,
        )
