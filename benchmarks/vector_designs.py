"""The indexes that `benchmarks.vector_indexes` compares, each on a table of its own."""

# pyright: reportUnknownMemberType=false

from collections.abc import Sequence
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray

Vectors = NDArray[Any]
_PARTITIONS = 16
_PROBED = 0.1
"""The part of a space's lists that is searched."""
_ROUNDS = 6
_SAMPLE = 64
"""Vectors for each centroid from which the centroids are made."""


def _text(vector: Vectors) -> str:
    return "[" + ",".join(f"{value:.5g}" for value in vector.tolist()) + "]"


class Design:
    """A table of vectors, searched row by row."""

    def __init__(self, link: "psycopg.Connection[Any]", dimension: int) -> None:
        self._link = link
        self._dimension = dimension
        self._create()

    def _create(self) -> None:
        self._run(
            f"CREATE TABLE v (space int, list int, id int, vector halfvec({self._dimension}),"
            " PRIMARY KEY (space, list, id))"
        )

    def load(self, vectors: Vectors, starts: Sequence[int]) -> None:
        """Store the vectors of all spaces, before any index is built."""
        if self._size("loaded") == 0:
            self._run(f"CREATE UNLOGGED TABLE loaded (space int, id int, vector halfvec({self._dimension}))")
            with self._link.cursor() as cursor, cursor.copy("COPY loaded FROM STDIN") as copy:
                for space in range(len(starts) - 1):
                    for row in range(starts[space], starts[space + 1]):
                        copy.write_row((space, row, _text(vectors[row])))
        self._run("INSERT INTO v SELECT space, 0, id, vector FROM loaded")
        self._run("SET maintenance_work_mem = '2GB'")
        self._run("VACUUM ANALYZE v")

    def build(self, large: Sequence[int]) -> None:
        """Build the indexes, which are for the `large` spaces unless they are for all."""

    def nearest(self, space: int, question: Vectors, *, is_large: bool) -> list[int]:
        """Return the ids of the ten nearest vectors of a space."""
        del is_large
        return self._ids(
            "SELECT id FROM v WHERE space = %s ORDER BY vector <=> %s::halfvec LIMIT 10", space, _text(question)
        )

    def add(self, space: int, ids: Sequence[int], vectors: Vectors, *, is_large: bool) -> None:
        """Store vectors in one transaction."""
        del is_large
        self._insert(space, [0] * len(ids), ids, vectors)

    def delete(self, ids: Sequence[int]) -> None:
        """Delete vectors by id."""
        self._run("CREATE TEMP TABLE gone AS SELECT unnest(%s::int[]) AS id", [list(ids)])
        self._run("DELETE FROM v USING gone WHERE v.id = gone.id")
        self._run("DROP TABLE gone")

    def vacuum(self) -> None:
        """Remove deleted vectors from the files."""
        self._run("VACUUM (INDEX_CLEANUP ON) v")

    def index_bytes(self) -> int:
        """Return the size of the indexes other than the key."""
        return 0

    def drop(self) -> None:
        """Remove the table."""
        self._run("DROP TABLE v")

    def _run(self, query: str, values: Sequence[object] | None = None) -> "psycopg.Cursor[Any]":
        return self._link.execute(query.encode(), values)

    def _ids(self, query: str, *values: object) -> list[int]:
        return [row[0] for row in self._run(query, values)]

    def _insert(self, space: int, lists: Sequence[int], ids: Sequence[int], vectors: Vectors) -> None:
        with self._link.transaction(), self._link.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO v VALUES (%s, %s, %s, %s::halfvec)",
                [(space, at, row, _text(vector)) for at, row, vector in zip(lists, ids, vectors, strict=True)],
            )

    def _size(self, pattern: str) -> int:
        row = self._run(
            "SELECT coalesce(sum(pg_relation_size(oid)), 0) FROM pg_class WHERE relname LIKE %s", [pattern]
        ).fetchone()
        return 0 if row is None else int(row[0])


class Own(Design):
    """An HNSW index for each large space."""

    def build(self, large: Sequence[int]) -> None:
        for space in large:
            self._run(f"CREATE INDEX near_{space} ON v USING hnsw (vector halfvec_cosine_ops) WHERE space = {space}")

    def nearest(self, space: int, question: Vectors, *, is_large: bool) -> list[int]:
        if not is_large:
            return super().nearest(space, question, is_large=False)
        self._run("SET hnsw.ef_search = 100")
        self._run("SET hnsw.iterative_scan = strict_order")
        query = f"SELECT id FROM v WHERE space = {space} ORDER BY vector <=> %s::halfvec LIMIT 10"
        return self._ids(query, _text(question))

    def index_bytes(self) -> int:
        return self._size("near_%")


