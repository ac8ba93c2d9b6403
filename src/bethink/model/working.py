"""Working memory: events become operations on an ordered list of immutable chunks."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any, cast

from bethink.base.frozen import frozen
from bethink.model.ids import base32
from bethink.model.text import JsonObject


class ChunkType(StrEnum):
    """Type of a chunk, which determines the defaults of other fields."""

    SYSTEM = "SYSTEM"
    AGENT = "AGENT"
    WORKFLOW = "WORKFLOW"
    DELEGATION = "DELEGATION"
    ENVIRONMENT = "ENVIRONMENT"
    WORKING_FLOW = "WORKING_FLOW"
    OUTPUT = "OUTPUT"


class SubType(StrEnum):
    """The subtype of a chunk in the working flow."""

    COMPACTED = "COMPACTED"
    USER = "USER"
    THINKING = "THINKING"
    RESPONSE = "RESPONSE"
    AGENT_ACTION = "AGENT_ACTION"
    ACTION_RESPONSE = "ACTION_RESPONSE"


class Retention(StrEnum):
    """Retention of a chunk. CRITICAL chunks are never removed automatically."""

    CRITICAL = "CRITICAL"
    COMPRESSIBLE = "COMPRESSIBLE"
    BATCH_COMPRESSIBLE = "BATCH_COMPRESSIBLE"
    DISPOSABLE = "DISPOSABLE"
    EPHEMERAL = "EPHEMERAL"


class OperationKind(StrEnum):
    """The kinds of changes from one state to the next."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    REORDER = "REORDER"
    REPLACE = "REPLACE"
    BATCH_REPLACE = "BATCH_REPLACE"
    BATCH = "BATCH"


class Mode(StrEnum):
    """Processing of events: automatic, or one at a time on request."""

    AUTO = "auto"
    STEPPING = "stepping"


class StateCause(StrEnum):
    """Cause of a state."""

    INITIAL = "initial"
    FORK = "fork"
    EVENT = "event_dispatch"
    COMPACTION = "compaction"
    TRUNCATION = "truncation"
    MANUAL = "manual"


class Strategy(StrEnum):
    """Effect of an event on the queue: `terminate` stops processing after it."""

    QUEUE = "queue"
    INTERRUPT = "interrupt"
    TERMINATE = "terminate"
    SILENT = "silent"


class EventType(StrEnum):
    """Type of an event. Bethink itself creates the last three."""

    TOOL_ERROR = "TOOL_ERROR"
    SUBAGENT_ERROR = "SUBAGENT_ERROR"
    SKILL_ERROR = "SKILL_ERROR"
    SYSTEM_ERROR = "SYSTEM_ERROR"
    USER_MESSAGE = "USER_MESSAGE"
    PARENT_AGENT_MESSAGE = "PARENT_AGENT_MESSAGE"
    LLM_TEXT_RESPONSE = "LLM_TEXT_RESPONSE"
    LLM_TOOL_CALL = "LLM_TOOL_CALL"
    LLM_SKILL_CALL = "LLM_SKILL_CALL"
    LLM_SUBAGENT_SPAWN = "LLM_SUBAGENT_SPAWN"
    LLM_SUBAGENT_MESSAGE = "LLM_SUBAGENT_MESSAGE"
    LLM_CLARIFICATION = "LLM_CLARIFICATION"
    TOOL_RESULT = "TOOL_RESULT"
    SKILL_RESULT = "SKILL_RESULT"
    SUBAGENT_RESULT = "SUBAGENT_RESULT"
    TASK_COMPLETED = "TASK_COMPLETED"
    TASK_ABANDONED = "TASK_ABANDONED"
    TASK_TERMINATED = "TASK_TERMINATED"
    TODO_SET = "TODO_SET"
    TODO_COMPLETED = "TODO_COMPLETED"
    TODO_EXPANDED = "TODO_EXPANDED"
    TODO_UPDATED = "TODO_UPDATED"
    TODO_DELETED = "TODO_DELETED"
    MEMORY_MARK_CRITICAL = "MEMORY_MARK_CRITICAL"
    MEMORY_FORGET = "MEMORY_FORGET"
    MEMORY_COMPACT_MANUAL = "MEMORY_COMPACT_MANUAL"
    MEMORY_COMPACT_AUTO = "MEMORY_COMPACT_AUTO"
    EXTERNAL_INJECT = "EXTERNAL_INJECT"
    EXTERNAL_TIMER = "EXTERNAL_TIMER"
    ENVIRONMENT_CHANGE = "ENVIRONMENT_CHANGE"
    EXECUTION_RETRY = "EXECUTION_RETRY"
    EXECUTION_RESUME = "EXECUTION_RESUME"
    EXECUTION_PAUSE = "EXECUTION_PAUSE"
    MEMORY_TRUNCATE = "MEMORY_TRUNCATE"
    MEMORY_EMERGENCY = "MEMORY_EMERGENCY"
    MEMORY_EDIT = "MEMORY_EDIT"


