"""The chunks of a thread while an event changes them: operations in, a new state out."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bethink.errors import Conflict, Invalid
from bethink.extend import Tokens
from bethink.model.text import JsonObject
from bethink.model.working import (
    Chunk,
    ChunkType,
    Operation,
    OperationKind,
    QueuedEvent,
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
        self._made = 0

    def find(self, wanted: str) -> Chunk | None:
        """Return a chunk of the current state, or None."""
        found = states.placed(self._tx, thread=self.thread, chunk_id=wanted)
        return None if found is None else found[0]

    def chunks(self) -> list[Chunk]:
        """Return every chunk of the current state, in order. This reads the complete state."""
        return [chunk for chunk, _ in states.current(self._tx, thread=self.thread)]

    def chunk(self, kind: ChunkType, content: JsonObject | str, **fields: Any) -> Chunk:
        """Create a chunk for the event. Replaying the event creates a chunk with the same id."""
        self._made += 1
        return make_chunk(
            kind, content, id=chunk_id(self.event.id, self._made), created_at=self.event.queued_at, **fields
        )

    def apply(self, operation: Operation) -> None:
        """Apply one operation. Raises `Conflict` if a chunk it changes is not in the current state."""
        self.labels.append(operation.kind)
        does: dict[OperationKind, Callable[[Operation], None]] = {
            OperationKind.ADD: self._add,
            OperationKind.UPDATE: self._replace,
            OperationKind.REPLACE: self._replace,
            OperationKind.DELETE: self._delete,
            OperationKind.REORDER: self._reorder,
            OperationKind.BATCH_REPLACE: self._batch_replace,
            OperationKind.BATCH: self._batch,
        }
        does[operation.kind](operation)

    def _add(self, operation: Operation) -> None:
        if operation.child is not None:
            self._add_child(operation.targets[0], operation.child)
            return
        self._place(_chunk_of(operation), self._position_at(operation.position))

    def _add_child(self, target: str, child: JsonObject) -> None:
        old, position = self._required(target)
        new = self.chunk(old.type, old.content)
        grown = replace(
            old,
            id=new.id,
            children=(*old.children, child),
            parents=(old.id,),
            custom={**old.custom, "derivedFrom": old.id},
        )
        self._remove(old)
        self._place(grown, position)

    def _replace(self, operation: Operation) -> None:
        old, position = self._required(operation.targets[0])
        new = _chunk_of(operation)
        if operation.kind is OperationKind.UPDATE and old.id not in new.parents:
            new = replace(new, parents=(old.id, *new.parents))
        self._remove(old)
        self._place(new, position)

    def _delete(self, operation: Operation) -> None:
        self._remove(self._required(operation.targets[0])[0])

    def _reorder(self, operation: Operation) -> None:
        moved, _ = self._required(operation.targets[0])
        states.unplace(self._tx, thread=self.thread, chunk_id=moved.id, state=self.number)
        position = self._position_at(operation.position)
        states.place(self._tx, thread=self.thread, chunk_id=moved.id, state=self.number, position=position)

    def _batch_replace(self, operation: Operation) -> None:
        found = [states.placed(self._tx, thread=self.thread, chunk_id=target) for target in operation.targets]
        present = [each for each in found if each is not None]
        for old, _ in present:
            self._remove(old)
        first = min((position for _, position in present), default=None)
        self._place(_chunk_of(operation), self._position_at(None) if first is None else first)

    def _batch(self, operation: Operation) -> None:
        for each in operation.operations:
            self.apply(each)

    def _required(self, target: str) -> tuple[Chunk, int]:
        found = states.placed(self._tx, thread=self.thread, chunk_id=target)
        if found is None:
            raise Conflict(f"chunk {target} is not in the current state.", hint="Read the state and try again.")
        return found

    def _place(self, chunk: Chunk, position: int) -> None:
        counted = replace(chunk, tokens=self._tokens.count(chunk.text))
        states.put_chunk(self._tx, thread=self.thread, chunk=counted)
        states.place(self._tx, thread=self.thread, chunk_id=chunk.id, state=self.number, position=position)
        self.total_tokens += counted.tokens
        self.compressible_tokens += counted.tokens if counted.compressible else 0
        self.added.append(counted)

    def _remove(self, chunk: Chunk) -> None:
        states.unplace(self._tx, thread=self.thread, chunk_id=chunk.id, state=self.number)
        self.total_tokens -= chunk.tokens
        self.compressible_tokens -= chunk.tokens if chunk.compressible else 0
        self.removed.append(chunk.id)

    def _position_at(self, index: int | None) -> int:
        """Return a free position before the chunk that is at an index now, or after the last chunk."""
        if index is None:
            self.last_position += GAP
            return self.last_position
        if index < 0:
            raise Invalid(f"the index {index} of a chunk is negative.", hint="Count from 0.")
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
            states.unplace(self._tx, thread=self.thread, chunk_id=chunk.id, state=self.number)
            self.last_position += GAP
            states.place(
                self._tx, thread=self.thread, chunk_id=chunk.id, state=self.number, position=self.last_position
            )


def _chunk_of(operation: Operation) -> Chunk:
    if operation.chunk is None:
        raise Invalid(f"{operation.kind} needs a chunk.", hint="Create one with ChunkList.chunk(…).")
    return operation.chunk
