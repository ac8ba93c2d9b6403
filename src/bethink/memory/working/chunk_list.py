"""The chunks of a thread while an event changes them: operations in, a new state out."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bethink.errors import ConflictError, InvalidRequestError
from bethink.extend import Tokens
from bethink.model.text import JsonObject
from bethink.model.working import (
    Chunk,
    ChunkType,
    OperationKind,
    QueuedEvent,
    StateOperation,
    Thread,
    chunk_id,
    make_chunk,
)
from bethink.store import states
from bethink.store.db import Tx

GAP = 1 << 20
"""The distance between two positions, so that a chunk can be inserted without moving others."""


class ChunkList:
    """Applies operations inside a transaction and records what they did.

    It loads only what an operation needs, so the cost of an event does not grow with the number of chunks.
    """

    def __init__(self, tx: Tx, thread: Thread, event: QueuedEvent, tokens: Tokens) -> None:
        self.thread = thread
        self.event = event
        self.number = thread.state_number + 1
        self.last_position = thread.last_position
        self.total_tokens = thread.total_tokens
        self.compressible_tokens = thread.compressible_tokens
        self.added: list[Chunk] = []
        self.removed: list[str] = []
        self.labels: list[str] = []
        self._tx = tx
        self._tokens = tokens
        self._created_count = 0

    def find(self, target: str) -> Chunk | None:
        """Return a chunk of the current state, or None."""
        placed = states.find_placed(self._tx, thread=self.thread, chunk_id=target)
        return None if placed is None else placed[0]

    def chunks(self) -> list[Chunk]:
        """Return every chunk of the current state, in order. This reads the complete state."""
        return [chunk for chunk, _ in states.current(self._tx, thread=self.thread)]

    def chunk(self, kind: ChunkType, content: JsonObject | str, **fields: Any) -> Chunk:
        """Create a chunk for the event. Replaying the event creates a chunk with the same id."""
        self._created_count += 1
        return make_chunk(
            kind, content, id=chunk_id(self.event.id, self._created_count), created_at=self.event.queued_at, **fields
        )

    def apply(self, operation: StateOperation) -> None:
        """Apply one operation. Raises `ConflictError` if a chunk it changes is not in the current state."""
        self.labels.append(operation.kind)
        handlers: dict[OperationKind, Callable[[StateOperation], None]] = {
            OperationKind.ADD: self._add,
            OperationKind.UPDATE: self._replace,
            OperationKind.REPLACE: self._replace,
            OperationKind.DELETE: self._delete,
            OperationKind.REORDER: self._reorder,
            OperationKind.BATCH_REPLACE: self._batch_replace,
            OperationKind.BATCH: self._batch,
        }
        handlers[operation.kind](operation)

    def _add(self, operation: StateOperation) -> None:
        if operation.child is not None:
            self._add_child(operation.targets[0], operation.child)
            return
        self._insert(_chunk_of(operation), self._position_at(operation.position))

    def _add_child(self, target: str, child: JsonObject) -> None:
        old, position = self._find_required(target)
        new = self.chunk(old.type, old.content)
        grown = replace(
            old,
            id=new.id,
            children=(*old.children, child),
            parents=(old.id,),
            custom={**old.custom, "derivedFrom": old.id},
        )
        self._remove(old)
        self._insert(grown, position)

    def _replace(self, operation: StateOperation) -> None:
        old, position = self._find_required(operation.targets[0])
        new = _chunk_of(operation)
        if operation.kind is OperationKind.UPDATE and old.id not in new.parents:
            new = replace(new, parents=(old.id, *new.parents))
        self._remove(old)
        self._insert(new, position)

    def _delete(self, operation: StateOperation) -> None:
        self._remove(self._find_required(operation.targets[0])[0])

    def _reorder(self, operation: StateOperation) -> None:
        moved, _ = self._find_required(operation.targets[0])
        states.unplace_chunk(self._tx, thread=self.thread, chunk_id=moved.id, state=self.number)
        position = self._position_at(operation.position)
        states.place_chunk(self._tx, thread=self.thread, chunk_id=moved.id, state=self.number, position=position)

    def _batch_replace(self, operation: StateOperation) -> None:
        placements = [states.find_placed(self._tx, thread=self.thread, chunk_id=target) for target in operation.targets]
        present = [placement for placement in placements if placement is not None]
        for old, _ in present:
            self._remove(old)
        first = min((position for _, position in present), default=None)
        self._insert(_chunk_of(operation), self._position_at(None) if first is None else first)

    def _batch(self, operation: StateOperation) -> None:
        for part in operation.operations:
            self.apply(part)

    def _find_required(self, target: str) -> tuple[Chunk, int]:
        placed = states.find_placed(self._tx, thread=self.thread, chunk_id=target)
        if placed is None:
            raise ConflictError(f"Chunk {target} is not in the current state.", hint="Read the state and try again.")
        return placed

    def _insert(self, chunk: Chunk, position: int) -> None:
        counted = replace(chunk, tokens=self._tokens.count(chunk.text))
        states.put_chunk(self._tx, thread=self.thread, chunk=counted)
        states.place_chunk(self._tx, thread=self.thread, chunk_id=chunk.id, state=self.number, position=position)
        self.total_tokens += counted.tokens
        self.compressible_tokens += counted.tokens if counted.compressible else 0
        self.added.append(counted)

    def _remove(self, chunk: Chunk) -> None:
        states.unplace_chunk(self._tx, thread=self.thread, chunk_id=chunk.id, state=self.number)
        self.total_tokens -= chunk.tokens
        self.compressible_tokens -= chunk.tokens if chunk.compressible else 0
        self.removed.append(chunk.id)

    def _position_at(self, index: int | None) -> int:
        """Return a free position before the chunk that is at an index now, or after the last chunk."""
        if index is None:
            self.last_position += GAP
            return self.last_position
        if index < 0:
            raise InvalidRequestError(f"`position` is {index}, but must not be negative.", hint="Count from 0.")
        placed = states.current(self._tx, thread=self.thread)
        if index >= len(placed):
            return self._position_at(None)
        before = placed[index - 1][1] if index else placed[0][1] - 2 * GAP
        after = placed[index][1]
        if after - before < 2:
            self._spread([chunk for chunk, _ in placed])
            return self._position_at(index)
        return (before + after) // 2

    def _spread(self, chunks: list[Chunk]) -> None:
        for chunk in chunks:
            states.unplace_chunk(self._tx, thread=self.thread, chunk_id=chunk.id, state=self.number)
            self.last_position += GAP
            states.place_chunk(
                self._tx, thread=self.thread, chunk_id=chunk.id, state=self.number, position=self.last_position
            )


def _chunk_of(operation: StateOperation) -> Chunk:
    if operation.chunk is None:
        raise InvalidRequestError(f"{operation.kind} needs a chunk.", hint="Create one with ChunkList.chunk(…).")
    return operation.chunk
