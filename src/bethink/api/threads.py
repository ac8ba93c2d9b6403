"""The working memory of a space.

Written by tools/make_api.py from the table of operations; change a request there and run it again.
"""

from bethink.api.handles import Handle
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
from bethink.model.prompts import Prompt
from bethink.model.thread_results import DispatchResult, StateDiff, StepResult, TokenUsage
from bethink.model.working import Chunk, Event, FailedEvent, Mode, QueuedEvent, State, StateInfo, Thread


class Threads(Handle):
    """The working memory of a space."""

    async def open(
        self, thread_id: str | None = None, *, session_id: str | None = None, mode: Mode | None = None
    ) -> Thread:
        """Return a thread, creating it if there is none with this id.

        Args:
            thread_id: The thread; a new id is made, if left out.
            session_id: The session that it is the working memory of.
            mode: Process events as they come (auto), or one by one (stepping).
        """
        return await self._run(OPEN_THREAD, OpenThreadRequest(thread_id=thread_id, session_id=session_id, mode=mode))

    async def all(self, *, limit: int = 100, after: str = "") -> list[Thread]:
        """List the threads of the space, ordered by id.

        Args:
            limit: How many threads to return at most.
            after: Only threads that follow this one: the last id of the previous page.
        """
        return await self._run(LIST_THREADS, ListThreadsRequest(limit=limit, after=after))

    async def get(self, thread_id: str) -> Thread:
        """Return a thread as it stands now.

        Args:
            thread_id: The thread.

        Raises:
            NotFound: if the space has no such thread.
        """
        return await self._run(GET_THREAD, ThreadRequest(thread_id=thread_id))

    async def dispatch(self, thread_id: str, event: Event) -> DispatchResult:
        """Queue an event. In auto mode, process it and whatever its length makes necessary.

        Args:
            thread_id: The thread.
            event: What happened to the agent.

        Raises:
            Invalid: if the event cannot be processed.
            It is set aside, and the thread goes on without it.
        """
        return await self._run(DISPATCH, DispatchRequest(thread_id=thread_id, event=event))

    async def step(self, thread_id: str) -> StepResult:
        """Process one event. If none is waiting, truncate or compact if that is due.

        Args:
            thread_id: The thread.

        Raises:
            Conflict: in auto mode, or while another step holds the thread.
        """
        return await self._run(STEP, ThreadRequest(thread_id=thread_id))

    async def set_mode(self, thread_id: str, mode: Mode) -> DispatchResult:
        """Change how a thread takes its events. Back in auto mode, process what has been waiting.

        Args:
            thread_id: The thread.
            mode: Auto or stepping.
        """
        return await self._run(SET_MODE, SetModeRequest(thread_id=thread_id, mode=mode))

    async def queue(self, thread_id: str) -> list[QueuedEvent]:
        """Return the events that wait, in the order in which they will be processed.

        Args:
            thread_id: The thread.

        Raises:
            NotFound: if the space has no such thread.
        """
        return await self._run(QUEUE, ThreadRequest(thread_id=thread_id))

    async def failed_events(self, thread_id: str) -> list[FailedEvent]:
        """Return the events that could not be processed and were set aside, with the reason.

        Args:
            thread_id: The thread.

        Raises:
            NotFound: if the space has no such thread.
        """
        return await self._run(FAILED_EVENTS, ThreadRequest(thread_id=thread_id))

    async def states(self, thread_id: str, *, after: int | None = None, limit: int | None = None) -> list[StateInfo]:
        """Return the states that a thread has had, in order and without the chunks.

        Args:
            thread_id: The thread.
            after: Only states with a higher number.
            limit: How many states to return at most; all of them, if left out.

        Raises:
            NotFound: if the space has no such thread.
        """
        return await self._run(STATES, StatesRequest(thread_id=thread_id, after=after, limit=limit))

    async def state(self, thread_id: str, number: int | None = None) -> State:
        """Return one state of a thread with its chunks.

        Args:
            thread_id: The thread.
            number: The state; the current one, if left out.

        Raises:
            NotFound: if the space has no such thread.
        """
        return await self._run(STATE, StateRequest(thread_id=thread_id, number=number))

    async def diff(self, thread_id: str, before: int, after: int) -> StateDiff:
        """Compare two states of a thread.

        Args:
            thread_id: The thread.
            before: The one state.
            after: The other state.

        Raises:
            NotFound: if the space has no such thread.
        """
        return await self._run(DIFF_STATES, DiffStatesRequest(thread_id=thread_id, before=before, after=after))

    async def prompt(self, thread_id: str, budget: int) -> Prompt:
        """Return the current state as messages within a token budget, with a report on every chunk.

        Args:
            thread_id: The thread.
            budget: How many tokens it may take.

        Raises:
            NotFound: if the space has no such thread.
        """
        return await self._run(PROMPT, PromptRequest(thread_id=thread_id, budget=budget))

    async def usage(self, thread_id: str) -> TokenUsage:
        """Compare the length of a thread with the thresholds for compaction and truncation.

        Args:
            thread_id: The thread.

        Raises:
            NotFound: if the space has no such thread.
        """
        return await self._run(TOKEN_USAGE, ThreadRequest(thread_id=thread_id))

    async def fork(self, thread_id: str, at: int, *, into: str | None = None, mode: Mode | None = None) -> Thread:
        """Open a new thread that begins where this one was at a state.

        It is forgotten with the conversation that this thread works on.

        Args:
            thread_id: The thread.
            at: The state that the new thread begins with.
            into: The id of the new thread; one is made, if left out.
            mode: Auto or stepping.

        Raises:
            NotFound: if the space has no such thread.
        """
        return await self._run(FORK, ForkRequest(thread_id=thread_id, at=at, into=into, mode=mode))

    async def replay(self, thread_id: str) -> list[Chunk]:
        """Rebuild the current state from the events alone, without a model.

        Args:
            thread_id: The thread.

        Raises:
            NotFound: if the space has no such thread.
        """
        return await self._run(REPLAY, ThreadRequest(thread_id=thread_id))
