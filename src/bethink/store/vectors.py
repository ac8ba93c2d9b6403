"""Vectors: an index over texts that can be rebuilt at any time, and in which no vector outlives its text."""

import math
from collections.abc import Collection, Sequence
from datetime import datetime
from enum import StrEnum
from itertools import groupby
from struct import pack
from typing import Any, NamedTuple

from bethink.base.frozen import frozen
from bethink.errors import ConfigurationError, ConflictError, ModelResponseError
from bethink.model.filters import Filter
from bethink.model.jobs import JobKind, JobStatus
from bethink.model.moments import Micros, from_micros
from bethink.model.records import checked_name
from bethink.model.refs import Ref, RefKind
from bethink.store import jobs
from bethink.store.db import Row, Tx
from bethink.store.sql import Dialect

GROWN = 50_000
"""A space with more vectors than this is better searched through an HNSW index than row by row."""

_MAX_HNSW_DIMENSION = 4_000
_SLICE = 512
_RECENT_SESSIONS = 64
_NO_INDEX = 0
_KINDS = {kind.value: kind for kind in RefKind}
"""Kinds by value: calling the enum costs ten times as much, and a question is compared with many rows."""


class IndexStatus(StrEnum):
    """The status of an index: it is searched as soon as it begins to fill, until it is retired."""

    FILLING = "filling"
    LIVE = "live"
    RETIRED = "retired"


@frozen
class VectorIndex:
    """The vectors of one embedder, in all spaces."""

    id: int
    embedder: str
    dimension: int
    status: IndexStatus
    created_at: datetime


@frozen
class Unembedded:
    """A text without a vector. Only messages have a speaker, a role and a time."""

    ref: Ref
    text: str
    at: Micros
    speaker: str | None = None
    role: str | None = None


class Embedded(NamedTuple):
    """A text and a vector for each of its parts, in order."""

    source: Unembedded
    vectors: Sequence[Sequence[float]]


class Near(NamedTuple):
    """A text close to a question: which part of it, and the cosine of the angle between the two."""

    ref: Ref
    part: int
    similarity: float


def available(tx: Tx) -> bool:
    """Return whether this database can store vectors: PostgreSQL without pgvector cannot."""
    return tx.has_table("vectors")


def register(tx: Tx, *, embedder: str, dimension: int) -> VectorIndex:
    """Return the index of an embedder, creating it at first use; a retired index is filled again.

    Raises `ConfigurationError` if the server does not have pgvector.
    """
    checked_name(embedder, "an embedder name")
    index = _find(tx, embedder, dimension)
    if index is None or index.status is IndexStatus.RETIRED:
        tx.lock_schema()
        if not available(tx) and not _create_tables(tx):
            raise ConfigurationError(
                "This PostgreSQL server does not have pgvector 0.7 or newer, so it cannot store vectors.",
                hint="Install pgvector there, and run CREATE EXTENSION vector in this database as a superuser.",
            )
        tx.run("open_vector_index", embedder=embedder, dimension=dimension, now=tx.now)
        index = _find(tx, embedder, dimension)
        assert index is not None  # noqa: S101 - written in this transaction
    return index


def _create_tables(tx: Tx) -> bool:
    row = tx.first("make_vectors")
    return row is not None and row["made"]


def live(tx: Tx, *, embedder: str, dimension: int) -> VectorIndex | None:
    """Return the index for questions to this embedder, complete or not; None if it has none, or a retired one.

    No other index is searched: vectors of different embedders cannot be compared.
    """
    index = _find(tx, embedder, dimension)
    return None if index is None or index.status is IndexStatus.RETIRED else index


def indexes(tx: Tx) -> list[VectorIndex]:
    """Return every index, the last registered first: that is the one that workers fill."""
    return [_index(row) for row in tx.all("list_vector_indexes")]


def _find(tx: Tx, embedder: str, dimension: int) -> VectorIndex | None:
    row = tx.first("find_vector_index", embedder=embedder, dimension=dimension)
    return None if row is None else _index(row)


def missing(tx: Tx, *, space: str, index: VectorIndex, limit: int) -> list[Unembedded]:
    """Return texts of a space that have no vector yet, the newest first."""
    return [_text_to_embed(row) for row in tx.all("missing_vectors", space=space, index=index.id, limit=limit)]


