"""Operations on threads, the working memory of an agent: events, states and prompts."""

from dataclasses import replace
from typing import Self

from bethink.base.frozen import frozen
from bethink.errors import InvalidRequestError
from bethink.model.access import Scope
from bethink.model.checks import Length, Printable
from bethink.model.ids import new_id
from bethink.model.operations.base import Budget, Limit, Name, Number, Operation, Request, Retry, served_by
from bethink.model.paging import Page
from bethink.model.prompts import Prompt
from bethink.model.thread_results import DispatchResult, StateDiff, StepResult, TokenUsage
from bethink.model.working import Chunk, Event, FailedEvent, Mode, QueuedEvent, State, StateInfo, Thread

READ, WRITE = Scope.READ, Scope.WRITE


@frozen
class OpenThreadRequest(Request):
    """A thread to open."""

    thread_id: Name | None = None
    """Id of the thread (default: a new id)."""
    session_id: Name | None = None
    """Id of the session that the thread belongs to (default: none)."""
    mode: Mode | None = None
    """`auto` (default) processes events on arrival; `stepping` processes one event for each `step`."""

    def repeatable(self) -> Self:
        """Return the request with an id for the thread."""
        return self if self.thread_id else replace(self, thread_id=new_id("thread"))


@frozen
class ListThreadsRequest(Request):
    """A page of threads."""

    limit: Limit = 100
    """Maximum number of threads (default 100)."""
    after: str = ""
    """Cursor of the next page: the `next` of the previous page, or its last id."""


@frozen
class ThreadRequest(Request):
    """One thread."""

    thread_id: Name
    """Id of the thread."""


@frozen
class DispatchRequest(ThreadRequest):
    """An event for a thread."""

    event: Event
    """Event, such as a message or a tool result."""

    def __post_init__(self) -> None:
        Request.__post_init__(self)
        for limit in (Length(1, 200), Printable()):
            limit.check("event.type", self.event.type)

    def from_outside(self) -> Self:
        """Reject events that are reserved for the engine: they shorten the working memory."""
        if self.event.type.startswith("MEMORY_"):
            raise InvalidRequestError(
                f"Event type {self.event.type} is reserved for the engine.",
                hint="Use a type without the prefix MEMORY_.",
            )
        return self


@frozen
class SetModeRequest(ThreadRequest):
    """The mode of a thread."""

    mode: Mode
    """`auto` or `stepping`."""


@frozen
class StatesRequest(ThreadRequest):
    """States of a thread to list."""

    after: Number | None = None
    """Number of the last state before the page (default: start at the first state)."""
    limit: Limit | None = None
    """Maximum number of states (default: all)."""


@frozen
class StateRequest(ThreadRequest):
    """One state of a thread."""

    number: Number | None = None
    """Number of the state (default: the current state)."""


@frozen
class DiffStatesRequest(ThreadRequest):
    """Two states to compare."""

    before: Number
    """Number of the first state."""
    after: Number
    """Number of the second state."""


@frozen
class PromptRequest(ThreadRequest):
    """A prompt to build."""

    budget: Budget
    """Maximum number of tokens of the prompt."""


@frozen
class ForkRequest(ThreadRequest):
    """A state from which to start a new thread."""

    at: Number
    """Number of the state that the new thread starts with."""
    into: Name | None = None
    """Id of the new thread (default: a new id)."""
    mode: Mode | None = None
    """Mode of the new thread: `auto` or `stepping` (default `auto`)."""


_THREADS = "/spaces/{space}/threads"
_THREAD = f"{_THREADS}/{{thread_id}}"
_NOT_FOUND = "NotFoundError: if the space has no such thread."

