"""Helpers for vector tests: an embedder that counts words, and the final content of a space."""

import hashlib
from collections.abc import Awaitable, Callable, Sequence

from bethink import Memory
from bethink.extend import Embedder, TextKind
from bethink.jobs.worker import Worker, WorkerOptions
from bethink.memory.recall.index import Indexer
from bethink.model.jobs import JobKind, LearnReport
from bethink.model.refs import Ref
from bethink.store import vectors
from bethink.store.db import Database, Tx
from bethink.store.vectors import Near, VectorIndex
from tests.conftest import memory_on

DIMENSION = 16


class Hashed:
    """An embedder that puts each word of a text into one of its numbers; it stands in for one that costs."""

    def __init__(self, name: str = "hashed", during: Callable[[], Awaitable[object]] | None = None) -> None:
        self.name = name
        self.dimension = DIMENSION
        self.asked: list[list[str]] = []
        self.kinds: list[TextKind] = []
        self.during = during

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "message") -> list[Sequence[float]]:
        self.asked.append(list(texts))
        self.kinds.append(kind)
        if self.during is not None:
            await self.during()
        return [hashed(text) for text in texts]


def hashed(text: str) -> list[float]:
    """The vector of a text, of length one unless it has no words."""
    counts = [0.0] * DIMENSION
    for word in text.lower().split():
        counts[hashlib.blake2b(word.encode(), digest_size=1).digest()[0] % DIMENSION] += 1.0
    length = sum(count * count for count in counts) ** 0.5 or 1.0
    return [count / length for count in counts]


async def index_all(database: Database, embedder: Embedder | None = None, **options: object) -> LearnReport:
    """Let a worker embed whatever is promised."""
    handler = Indexer(database=database, embedder=embedder or Hashed())
    settings = WorkerOptions(daily_cap=None, **options)  # pyright: ignore[reportArgumentType]
    return await Worker(database, {JobKind.INDEX: handler}, settings).run_once()


async def index_of(database: Database, name: str = "hashed") -> VectorIndex:
    """The index of an embedder, registered if need be."""
    return await database.transact(lambda tx: vectors.register(tx, embedder=name, dimension=DIMENSION))


async def nearest(database: Database, question: str, *, space: str = "alice", **wanted: object) -> list[Near]:
    """What is nearest to a question in a space."""
    index = await index_of(database)

    def body(tx: Tx) -> list[Near]:
        asked = {"limit": 100, **wanted}
        return vectors.similarities(
            tx, space=space, index=index, question=hashed(question), **asked  # pyright: ignore[reportArgumentType]
        )  # fmt: skip

    return await database.transact(body, space=space, read_only=True)


async def refs(database: Database, *, space: str = "alice") -> set[Ref]:
    """Everything of a space that has a vector."""
    index = await index_of(database)

    def body(tx: Tx) -> set[Ref]:
        anything = [1.0] * DIMENSION
        near = vectors.similarities(tx, space=space, index=index, question=anything, limit=10_000)
        return {each.ref for each in near}

    return await database.transact(body, space=space, read_only=True)


async def left_out(database: Database, *, space: str = "alice") -> list[Ref]:
    """Everything of a space that has no vector and should have one."""
    index = await index_of(database)
    found = await database.transact(
        lambda tx: vectors.missing(tx, space=space, index=index, limit=10_000), space=space, read_only=True
    )
    return [each.ref for each in found]


def remembering(database: Database) -> Memory:
    """A Memory that redacts nothing."""
    return memory_on(database)