def newest_missing(tx: Tx, *, space: str, index: VectorIndex | None, limit: int, exact: bool) -> list[Unembedded]:
    """Return the newest texts of a space that have no vector yet, at little cost; all of them if there is no index.

    Unless `exact`, which reads the entire space, only the newest messages of the newest sessions are checked.
    """
    job = tx.first("index_job", space=space, kind=JobKind.INDEX, key=jobs.SPACE_KEY)
    if index is not None and job is not None and job["status"] == JobStatus.DONE:
        return []
    number = _NO_INDEX if index is None else index.id
    if exact:
        rows = tx.all("missing_vectors", space=space, index=number, limit=limit)
    else:
        rows = tx.all("recent_missing_vectors", space=space, index=number, limit=limit, sessions=_RECENT_SESSIONS)
    return [item for item in map(_text_to_embed, rows) if item.text.strip()]


def _text_to_embed(row: Row) -> Unembedded:
    return Unembedded(
        ref=Ref(_KINDS[row["kind"]], row["id"], row["number"]),
        text=_text(row),
        at=row["said_at"],
        speaker=row["name"],
        role=row["role"],
    )


def put(tx: Tx, *, space: str, index: VectorIndex, rows: Sequence[Embedded]) -> int:
    """Store vectors for texts that have not changed since, and return how many; the others are skipped.

    Raises `ConflictError` if the index was dropped in the meantime, and `ModelResponseError` for an invalid vector.
    """
    existing = _find(tx, index.embedder, index.dimension)
    if existing is None or existing.id != index.id:
        raise ConflictError(
            f"Index {index.id} of {index.embedder} was dropped.", hint="Run 'bethink data reindex' again."
        )
    current = _current(tx, space, [item.source.ref for item in rows])
    fresh = {item.source.ref: item.vectors for item in rows if current.get(item.source.ref) == item.source.text}
    values = [
        (space, index.id, ref.kind.value, ref.id, ref.number, part, _encode(tx, vector, index.dimension))
        for ref, vectors in fresh.items()
        for part, vector in enumerate(vectors)
    ]
    if values:
        tx.insert("put_vectors", values)
    return len(fresh)


def _current(tx: Tx, space: str, refs: list[Ref]) -> dict[Ref, str]:
    """Return the current texts, and lock them, so that none is deleted before the commit."""
    texts: dict[Ref, str] = {}
    for kind, group in groupby(sorted(refs, key=lambda ref: ref.parts), key=lambda ref: ref.kind):
        kind_refs = list(group)
        ids, numbers = sorted({ref.id for ref in kind_refs}), sorted({ref.number for ref in kind_refs})
        for row in tx.all(f"hold_{kind.value}", space=space, ids=ids, numbers=numbers):
            texts[Ref(kind, row["id"], row["number"])] = _text(row)
    return texts


def similarities(
    tx: Tx,
    *,
    space: str,
    index: VectorIndex,
    question: Sequence[float],
    limit: int,
    kinds: Collection[RefKind] | None = None,
    only: Filter | None = None,
) -> list[Near]:
    """Return the texts closest to the vector of a question, best first. Each part of a text counts separately.

    Every vector of the space that matches the filter is compared, unless the space has an HNSW index and nothing is
    filtered.
    """
    length = _length(question, index.dimension)
    if limit <= 0 or length == 0:
        return []
    unit = [value / length for value in question]
    kind_names = None if kinds is None or set(kinds) == set(RefKind) else [kind.value for kind in kinds]
    if tx.dialect is Dialect.SQLITE:
        matches = _in_file(tx, space, index, unit, limit=limit, kinds=kind_names, only=only)
    else:
        query = "nearest_vectors" if only is None else "nearest_within"
        parameters = {
            "space": space,
            "index": index.id,
            "question": _to_literal(unit),
            "kinds": kind_names,
            "limit": limit,
        }
        rows = tx.all(query, only, **parameters)
        matches = [_near(row, row["similarity"]) for row in rows]
    return sorted(matches, key=lambda near: (-near.similarity, near.ref.parts, near.part))


def _in_file(
    tx: Tx,
    space: str,
    index: VectorIndex,
    unit: list[float],
    *,
    limit: int,
    kinds: list[str] | None,
    only: Filter | None,
) -> list[Near]:
    numpy = _numpy()
    all_kinds = [kind.value for kind in RefKind]
    rows = tx.all("nearest_vectors", only, space=space, index=index.id, kinds=all_kinds if kinds is None else kinds)
    halves = numpy.frombuffer(b"".join([row["vector"] for row in rows]), dtype="<f2").reshape(-1, index.dimension)
    question, scores = numpy.array(unit, dtype=numpy.float32), numpy.empty(len(rows), dtype=numpy.float32)
    for start in range(0, len(rows), _SLICE):  # a slice fits into the processor's cache
        end = start + _SLICE
        scores[start:end] = halves[start:end].astype(numpy.float32) @ question
    best = numpy.argpartition(-scores, limit)[:limit] if limit < len(rows) else range(len(rows))
    return [_near(rows[int(row_number)], float(scores[row_number])) for row_number in best]


