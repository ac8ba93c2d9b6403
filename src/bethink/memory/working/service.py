"""Handles the operations of threads on the working memory of their space."""

from collections.abc import Callable
from typing import Self

from bethink.memory.registry import Host, handles
from bethink.memory.working.memory import WorkingMemory
from bethink.model.operations.threads import (
    DIFF_STATES,
    DISPATCH,
    FAILED_EVENTS,
    FORK,
    GET_THREAD,
    LIST_THREADS,
    OPEN_THREAD,
    PROMPT,
    QUEUE,
    REPLAY,
    SET_MODE,
    STATE,
    STATES,
    STEP,
    TOKEN_USAGE,
    DiffStatesRequest,
    DispatchRequest,
    ForkRequest,
    ListThreadsRequest,
    OpenThreadRequest,
    PromptRequest,
    SetModeRequest,
    StateRequest,
    StatesRequest,
    ThreadRequest,
)
from bethink.model.paging import Page, page_of
from bethink.model.prompts import Prompt
from bethink.model.thread_results import DispatchResult, StateDiff, StepResult, TokenUsage
from bethink.model.working import Chunk, FailedEvent, QueuedEvent, State, StateInfo, Thread


class ThreadService:
    """The threads of every space."""

    def __init__(self, working: Callable[[str], WorkingMemory]) -> None:
        self._working = working

    @classmethod
    def from_host(cls, host: Host) -> Self:
        """Create the service from an open memory."""
        return cls(host.working)

    @handles(OPEN_THREAD)
    async def open(self, space: str, request: OpenThreadRequest) -> Thread:
        """Return a thread, creating it if no thread has this id."""
        return await self._working(space).open_thread(
            request.thread_id, session_id=request.session_id, mode=request.mode
        )

    @handles(LIST_THREADS)
    async def list_threads(self, space: str, request: ListThreadsRequest) -> Page[Thread]:
        """List threads, ordered by id."""
        rows = await self._working(space).threads(limit=request.limit + 1, after=request.after)
        return page_of(rows, request.limit, lambda thread: thread.id)

    @handles(GET_THREAD)
    async def get(self, space: str, request: ThreadRequest) -> Thread:
        """Return a thread as it is now."""
        return await self._working(space).get_thread(request.thread_id)

    @handles(DISPATCH)
    async def dispatch(self, space: str, request: DispatchRequest) -> DispatchResult:
        """Queue an event, and process it in auto mode."""
        return await self._working(space).dispatch(request.thread_id, request.event)

    @handles(STEP)
    async def step(self, space: str, request: ThreadRequest) -> StepResult:
        """Process one event, or truncate or compact the thread if that is due."""
        return await self._working(space).step(request.thread_id)

    @handles(SET_MODE)
    async def set_mode(self, space: str, request: SetModeRequest) -> DispatchResult:
        """Change how a thread processes its events."""
        return await self._working(space).set_mode(request.thread_id, request.mode)

    @handles(QUEUE)
    async def queue(self, space: str, request: ThreadRequest) -> list[QueuedEvent]:
        """Return the queued events."""
        await self.get(space, request)
        return await self._working(space).queue(request.thread_id)

    @handles(FAILED_EVENTS)
    async def failed_events(self, space: str, request: ThreadRequest) -> list[FailedEvent]:
        """Return the events that were set aside."""
        await self.get(space, request)
        return await self._working(space).failed_events(request.thread_id)

    @handles(STATES)
    async def states(self, space: str, request: StatesRequest) -> list[StateInfo]:
        """Return the states that a thread has had."""
        first = 0 if request.after is None else request.after + 1
        return await self._working(space).history(request.thread_id, first=first, limit=request.limit)

    @handles(STATE)
    async def state(self, space: str, request: StateRequest) -> State:
        """Return one state with its chunks."""
        if request.number is None:
            return await self._working(space).current_state(request.thread_id)
        return await self._working(space).state_at(request.thread_id, request.number)

    @handles(DIFF_STATES)
    async def diff(self, space: str, request: DiffStatesRequest) -> StateDiff:
        """Compare two states."""
        return await self._working(space).diff(request.thread_id, request.before, request.after)

    @handles(PROMPT)
    async def prompt(self, space: str, request: PromptRequest) -> Prompt:
        """Return the current state as messages within a token budget."""
        return await self._working(space).prompt(request.thread_id, budget=request.budget)

    @handles(TOKEN_USAGE)
    async def usage(self, space: str, request: ThreadRequest) -> TokenUsage:
        """Compare the length of a thread with the thresholds."""
        return await self._working(space).check_token_usage(request.thread_id)

    @handles(FORK)
    async def fork(self, space: str, request: ForkRequest) -> Thread:
        """Open a new thread that begins with a state of this one."""
        return await self._working(space).fork(request.thread_id, at=request.at, into=request.into, mode=request.mode)

    @handles(REPLAY)
    async def replay(self, space: str, request: ThreadRequest) -> list[Chunk]:
        """Rebuild the current state from the events alone."""
        return [*await self._working(space).replay(request.thread_id)]