OPEN_THREAD: Operation[OpenThreadRequest, Thread] = Operation(
    "space.threads.open", OpenThreadRequest, Thread, f"POST {_THREADS}", WRITE, Retry.IDEMPOTENT,
    "Return the thread with this id, or create it.",
    status=201, positional=("thread_id",),
)  # fmt: skip
LIST_THREADS: Operation[ListThreadsRequest, Page[Thread]] = Operation(
    "space.threads.list", ListThreadsRequest, Page[Thread], f"GET {_THREADS}", READ, Retry.SAFE,
    "List the threads of the space, ordered by id.",
)  # fmt: skip
GET_THREAD: Operation[ThreadRequest, Thread] = Operation(
    "space.threads.get", ThreadRequest, Thread, f"GET {_THREAD}", READ, Retry.SAFE,
    "Return a thread.",
    raises=_NOT_FOUND,
)  # fmt: skip
DISPATCH: Operation[DispatchRequest, DispatchResult] = Operation(
    "space.threads.dispatch", DispatchRequest, DispatchResult, f"POST {_THREAD}/events", WRITE, Retry.ONCE,
    "Queue an event. In auto mode, process it, and truncate or compact the thread if necessary.",
    also_reads=True,
    raises="InvalidRequestError: if the event cannot be processed; `failed_events` then lists it.",
)  # fmt: skip
STEP: Operation[ThreadRequest, StepResult] = Operation(
    "space.threads.step", ThreadRequest, StepResult, f"POST {_THREAD}/step", WRITE, Retry.ONCE,
    "Process one queued event. Without one, truncate or compact the thread if necessary.",
    also_reads=True,
    raises="ConflictError: if the thread is in auto mode or another step is running.",
)  # fmt: skip
SET_MODE: Operation[SetModeRequest, DispatchResult] = Operation(
    "space.threads.set_mode", SetModeRequest, DispatchResult, f"PUT {_THREAD}/mode", WRITE, Retry.IDEMPOTENT,
    "Set the mode of a thread. A change to auto mode processes the queued events.",
    also_reads=True,
)  # fmt: skip
QUEUE: Operation[ThreadRequest, list[QueuedEvent]] = Operation(
    "space.threads.queue", ThreadRequest, list[QueuedEvent], f"GET {_THREAD}/queue", READ, Retry.SAFE,
    "Return the queued events, in order of processing.",
    raises=_NOT_FOUND,
)  # fmt: skip
FAILED_EVENTS: Operation[ThreadRequest, list[FailedEvent]] = Operation(
    "space.threads.failed_events", ThreadRequest, list[FailedEvent], f"GET {_THREAD}/failed", READ, Retry.SAFE,
    "Return the events that could not be processed, with the reason.",
    raises=_NOT_FOUND,
)  # fmt: skip
STATES: Operation[StatesRequest, list[StateInfo]] = Operation(
    "space.threads.states", StatesRequest, list[StateInfo], f"GET {_THREAD}/states", READ, Retry.SAFE,
    "Return the states of a thread without chunks. Oldest first.",
    raises=_NOT_FOUND,
)  # fmt: skip
STATE: Operation[StateRequest, State] = Operation(
    "space.threads.state", StateRequest, State, f"GET {_THREAD}/state", READ, Retry.SAFE,
    "Return a state of a thread with its chunks.",
    positional=("number",),
    raises=_NOT_FOUND,
)  # fmt: skip
DIFF_STATES: Operation[DiffStatesRequest, StateDiff] = Operation(
    "space.threads.diff", DiffStatesRequest, StateDiff, f"GET {_THREAD}/diff", READ, Retry.SAFE,
    "Return the difference between two states of a thread.",
    raises=_NOT_FOUND,
)  # fmt: skip
PROMPT: Operation[PromptRequest, Prompt] = Operation(
    "space.threads.prompt", PromptRequest, Prompt, f"GET {_THREAD}/prompt", READ, Retry.SAFE,
    "Build a prompt from the current state within a token budget, with a report on every chunk.",
    raises=_NOT_FOUND,
)  # fmt: skip
TOKEN_USAGE: Operation[ThreadRequest, TokenUsage] = Operation(
    "space.threads.tokens", ThreadRequest, TokenUsage, f"GET {_THREAD}/tokens", READ, Retry.SAFE,
    "Return the token count of a thread and its thresholds for compaction and truncation.",
    raises=_NOT_FOUND,
)  # fmt: skip
FORK: Operation[ForkRequest, Thread] = Operation(
    "space.threads.fork", ForkRequest, Thread, f"POST {_THREAD}/fork", WRITE, Retry.ONCE,
    "Create a new thread that starts with a state of this one.",
    status=201,
    raises=_NOT_FOUND,
    details="Deleting the conversation of this thread also deletes the new thread.",
)  # fmt: skip
REPLAY: Operation[ThreadRequest, list[Chunk]] = Operation(
    "space.threads.replay", ThreadRequest, list[Chunk], f"POST {_THREAD}/replay", WRITE, Retry.IDEMPOTENT,
    "Rebuild the current state from the events, without calling a model, and return its chunks.",
    also_reads=True,
    raises=_NOT_FOUND,
)  # fmt: skip

OPERATIONS = served_by(
    "bethink.memory.working.service",
    OPEN_THREAD, LIST_THREADS, GET_THREAD, DISPATCH, STEP, SET_MODE, QUEUE, FAILED_EVENTS, STATES, STATE, DIFF_STATES,
    PROMPT, TOKEN_USAGE, FORK, REPLAY,
)  # fmt: skip