DEFAULTS: Mapping[ChunkType, tuple[int, Retention, bool]] = {
    ChunkType.SYSTEM: (1000, Retention.CRITICAL, False),
    ChunkType.AGENT: (900, Retention.CRITICAL, False),
    ChunkType.WORKFLOW: (800, Retention.CRITICAL, False),
    ChunkType.DELEGATION: (700, Retention.COMPRESSIBLE, True),
    ChunkType.ENVIRONMENT: (600, Retention.COMPRESSIBLE, False),
    ChunkType.WORKING_FLOW: (500, Retention.BATCH_COMPRESSIBLE, True),
    ChunkType.OUTPUT: (400, Retention.COMPRESSIBLE, False),
}
"""The default priority, retention and mutability for each type of chunk."""

COMPRESSIBLE = frozenset({Retention.COMPRESSIBLE, Retention.BATCH_COMPRESSIBLE, Retention.DISPOSABLE})


@frozen
class Chunk:
    """A piece of working memory. It never changes: an update creates a new chunk that names its parents."""

    id: str
    type: ChunkType
    content: JsonObject
    children: Sequence[JsonObject] = ()
    subtype: SubType | None = None
    retention: Retention = Retention.COMPRESSIBLE
    mutable: bool = False
    priority: int = 0
    created_at: datetime
    parents: tuple[str, ...] = ()
    custom: JsonObject = field(default_factory=dict[str, object])
    tokens: int = 0

    def __post_init__(self) -> None:
        # Always a tuple, so that chunks compare equal wherever they come from.
        object.__setattr__(self, "children", tuple(self.children))

    @property
    def text(self) -> str:
        """All text in the chunk, including its children."""
        return "\n".join(texts_of([self.content, *self.children]))

    @property
    def compressible(self) -> bool:
        """Return whether a compaction may replace the chunk."""
        return self.type is ChunkType.WORKING_FLOW and self.retention in COMPRESSIBLE