class Shared(Design):
    """An HNSW index for each of a few hash partitions, which all their spaces share."""

    def _create(self) -> None:
        self._run(
            f"CREATE TABLE v (space int, list int, id int, vector halfvec({self._dimension}),"
            " PRIMARY KEY (space, list, id)) PARTITION BY HASH (space)"
        )
        for part in range(_PARTITIONS):
            self._run(f"CREATE TABLE v_{part} PARTITION OF v FOR VALUES WITH (MODULUS {_PARTITIONS}, REMAINDER {part})")

    def build(self, large: Sequence[int]) -> None:
        del large
        for part in range(_PARTITIONS):
            self._run(f"CREATE INDEX near_{part} ON v_{part} USING hnsw (vector halfvec_cosine_ops)")

    def nearest(self, space: int, question: Vectors, *, is_large: bool) -> list[int]:
        del is_large  # PostgreSQL chooses between the key and the index
        self._run("SET hnsw.ef_search = 100")
        self._run("SET hnsw.iterative_scan = strict_order")
        return super().nearest(space, question, is_large=True)

    def index_bytes(self) -> int:
        return self._size("near_%")


class Lists(Design):
    """An inverted file: each vector of a large space is in the list of its nearest centroid."""

    def __init__(self, link: "psycopg.Connection[Any]", dimension: int) -> None:
        super().__init__(link, dimension)
        self._centroids: dict[int, Vectors] = {}
        self._vectors: Vectors | None = None
        self._starts: Sequence[int] = ()

    def load(self, vectors: Vectors, starts: Sequence[int]) -> None:
        super().load(vectors, starts)
        self._vectors, self._starts = vectors, starts

    def build(self, large: Sequence[int]) -> None:
        assert self._vectors is not None
        for space in large:
            first = self._starts[space]
            vectors = self._vectors[first : self._starts[space + 1]].astype(np.float32)
            self._centroids[space] = centroids = _cluster(vectors)
            lists = _assign(vectors, centroids)
            with self._link.transaction():
                self._run("CREATE TEMP TABLE moved (id int PRIMARY KEY, list int) ON COMMIT DROP")
                with self._link.cursor() as cursor, cursor.copy("COPY moved FROM STDIN") as copy:
                    for row, at in enumerate(lists.tolist(), first):
                        copy.write_row((row, at))
                self._run(
                    "UPDATE v SET list = moved.list FROM moved WHERE space = %s AND v.list = 0 AND v.id = moved.id",
                    [space],
                )
        self._run("VACUUM ANALYZE v")

    def nearest(self, space: int, question: Vectors, *, is_large: bool) -> list[int]:
        if not is_large:
            return super().nearest(space, question, is_large=False)
        centroids = self._centroids[space]
        probed = np.argsort(-(centroids @ question))[: max(1, int(_PROBED * len(centroids)))]
        return self._ids(
            "SELECT id FROM v WHERE space = %s AND list = ANY(%s) ORDER BY vector <=> %s::halfvec LIMIT 10",
            space,
            probed.tolist(),
            _text(question),
        )

    def add(self, space: int, ids: Sequence[int], vectors: Vectors, *, is_large: bool) -> None:
        lists = _assign(vectors.astype(np.float32), self._centroids[space]).tolist() if is_large else [0] * len(ids)
        self._insert(space, lists, ids, vectors)

    def index_bytes(self) -> int:
        return sum(each.nbytes for each in self._centroids.values())


def _cluster(vectors: Vectors) -> Vectors:
    """Return the centroids of vectors: k-means on a sample, by cosine."""
    dice = np.random.default_rng(1)
    count = int(len(vectors) ** 0.5)
    sample = vectors[dice.permutation(len(vectors))[: count * _SAMPLE]]
    centroids = sample[:count].copy()
    for _ in range(_ROUNDS):
        nearest = _assign(sample, centroids)
        for at in range(count):
            members = sample[nearest == at]
            if len(members):
                mean = members.mean(axis=0)
                centroids[at] = mean / np.linalg.norm(mean)
    return centroids


def _assign(vectors: Vectors, centroids: Vectors) -> Vectors:
    return np.argmax(vectors @ centroids.T, axis=1)


DESIGNS: dict[str, type[Design]] = {"exact": Design, "own": Own, "lists": Lists, "shared": Shared}
"""The designs by name."""
