"""Reducers turn an event into operations. All that can handle an event run, in the order of registration."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

from bethink.base.frozen import frozen
from bethink.memory.working.chunk_list import ChunkList
from bethink.model.working import (
    Chunk,
    ChunkType,
    Event,
    EventType,
    Retention,
    StateOperation,
    SubType,
    add,
    batch_replace,
    chunk_id,
    delete,
    update,
)

Reduce = Callable[[Event, ChunkList], Sequence[StateOperation]]
"""Returns the operations of an event. It must be pure: same event and state, same operations."""


@frozen
class _Entry:
    types: frozenset[str]
    reduce: Reduce
    can_handle: Callable[[Event], bool] | None


class Reducers:
    """The registry of reducers."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []

    def register(
        self, types: Iterable[str], reduce: Reduce, *, can_handle: Callable[[Event], bool] | None = None
    ) -> None:
        """Add a reducer for events of these types, or for those of them that `can_handle` accepts."""
        self._entries.append(_Entry(types=frozenset(types), reduce=reduce, can_handle=can_handle))

    def reduce(self, event: Event, state: ChunkList) -> list[StateOperation]:
        """Return the operations of all reducers for an event, in order; none for an unknown event."""
        return [
            operation
            for entry in self._entries
            if event.type in entry.types and (entry.can_handle is None or entry.can_handle(event))
            for operation in entry.reduce(event, state)
        ]


def default_reducers() -> Reducers:
    """Return the reducers for the events of chat and coding agents, and for internal events."""
    reducers = Reducers()
    for types, kind, fields in _ADDING:
        reducers.register(types, _adding(kind, fields))
    reducers.register([EventType.MEMORY_MARK_CRITICAL], _mark_critical)
    reducers.register([EventType.MEMORY_FORGET], _forget)
    reducers.register([EventType.MEMORY_COMPACT_AUTO, EventType.MEMORY_COMPACT_MANUAL], _compact)
    reducers.register([EventType.MEMORY_TRUNCATE], _truncate)
    reducers.register([EventType.MEMORY_EMERGENCY], _keep_newest)
    return reducers


def _adding(kind: ChunkType, fields: dict[str, Any]) -> Reduce:
    def reduce(event: Event, state: ChunkList) -> list[StateOperation]:
        content = {name: value for name, value in event.payload.items() if name not in _SOURCE_KEYS}
        custom = {name: event.payload[name] for name in _SOURCE_KEYS if name in event.payload}
        return [add(state.chunk(kind, content, custom=custom, **fields))]

    return reduce


_SOURCE_KEYS = ("message_number", "session_id")
"""Payload keys for the source of an event. They do not belong to its content."""

_FLOW, _CRITICAL = ChunkType.WORKING_FLOW, {"retention": Retention.CRITICAL}

# Tool results belong to the flow, not to the environment: they are most of what a coding agent reads, and only the
# flow is compacted.
_ADDING: list[tuple[list[EventType], ChunkType, dict[str, Any]]] = [
    ([EventType.USER_MESSAGE], _FLOW, {"subtype": SubType.USER}),
    ([EventType.LLM_TEXT_RESPONSE, EventType.LLM_CLARIFICATION], _FLOW, {"subtype": SubType.RESPONSE}),
    (
        [EventType.LLM_TOOL_CALL, EventType.LLM_SKILL_CALL, EventType.LLM_SUBAGENT_MESSAGE],
        _FLOW,
        {"subtype": SubType.AGENT_ACTION},
    ),
    (
        [
            EventType.TOOL_RESULT,
            EventType.SKILL_RESULT,
            EventType.SUBAGENT_RESULT,
            EventType.TOOL_ERROR,
            EventType.SKILL_ERROR,
            EventType.SUBAGENT_ERROR,
        ],
        _FLOW,
        {"subtype": SubType.ACTION_RESPONSE},
    ),
    ([EventType.PARENT_AGENT_MESSAGE, EventType.LLM_SUBAGENT_SPAWN], ChunkType.DELEGATION, _CRITICAL),
    ([EventType.TASK_COMPLETED, EventType.TASK_ABANDONED, EventType.TASK_TERMINATED], ChunkType.OUTPUT, _CRITICAL),
    ([EventType.TODO_SET], _FLOW, _CRITICAL),
    ([EventType.TODO_COMPLETED, EventType.TODO_EXPANDED], _FLOW, {"retention": Retention.COMPRESSIBLE}),
    ([EventType.TODO_UPDATED, EventType.TODO_DELETED], _FLOW, {"retention": Retention.DISPOSABLE}),
    (
        [
            EventType.EXTERNAL_INJECT,
            EventType.EXTERNAL_TIMER,
            EventType.ENVIRONMENT_CHANGE,
            EventType.SYSTEM_ERROR,
        ],
        ChunkType.ENVIRONMENT,
        {},
    ),
]


def _chunk_ids(event: Event) -> list[str]:
    return [str(name) for name in cast("Sequence[object]", event.payload.get("chunks", ()))]


def _mark_critical(event: Event, state: ChunkList) -> list[StateOperation]:
    chunks = [chunk for name in _chunk_ids(event) if (chunk := state.find(name)) is not None]
    return [
        update(
            chunk.id,
            replace(chunk, id=chunk_id(state.event.id, index), retention=Retention.CRITICAL, parents=(chunk.id,)),
        )
        for index, chunk in enumerate(chunks, 1)
    ]


def _forget(event: Event, state: ChunkList) -> list[StateOperation]:
    return [delete(name) for name in dict.fromkeys(_chunk_ids(event)) if state.find(name) is not None]


def _compact(event: Event, state: ChunkList) -> list[StateOperation]:
    if all(state.find(name) is None for name in _chunk_ids(event)):
        return []  # the chunks that it would replace are already removed
    summary = state.chunk(
        _FLOW,
        str(event.payload["summary"]),
        subtype=SubType.COMPACTED,
        retention=Retention.COMPRESSIBLE,
        parents=tuple(_chunk_ids(event)),
        custom={"originalChunkCount": len(_chunk_ids(event))},
    )
    return [batch_replace(_chunk_ids(event), summary)]


def _truncate(event: Event, state: ChunkList) -> list[StateOperation]:
    if "chunks" in event.payload:
        return _forget(event, state)
    excess = state.total_tokens - int(cast("int", event.payload["hard"]))
    return [delete(chunk.id) for chunk in to_truncate(state.chunks(), excess)]


def _keep_newest(event: Event, state: ChunkList) -> list[StateOperation]:
    retain = int(cast("int", event.payload["retain"]))
    droppable = oldest_first(state.chunks())
    return [delete(chunk.id) for chunk in droppable[: max(0, len(droppable) - retain)]]


def to_truncate(chunks: Sequence[Chunk], excess: int) -> list[Chunk]:
    """Return the oldest chunks that may be truncated, enough to cover an excess of tokens."""
    chosen: list[Chunk] = []
    for chunk in oldest_first(chunks):
        if excess <= 0:
            break
        chosen.append(chunk)
        excess -= chunk.tokens
    return chosen


def oldest_first(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return the chunks that may be truncated, oldest first: the working flow, except critical chunks."""
    flow = [chunk for chunk in chunks if chunk.type is _FLOW and chunk.retention is not Retention.CRITICAL]
    return sorted(flow, key=lambda chunk: chunk.created_at)