def texts_of(values: Iterable[object]) -> Iterator[str]:
    """Yield every string under a `text` key and every string in a list, at any depth."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            mapping = cast("Mapping[str, object]", value)
            for key, item in mapping.items():
                if not isinstance(item, str) or key == "text":
                    yield from texts_of([item])
        elif isinstance(value, Sequence):
            yield from texts_of(cast("Sequence[object]", value))


@frozen
class StateOperation:
    """One change to a state. Which fields are used depends on the kind."""

    kind: OperationKind
    chunk: Chunk | None = None
    targets: tuple[str, ...] = ()
    position: int | None = None
    child: JsonObject | None = None
    operations: "tuple[StateOperation, ...]" = ()


def add(chunk: Chunk, position: int | None = None) -> StateOperation:
    """Insert a chunk at a position, or append it."""
    return StateOperation(kind=OperationKind.ADD, chunk=chunk, position=position)


def add_child(target: str, child: JsonObject) -> StateOperation:
    """Add a child to an existing chunk, which is replaced by a new chunk."""
    return StateOperation(kind=OperationKind.ADD, targets=(target,), child=child)


def update(target: str, chunk: Chunk) -> StateOperation:
    """Replace a chunk with a changed version of it."""
    return StateOperation(kind=OperationKind.UPDATE, targets=(target,), chunk=chunk)


def delete(target: str) -> StateOperation:
    """Remove a chunk."""
    return StateOperation(kind=OperationKind.DELETE, targets=(target,))


def reorder(target: str, position: int) -> StateOperation:
    """Move a chunk to a position."""
    return StateOperation(kind=OperationKind.REORDER, targets=(target,), position=position)


def replace(target: str, chunk: Chunk) -> StateOperation:
    """Replace a chunk with another."""
    return StateOperation(kind=OperationKind.REPLACE, targets=(target,), chunk=chunk)


def batch_replace(targets: Sequence[str], chunk: Chunk) -> StateOperation:
    """Replace several chunks with one, at the position of the first. Chunks that no longer exist are skipped."""
    return StateOperation(kind=OperationKind.BATCH_REPLACE, targets=tuple(targets), chunk=chunk)


def batch(operations: Sequence[StateOperation]) -> StateOperation:
    """Combine several operations into one."""
    return StateOperation(kind=OperationKind.BATCH, operations=tuple(operations))


@frozen
class Event:
    """Something that happened to an agent, to be processed into its working memory."""

    type: str
    payload: JsonObject = field(default_factory=dict[str, object])
    strategy: Strategy | None = None


@frozen
class QueuedEvent:
    """An event in the queue of a thread, with its position."""

    id: str
    number: int
    event: Event
    queued_at: datetime


@frozen
class FailedEvent:
    """An event that could not be processed and was set aside, with the reason."""

    event: QueuedEvent
    reason: str


@frozen
class Thread:
    """Working memory of a session: its mode, the numbers of its state and queue, and the lease of a step."""

    space: str
    id: str
    session_id: str | None
    mode: Mode
    state_number: int
    applied: int
    last_event: int
    last_position: int
    total_tokens: int
    compressible_tokens: int
    pending_compaction: bool
    pending_truncation: bool
    step_id: str | None
    step_token: int
    step_until: datetime | None
    created_at: datetime
    forked_from: str | None = None
    forked_at: int | None = None


@frozen
class StateInfo:
    """One state of a thread, without its chunks: what created it, from which event, in which step."""

    thread_id: str
    number: int
    id: str
    previous: int | None
    source: StateCause
    event_id: str | None
    event_type: str | None
    step_id: str | None
    operations: Sequence[str]
    total_tokens: int
    recorded_at: datetime

    def __post_init__(self) -> None:
        object.__setattr__(self, "operations", tuple(self.operations))


@frozen
class State:
    """One state of a thread with its chunks, in order."""

    info: StateInfo
    chunks: tuple[Chunk, ...]


def chunk_id(event_id: str, index: int) -> str:
    """Return the id of a chunk that an event creates. It stays the same when the event is replayed."""
    digest = hashlib.sha256(f"{event_id}/{index}".encode()).digest()
    return f"chunk_{base32(int.from_bytes(digest[:16]))}"


def make_chunk(kind: ChunkType, content: JsonObject | str, *, id: str, created_at: datetime, **fields: Any) -> Chunk:  # noqa: A002
    """Create a chunk with the defaults of its type. A string becomes the text of its content."""
    priority, retention, mutable = DEFAULTS[kind]
    body = {"text": content} if isinstance(content, str) else content
    values: dict[str, Any] = {"priority": priority, "retention": retention, "mutable": mutable} | fields
    return Chunk(id=id, type=kind, content=body, created_at=created_at, **values)
