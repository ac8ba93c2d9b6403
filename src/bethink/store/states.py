"""Chunks and states of threads. A state is stored as its difference from the one before."""

import json

from bethink.model.ids import new_id
from bethink.model.moments import from_micros
from bethink.model.text import canonical_json
from bethink.model.working import Chunk, ChunkType, QueuedEvent, Retention, StateCause, StateInfo, SubType, Thread
from bethink.store.db import NO_LIMIT, Row, Tx


def put_chunk(tx: Tx, *, thread: Thread, chunk: Chunk) -> None:
    """Store a chunk. Storing the same chunk again changes nothing."""
    tx.run(
        "insert_chunk",
        space=thread.space,
        thread=thread.id,
        id=chunk.id,
        type=chunk.type,
        subtype=chunk.subtype,
        content=canonical_json(chunk.content),
        children=canonical_json(chunk.children),
        retention=chunk.retention,
        mutable=int(chunk.mutable),
        priority=chunk.priority,
        parents=canonical_json(chunk.parents),
        custom=canonical_json(chunk.custom),
        tokens=chunk.tokens,
        created_at=chunk.created_at,
    )


def place_chunk(tx: Tx, *, thread: Thread, chunk_id: str, state: int, position: int) -> None:
    """Put a chunk at a position from a state on."""
    tx.run("place_chunk", space=thread.space, thread=thread.id, chunk=chunk_id, state=state, position=position)


def unplace_chunk(tx: Tx, *, thread: Thread, chunk_id: str, state: int) -> None:
    """Remove a chunk from its position from a state on."""
    tx.run("unplace_chunk", space=thread.space, thread=thread.id, chunk=chunk_id, state=state)


def find_placed(tx: Tx, *, thread: Thread, chunk_id: str) -> tuple[Chunk, int] | None:
    """Return a chunk of the current state and its position, if it is there."""
    row = tx.first("find_placed", space=thread.space, thread=thread.id, chunk=chunk_id)
    return None if row is None else (_chunk(row), row["position"])


def current(tx: Tx, *, thread: Thread) -> list[tuple[Chunk, int]]:
    """Return the chunks of the current state and their positions, in order."""
    rows = tx.all("list_placed", space=thread.space, thread=thread.id)
    return [(_chunk(row), row["position"]) for row in rows]


def at(tx: Tx, *, thread: Thread, number: int) -> list[Chunk]:
    """Return the chunks of an earlier state, in order."""
    rows = tx.all("list_placed_at", space=thread.space, thread=thread.id, state=number)
    return [_chunk(row) for row in rows]


def record(
    tx: Tx,
    *,
    thread: Thread,
    number: int,
    source: StateCause,
    cause: QueuedEvent | None = None,
    operations: list[str] | None = None,
    total_tokens: int = 0,
) -> None:
    """Record a state with its cause and its previous state."""
    tx.run(
        "insert_state",
        space=thread.space,
        thread=thread.id,
        number=number,
        id=new_id("state"),
        previous=number - 1 if number else None,
        source=source,
        event_id=None if cause is None else cause.id,
        event_type=None if cause is None else cause.event.type,
        step=thread.step_id,
        operations=canonical_json(operations or []),
        tokens=total_tokens,
        now=tx.now,
    )


def infos(tx: Tx, *, thread: Thread, first: int = 0, limit: int = NO_LIMIT) -> list[StateInfo]:
    """Return the states of a thread without their chunks, in order."""
    rows = tx.all("list_states", space=thread.space, thread=thread.id, **{"from": first}, limit=limit)
    return [
        StateInfo(
            thread_id=row["thread_id"],
            number=row["number"],
            id=row["id"],
            previous=row["previous"],
            source=StateCause(row["source"]),
            event_id=row["event_id"],
            event_type=row["event_type"],
            step_id=row["step_id"],
            operations=json.loads(row["operations"]),
            total_tokens=row["total_tokens"],
            recorded_at=from_micros(row["recorded_at"]),
        )
        for row in rows
    ]


def advance(
    tx: Tx, *, thread: Thread, number: int, position: int, tokens: tuple[int, int], pending: tuple[bool, bool]
) -> None:
    """Record the effect of an event on its thread: state, last position, tokens, and pending work."""
    tx.run(
        "advance_thread",
        space=thread.space,
        id=thread.id,
        state=number,
        position=position,
        total=tokens[0],
        compressible=tokens[1],
        compaction=int(pending[0]),
        truncation=int(pending[1]),
    )


def begin_at(tx: Tx, *, thread: Thread, position: int, total: int, compressible: int) -> None:
    """Set the last position and the tokens of a thread that does not start empty."""
    tx.run(
        "furnish_thread",
        space=thread.space,
        id=thread.id,
        position=position,
        total=total,
        compressible=compressible,
    )


def _chunk(row: Row) -> Chunk:
    return Chunk(
        id=row["id"],
        type=ChunkType(row["type"]),
        subtype=None if row["subtype"] is None else SubType(row["subtype"]),
        content=json.loads(row["content"]),
        children=tuple(json.loads(row["children"])),
        retention=Retention(row["retention"]),
        mutable=bool(row["mutable"]),
        priority=row["priority"],
        parents=tuple(json.loads(row["parents"])),
        custom=json.loads(row["custom"]),
        tokens=row["tokens"],
        created_at=from_micros(row["created_at"]),
    )
