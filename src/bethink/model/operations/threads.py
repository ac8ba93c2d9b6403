"""The verbs of threads: the working memory of an agent, its events, states and prompts."""

from dataclasses import replace
from typing import Self

from bethink.base.frozen import frozen
from bethink.errors import Invalid
from bethink.model.access import Scope
from bethink.model.checks import Length, Printable
from bethink.model.ids import new_id
from bethink.model.operations.base import Budget, Limit, Name, Number, Request, Retry, Verb, served_by
from bethink.model.prompts import Prompt
from bethink.model.thread_results import DispatchResult, StateDiff, StepResult, TokenUsage
from bethink.model.working import Chunk, Event, FailedEvent, Mode, QueuedEvent, State, StateInfo, Thread

READ, WRITE = Scope.READ, Scope.WRITE


@frozen
class OpenThreadRequest(Request):
    """A thread to open."""

    thread_id: Name | None = None
    """The thread; a new id is made, if left out."""
    session_id: Name | None = None
    """The session that it is the working memory of."""
    mode: Mode | None = None
    """Process events as they come (auto), or one by one (stepping)."""

    def repeatable(self) -> Self:
        """Return it with an id for the thread."""
        return self if self.thread_id else replace(self, thread_id=new_id("thread"))


@frozen
class ListThreadsRequest(Request):
    """A page of threads."""

    limit: Limit = 100
    """How many threads to return at most."""
    after: str = ""
    """Only threads that follow this one: the last id of the previous page."""


@frozen
class ThreadRequest(Request):
    """One thread."""

    thread_id: Name
    """The thread."""


@frozen
class DispatchRequest(ThreadRequest):
    """An event for a thread."""

    event: Event
    """What happened to the agent."""

    def __post_init__(self) -> None:
        Request.__post_init__(self)
        for limit in (Length(1, 200), Printable()):
            limit.check("event.type", self.event.type)

    def from_outside(self) -> Self:
        """Refuse the events that only the engine makes: they shorten a memory."""
        if self.event.type.startswith("MEMORY_"):
            raise Invalid(f"{self.event.type} is reserved for the engine.", hint="Send what happened to the agent.")
        return self


@frozen
class SetModeRequest(ThreadRequest):
    """How a thread is to take its events."""

    mode: Mode
    """Auto or stepping."""


@frozen
class StatesRequest(ThreadRequest):
    """Which states of a thread to list."""

    after: Number | None = None
    """Only states with a higher number."""
    limit: Limit | None = None
    """How many states to return at most; all of them, if left out."""


@frozen
class StateRequest(ThreadRequest):
    """One state of a thread."""

    number: Number | None = None
    """The state; the current one, if left out."""


@frozen
class DiffStatesRequest(ThreadRequest):
    """Two states to compare."""

    before: Number
    """The one state."""
    after: Number
    """The other state."""


@frozen
class PromptRequest(ThreadRequest):
    """A prompt to build."""

    budget: Budget
    """How many tokens it may take."""


@frozen
class ForkRequest(ThreadRequest):
    """A state to begin another thread from."""

    at: Number
    """The state that the new thread begins with."""
    into: Name | None = None
    """The id of the new thread; one is made, if left out."""
    mode: Mode | None = None
    """Auto or stepping."""


_THREADS = "/spaces/{space}/threads"
_THREAD = f"{_THREADS}/{{thread_id}}"
_MISSING = "NotFound: if the space has no such thread."

