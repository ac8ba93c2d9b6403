"""The working memory of a space: threads take events, one at a time, by themselves or step by step."""

from collections.abc import Callable
from datetime import timedelta

from bethink.errors import Conflict
from bethink.extend import Redactor
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
from bethink.store import states, threads
from bethink.store.db import Database, Tx, under_way
from bethink.working import ladder, process, time_travel
from bethink.working.ladder import Compactor, ExtractiveCompactor, Thresholds
from bethink.working.observers import Observers, Occasion, Watch
from bethink.working.process import Engine
from bethink.working.prompt import build as build_prompt
from bethink.working.runner import LEASE, EventFailed, Runner


class WorkingMemory:
    """Working memory of one space. Events are always queued first and leave the queue with their effect."""

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
        """The ladder of lengths."""
        return self.engine.thresholds

    def register_compactor(self, compactor: Compactor) -> None:
        """Let another compactor write the summaries."""
        self._runner.compactor = compactor

    def watch(self, watch: Watch) -> Callable[[], None]:
        """Tell somebody what happens to threads; call what is returned to stop."""
        return self.observers.add(watch)

    async def open_thread(
        self, thread_id: str | None = None, *, session_id: str | None = None, mode: Mode | None = None
    ) -> Thread:
        """Return a thread, making it if there is none by this id."""
        name = thread_id or new_id("thread")
        return await self._runner.write(
            lambda tx: process.open_thread(
                tx, space=self.space, thread_id=name, session_id=session_id, mode=mode or self._default_mode
            ),
            repeatable=True,
        )

    async def get_thread(self, thread_id: str) -> Thread:
        """Read a thread as it stands now."""
        return await self._runner.thread(thread_id)

    async def threads(self, *, limit: int = 100, after: str = "") -> list[Thread]:
        """Return the threads of the space by their ids, from after one on."""
        return await self._runner.read(lambda tx: threads.listed(tx, space=self.space, limit=limit, after=after))

    async def delete_thread(self, thread_id: str) -> None:
        """Remove a thread and all it holds."""
        self._runner.drop_state(thread_id)
        await self._runner.write(lambda tx: threads.remove(tx, space=self.space, thread_id=thread_id), repeatable=True)

    async def push_event(self, thread_id: str, event: Event) -> QueuedEvent:
        """Queue an event and leave it there; its texts are redacted first."""
        [queued] = await self._runner.queue(thread_id, event)
        self.observers.tell(Occasion.EVENT_QUEUED, thread_id, event=queued)
        return queued

    async def pop_event(self, thread_id: str) -> QueuedEvent | None:
        """Take the first event out of the queue without processing it."""

        def body(tx: Tx) -> QueuedEvent | None:
            process.get_thread(tx, space=self.space, thread_id=thread_id, lock=True)
            waiting = threads.queue(tx, space=self.space, thread_id=thread_id, limit=1)
            for event in waiting:
                threads.drop_event(tx, space=self.space, thread_id=thread_id, number=event.number)
            return waiting[0] if waiting else None

        return await self._runner.write(body)

    async def peek_event(self, thread_id: str) -> QueuedEvent | None:
        """Look at the first event of the queue."""
        return await self._runner.peek(thread_id)

    async def queue(self, thread_id: str) -> list[QueuedEvent]:
        """Return the events that wait, in the order in which they will be processed."""
        return await self._runner.read(lambda tx: threads.queue(tx, space=self.space, thread_id=thread_id))

    async def queue_length(self, thread_id: str) -> int:
        """Count the events that wait."""
        return await self._runner.read(lambda tx: threads.queue_length(tx, space=self.space, thread_id=thread_id))

    async def clear_queue(self, thread_id: str) -> int:
        """Take every event out of the queue and return how many there were."""
        return await self._runner.write(lambda tx: threads.clear_queue(tx, space=self.space, thread_id=thread_id))

    async def failed_events(self, thread_id: str) -> list[FailedEvent]:
        """Return the events that could not be processed and were set aside, each with the reason."""
        return await self._runner.read(lambda tx: threads.failed(tx, space=self.space, thread_id=thread_id))

    async def get_mode(self, thread_id: str) -> Mode:
        """Say how a thread takes its events."""
        return (await self.get_thread(thread_id)).mode

    async def set_mode(self, thread_id: str, mode: Mode) -> DispatchResult:
        """Change how a thread takes its events; back to auto processes what has been waiting."""
        await self._runner.write(
            lambda tx: threads.set_mode(tx, space=self.space, thread_id=thread_id, mode=mode), repeatable=True
        )
        with under_way():
            if mode is Mode.AUTO:
                return await self._runner.drain(thread_id)
            return DispatchResult(thread=await self.get_thread(thread_id))

    async def acquire_step_lock(self, thread_id: str) -> str:
        """Take the step lock and return its id. Raises `Conflict` while another holds it."""
        return await self._runner.take_lock(thread_id)

    async def release_step_lock(self, thread_id: str, step_id: str) -> None:
        """Give the step lock back. Raises `Conflict` if it is not held by this id."""

        def body(tx: Tx) -> None:
            if not threads.drop_step(tx, space=self.space, thread_id=thread_id, step_id=step_id):
                raise Conflict(f"step {step_id} does not hold thread {thread_id}.", hint="Another has taken it over.")

        await self._runner.write(body)

    async def is_step_locked(self, thread_id: str) -> bool:
        """Say whether a step holds the thread."""
        return await self.current_step_id(thread_id) is not None

    async def current_step_id(self, thread_id: str) -> str | None:
        """Return the id of the step that holds the thread, while its lease lasts."""

        def body(tx: Tx) -> str | None:
            thread = process.get_thread(tx, space=self.space, thread_id=thread_id)
            return thread.step_id if thread.step_until is not None and thread.step_until >= tx.now else None

        return await self._runner.read(body)

    async def dispatch(self, thread_id: str, event: Event) -> DispatchResult:
        """Queue an event; in auto mode process it, and what its length makes necessary, at once.

        Raises `Invalid` if it cannot be processed: it is set aside, and the thread goes on without it.
        """
        queued = await self.push_event(thread_id, event)
        self.observers.tell(Occasion.EVENT_DISPATCH, thread_id, event=event)
        with under_way():
            result = await self._runner.advance(thread_id, queued)
            if result.thread.mode is Mode.AUTO and all(each.event.id != queued.id for each in result.processed):
                # Another task has taken it, or it still waits: whoever sent it is told if it failed there.
                failure = await self._runner.read(
                    lambda tx: threads.failure_of(tx, space=self.space, thread_id=thread_id, number=queued.number)
                )
                if failure is not None:
                    raise EventFailed(thread_id, queued, failure)
        return result

    async def step(self, thread_id: str) -> StepResult:
        """Process one event; with none waiting, truncate if that is due; else compact if that is due.

        Raises `Conflict` in auto mode and while another step holds the thread, `Invalid` for an event it sets aside.
        """
        if (await self._runner.thread(thread_id)).mode is Mode.AUTO:
            raise Conflict(f"cannot step thread {thread_id} in auto mode.", hint="Set its mode to stepping first.")
        step_id = await self._runner.take_lock(thread_id)
        with under_way():
            try:
                done = await self._runner.process_one(thread_id, step_id)
                if done is not None:
                    return await self._stepped(
                        thread_id, DispatchResult(thread=done.thread, processed=(done,)), "event"
                    )
                thread = await self._runner.thread(thread_id)
                if thread.pending_truncation:
                    return await self._stepped(thread_id, await self._runner.truncate(thread_id, step_id), "truncation")
                if thread.pending_compaction:
                    return await self._stepped(thread_id, await self._runner.compact(thread_id, step_id), "compaction")
                return await self._stepped(thread_id, None, "")
            finally:
                await self._runner.release(thread_id, step_id)

    async def trigger_compaction(self, thread_id: str, chunks: list[Chunk] | None = None) -> DispatchResult:
        """Compact now: these chunks, or all that may be but for the newest."""
        step_id = await self._runner.take_lock(thread_id)
        with under_way():
            try:
                result = await self._runner.compact(thread_id, step_id, chunks, kind=EventType.MEMORY_COMPACT_MANUAL)
            finally:
                await self._runner.release(thread_id, step_id)
            await self._runner.advance(thread_id)  # what was dispatched meanwhile
        return result

    async def execute_truncation(self, thread_id: str, chunk_ids: list[str]) -> DispatchResult:
        """Take these chunks away; those that are gone already are passed over."""
        event = Event(type=EventType.MEMORY_TRUNCATE, payload={"chunks": chunk_ids})
        return await self._runner.maintain(thread_id, event)

    async def emergency(self, thread_id: str) -> DispatchResult:
        """Keep only the newest of the working flow, without asking any model, and go on in a new session."""
        payload = {"retain": self.engine.emergency_retain}
        return await self._runner.maintain(thread_id, Event(type=EventType.MEMORY_EMERGENCY, payload=payload))

    async def advance(self, thread_id: str) -> DispatchResult:
        """Process what is waiting if the thread is in auto mode; else leave it to `step`. It sets aside what fails."""
        return await self._runner.advance(thread_id)

    async def consume_pending_compaction(self, thread_id: str) -> list[Chunk]:
        """Take over a compaction that is due: return its chunks, and let it be due no longer."""
        state = await self._runner.state(thread_id)
        due = await self._runner.call_off_compaction(thread_id)
        return ladder.to_compact(state.chunks, self.engine.retain_recent) if due else []

    async def prompt(self, thread_id: str, *, budget: int) -> Prompt:
        """Return the current state as messages within a token budget, with a report on every chunk."""
        state = await self.current_state(thread_id)
        return build_prompt(state.chunks, budget=budget, tokens=self.engine.tokens)

    async def has_pending_compaction(self, thread_id: str) -> bool:
        """Say whether a compaction is due."""
        return (await self.get_thread(thread_id)).pending_compaction

    async def has_pending_truncation(self, thread_id: str) -> bool:
        """Say whether a truncation is due."""
        return (await self.get_thread(thread_id)).pending_truncation

    async def check_token_usage(self, thread_id: str) -> TokenUsage:
        """Measure a thread against the ladder."""
        state = await self.current_state(thread_id)
        return ladder.usage(await self.get_thread(thread_id), state, self.thresholds)

    async def current_state(self, thread_id: str) -> State:
        """Return the current state with its chunks, from the cache if nothing has changed since."""
        return await self._runner.state(thread_id)

    def clear_state_cache(self, thread_id: str) -> None:
        """Forget the cached state; the next read comes from the database."""
        self._runner.drop_state(thread_id)

    async def history(self, thread_id: str) -> list[StateInfo]:
        """Return every state a thread has had, without the chunks."""
        return await self._runner.read(
            lambda tx: states.infos(tx, thread=process.get_thread(tx, space=self.space, thread_id=thread_id))
        )

    async def state_at(self, thread_id: str, number: int) -> State:
        """Return one state of a thread with its chunks."""
        return await self._runner.read(
            lambda tx: time_travel.state_at(tx, process.get_thread(tx, space=self.space, thread_id=thread_id), number)
        )

    async def diff(self, thread_id: str, before: int, after: int) -> StateDiff:
        """Compare two states of a thread."""
        return time_travel.diff(await self.state_at(thread_id, before), await self.state_at(thread_id, after))

    async def fork(self, thread_id: str, *, at: int, into: str | None = None, mode: Mode | None = None) -> Thread:
        """Open a new thread that begins where this one was at a state.

        It is forgotten with the conversation this one works on.
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
        """Make the current state again from the events alone, with no model."""
        return await self._runner.write(
            lambda tx: time_travel.replay(
                tx, process.get_thread(tx, space=self.space, thread_id=thread_id, lock=True), self.engine
            ),
            repeatable=True,
        )

    async def _stepped(self, thread_id: str, result: DispatchResult | None, what: str) -> StepResult:
        thread = await self.get_thread(thread_id)
        waiting = await self.queue_length(thread_id)
        return StepResult(
            dispatch_result=result,
            event_processed=what == "event",
            compaction_performed=what == "compaction",
            truncation_performed=what == "truncation",
            has_pending_operations=bool(waiting) or thread.pending_compaction or thread.pending_truncation,
            queued_event_count=waiting,
        )
