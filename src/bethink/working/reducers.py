"""Which events change what: all reducers that can handle an event run, in the order they were registered."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from bethink.model.working import (
    Chunk,
    ChunkType,
    Event,
    EventType,
    Operation,
    Retention,
    SubType,
    add,
    batch_replace,
    chunk_id,
    delete,
    update,
)
from bethink.working.chunk_list import ChunkList

Reduce = Callable[[Event, ChunkList], Sequence[Operation]]
"""Says what an event changes. It must be pure: the same event on the same state gives the same operations."""


@dataclass(frozen=True, slots=True, kw_only=True)
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

    def reduce(self, event: Event, shelf: ChunkList) -> list[Operation]:
        """Return what all reducers of an event ask for, in order; nothing for an event nobody knows."""
        return [
            operation
            for entry in self._entries
            if event.type in entry.types and (entry.can_handle is None or entry.can_handle(event))
            for operation in entry.reduce(event, shelf)
        ]


def default_reducers() -> Reducers:
    """Return a registry that knows what a chat or coding agent produces, and what the memory itself does."""
    known = Reducers()
    for types, kind, fields in _ADDING:
        known.register(types, _adding(kind, fields))
    known.register([EventType.MEMORY_MARK_CRITICAL], _mark_critical)
    known.register([EventType.MEMORY_FORGET], _forget)
    known.register([EventType.MEMORY_COMPACT_AUTO, EventType.MEMORY_COMPACT_MANUAL], _compact)
    known.register([EventType.MEMORY_TRUNCATE], _truncate)
    known.register([EventType.MEMORY_EMERGENCY], _keep_newest)
    return known


def _adding(kind: ChunkType, fields: dict[str, Any]) -> Reduce:
    def reduce(event: Event, shelf: ChunkList) -> list[Operation]:
        content = {name: value for name, value in event.payload.items() if name not in _ABOUT}
        custom = {name: event.payload[name] for name in _ABOUT if name in event.payload}
        return [add(shelf.chunk(kind, content, custom=custom, **fields))]

    return reduce


_ABOUT = ("message_number", "session_id")
"""What an event carries about where it came from, which is no content."""

_FLOW, _CRITICAL = ChunkType.WORKING_FLOW, {"retention": Retention.CRITICAL}

# Results of tools belong to the flow, not to the environment: they are most of what a coding agent reads, and only
# the flow is ever compacted.
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


def _named(event: Event) -> list[str]:
    return [str(each) for each in cast("Sequence[object]", event.payload.get("chunks", ()))]


def _mark_critical(event: Event, shelf: ChunkList) -> list[Operation]:
    found = [chunk for name in _named(event) if (chunk := shelf.find(name)) is not None]
    return [
        update(
            chunk.id,
            replace(chunk, id=chunk_id(shelf.event.id, index), retention=Retention.CRITICAL, parents=(chunk.id,)),
        )
        for index, chunk in enumerate(found, 1)
    ]


def _forget(event: Event, shelf: ChunkList) -> list[Operation]:
    return [delete(name) for name in dict.fromkeys(_named(event)) if shelf.find(name) is not None]


def _compact(event: Event, shelf: ChunkList) -> list[Operation]:
    if all(shelf.find(name) is None for name in _named(event)):
        return []  # what it would stand for is gone already
    summary = shelf.chunk(
        _FLOW,
        str(event.payload["summary"]),
        subtype=SubType.COMPACTED,
        retention=Retention.COMPRESSIBLE,
        parents=tuple(_named(event)),
        custom={"originalChunkCount": len(_named(event))},
    )
    return [batch_replace(_named(event), summary)]


def _truncate(event: Event, shelf: ChunkList) -> list[Operation]:
    if "chunks" in event.payload:
        return _forget(event, shelf)
    excess = shelf.total_tokens - int(cast("int", event.payload["hard"]))
    return [delete(chunk.id) for chunk in to_truncate(shelf.chunks(), excess)]


def _keep_newest(event: Event, shelf: ChunkList) -> list[Operation]:
    retain = int(cast("int", event.payload["retain"]))
    droppable = oldest_first(shelf.chunks())
    return [delete(chunk.id) for chunk in droppable[: max(0, len(droppable) - retain)]]


def to_truncate(chunks: Sequence[Chunk], excess: int) -> list[Chunk]:
    """Return the oldest chunks that may be truncated, as many as it takes to cover an excess of tokens."""
    chosen: list[Chunk] = []
    for chunk in oldest_first(chunks):
        if excess <= 0:
            break
        chosen.append(chunk)
        excess -= chunk.tokens
    return chosen


def oldest_first(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return the chunks that may be truncated, the oldest first: the working flow, but for what is critical."""
    flow = [chunk for chunk in chunks if chunk.type is _FLOW and chunk.retention is not Retention.CRITICAL]
    return sorted(flow, key=lambda chunk: chunk.created_at)