OPEN_THREAD: Verb[OpenThreadRequest, Thread] = Verb(
    "threads.open", OpenThreadRequest, Thread, f"POST {_THREADS}", WRITE, Retry.IDEMPOTENT,
    "Return a thread, creating it if there is none with this id.",
    status=201, positional=("thread_id",),
)  # fmt: skip
LIST_THREADS: Verb[ListThreadsRequest, list[Thread]] = Verb(
    "threads.all", ListThreadsRequest, list[Thread], f"GET {_THREADS}", READ, Retry.SAFE,
    "List the threads of the space, ordered by id.",
)  # fmt: skip
GET_THREAD: Verb[ThreadRequest, Thread] = Verb(
    "threads.get", ThreadRequest, Thread, f"GET {_THREAD}", READ, Retry.SAFE,
    "Return a thread as it stands now.",
    raises=_MISSING,
)  # fmt: skip
DISPATCH: Verb[DispatchRequest, DispatchResult] = Verb(
    "threads.dispatch", DispatchRequest, DispatchResult, f"POST {_THREAD}/events", WRITE, Retry.ONCE,
    "Queue an event. In auto mode, process it and whatever its length makes necessary.",
    also_reads=True,
    raises="Invalid: if the event cannot be processed. It is set aside, and the thread goes on without it.",
)  # fmt: skip
STEP: Verb[ThreadRequest, StepResult] = Verb(
    "threads.step", ThreadRequest, StepResult, f"POST {_THREAD}/step", WRITE, Retry.ONCE,
    "Process one event. If none is waiting, truncate or compact if that is due.",
    also_reads=True,
    raises="Conflict: in auto mode, or while another step holds the thread.",
)  # fmt: skip
SET_MODE: Verb[SetModeRequest, DispatchResult] = Verb(
    "threads.set_mode", SetModeRequest, DispatchResult, f"PUT {_THREAD}/mode", WRITE, Retry.IDEMPOTENT,
    "Change how a thread takes its events. Back in auto mode, process what has been waiting.",
    also_reads=True,
)  # fmt: skip
QUEUE: Verb[ThreadRequest, list[QueuedEvent]] = Verb(
    "threads.queue", ThreadRequest, list[QueuedEvent], f"GET {_THREAD}/queue", READ, Retry.SAFE,
    "Return the events that wait, in the order in which they will be processed.",
    raises=_MISSING,
)  # fmt: skip
FAILED_EVENTS: Verb[ThreadRequest, list[FailedEvent]] = Verb(
    "threads.failed_events", ThreadRequest, list[FailedEvent], f"GET {_THREAD}/failed", READ, Retry.SAFE,
    "Return the events that could not be processed and were set aside, with the reason.",
    raises=_MISSING,
)  # fmt: skip
STATES: Verb[StatesRequest, list[StateInfo]] = Verb(
    "threads.states", StatesRequest, list[StateInfo], f"GET {_THREAD}/states", READ, Retry.SAFE,
    "Return the states that a thread has had, in order and without the chunks.",
    raises=_MISSING,
)  # fmt: skip
STATE: Verb[StateRequest, State] = Verb(
    "threads.state", StateRequest, State, f"GET {_THREAD}/state", READ, Retry.SAFE,
    "Return one state of a thread with its chunks.",
    positional=("number",),
    raises=_MISSING,
)  # fmt: skip
DIFF_STATES: Verb[DiffStatesRequest, StateDiff] = Verb(
    "threads.diff", DiffStatesRequest, StateDiff, f"GET {_THREAD}/diff", READ, Retry.SAFE,
    "Compare two states of a thread.",
    raises=_MISSING,
)  # fmt: skip
PROMPT: Verb[PromptRequest, Prompt] = Verb(
    "threads.prompt", PromptRequest, Prompt, f"GET {_THREAD}/prompt", READ, Retry.SAFE,
    "Return the current state as messages within a token budget, with a report on every chunk.",
    raises=_MISSING,
)  # fmt: skip
TOKEN_USAGE: Verb[ThreadRequest, TokenUsage] = Verb(
    "threads.usage", ThreadRequest, TokenUsage, f"GET {_THREAD}/usage", READ, Retry.SAFE,
    "Compare the length of a thread with the thresholds for compaction and truncation.",
    raises=_MISSING,
)  # fmt: skip
FORK: Verb[ForkRequest, Thread] = Verb(
    "threads.fork", ForkRequest, Thread, f"POST {_THREAD}/fork", WRITE, Retry.ONCE,
    "Open a new thread that begins where this one was at a state.",
    status=201,
    raises=_MISSING,
    details="It is forgotten with the conversation that this thread works on.",
)  # fmt: skip
REPLAY: Verb[ThreadRequest, list[Chunk]] = Verb(
    "threads.replay", ThreadRequest, list[Chunk], f"POST {_THREAD}/replay", WRITE, Retry.IDEMPOTENT,
    "Rebuild the current state from the events alone, without a model.",
    also_reads=True,
    raises=_MISSING,
)  # fmt: skip

VERBS = served_by(
    "bethink.memory.working.service",
    OPEN_THREAD, LIST_THREADS, GET_THREAD, DISPATCH, STEP, SET_MODE, QUEUE, FAILED_EVENTS, STATES, STATE, DIFF_STATES,
    PROMPT, TOKEN_USAGE, FORK, REPLAY,
)  # fmt: skip