def _numpy() -> Any:
    try:
        import numpy  # noqa: PLC0415 - most processes never compare vectors
    except ImportError as error:
        raise ConfigurationError(
            "Searching vectors in SQLite needs numpy, which is not installed.",
            hint="Install an extra that includes it: bethink[static] or bethink[onnx].",
        ) from error
    return numpy


def counts(tx: Tx, *, space: str, index: VectorIndex) -> tuple[int, int]:
    """Count the texts of a space that have vectors in an index, and those that have none yet."""
    row = tx.first("count_vectors", space=space, index=index.id)
    return (0, 0) if row is None else (row["filled"], row["missing"])


def switch(tx: Tx, index: VectorIndex) -> None:
    """Make an index the live one and retire all others; a retired index is kept until it is dropped."""
    tx.run("switch_vector_index", id=index.id)


def drop(tx: Tx, index: VectorIndex) -> bool:
    """Drop an index with all its vectors, in every space. Returns False if it does not exist."""
    return tx.run("drop_vector_index", id=index.id) == 1


def empty_retired(tx: Tx) -> list[VectorIndex]:
    """Remove the vectors of retired indexes, in every space, and return those that had any.

    They stay retired: a worker with old settings must not fill them again.
    """
    tx.lock_schema()  # otherwise one of them could be opened again in the meantime
    retired = [index for index in indexes(tx) if index.status is IndexStatus.RETIRED]
    filled = [index for index in retired if (row := tx.first("is_vector_index_filled", id=index.id)) and row["filled"]]
    for index in filled:
        drop(tx, index)
        tx.run("retire_vector_index", embedder=index.embedder, dimension=index.dimension, created_at=index.created_at)
    return filled


def growth(tx: Tx, *, space: str, index: VectorIndex, above: int = GROWN) -> list[str]:
    """Return the statements that build an HNSW index for a space, if it has grown too large to scan.

    They cannot run in a transaction. An unfinished index is dropped first.
    """
    if tx.dialect is Dialect.SQLITE or index.dimension > _MAX_HNSW_DIMENSION:
        return []
    row = tx.first("describe_growth", space=space, index=index.id, dimension=index.dimension)
    if row is None or row["count"] <= above or row["valid"]:
        return []
    return [row["build"]] if row["valid"] is None else [row["clear"], row["build"]]


def may_grow(tx: Tx, *, space: str) -> bool:
    """Return whether a space has an open session: indexing is not queued for each of its messages."""
    return tx.first("any_open_session", space=space) is not None


def queue_all_spaces(tx: Tx) -> None:
    """Queue the indexing of every space."""
    tx.run("queue_everywhere", kind=JobKind.INDEX, key=jobs.SPACE_KEY, now=tx.now)
    tx.queued.add(JobKind.INDEX)


def has_pending(tx: Tx) -> bool:
    """Return whether a space is still to be indexed; abandoned jobs do not count."""
    return tx.first("any_left", kind=JobKind.INDEX) is not None


def count_pending(tx: Tx) -> int:
    """Count the spaces that are still to be indexed."""
    row = tx.first("count_left", kind=JobKind.INDEX)
    return 0 if row is None else row["count"]


def _encode(tx: Tx, vector: Sequence[float], dimension: int) -> bytes | str:
    length = _length(vector, dimension) or 1.0  # an embedder may return a zero vector for a meaningless text
    unit = [value / length for value in vector]
    return pack(f"<{dimension}e", *unit) if tx.dialect is Dialect.SQLITE else _to_literal(unit)


def _length(vector: Sequence[float], dimension: int) -> float:
    length = math.sqrt(sum(value * value for value in vector))
    if len(vector) != dimension or not math.isfinite(length):
        raise ModelResponseError(
            f"The embedder did not return a vector of {dimension} numbers.", hint="Check its name and dimension."
        )
    return length


def _to_literal(vector: Sequence[float]) -> str:
    return f"[{','.join(f'{value:.6g}' for value in vector)}]"


def _near(row: Row, similarity: float) -> Near:
    # A zero vector has no angle to anything.
    return Near(
        Ref(_KINDS[row["kind"]], row["id"], row["number"]), row["part"], 0.0 if math.isnan(similarity) else similarity
    )


def _text(row: Row) -> str:
    return "\n\n".join(text for text in (row["title"], row["description"], row["body"]) if text.strip())


def _index(row: Row) -> VectorIndex:
    return VectorIndex(
        id=row["id"],
        embedder=row["embedder"],
        dimension=row["dimension"],
        status=IndexStatus(row["status"]),
        created_at=from_micros(row["created_at"]),
    )
