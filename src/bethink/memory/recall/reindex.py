"""Rebuild vectors for another embedder, and build approximate indexes for large spaces."""

from collections.abc import Callable, Sequence

import anyio
from anyio import to_thread

from bethink.errors import ConfigurationError
from bethink.extend import Embedder
from bethink.store import vectors
from bethink.store.db import Database, Tx
from bethink.store.vectors import IndexStatus, VectorIndex

_PAUSE = 0.5


class Vectors:
    """The vectors of one embedder. Workers create them, and they can always be rebuilt."""

    def __init__(self, database: Database, embedder: Embedder) -> None:
        self._database = database
        self._embedder = embedder

    async def reindex(self, *, progress: Callable[[int], None] | None = None) -> VectorIndex:
        """Queue the embedding of every text that has no vector of this embedder yet. Workers do it.

        With `progress`, wait for them and call it with the number of remaining spaces. Raises `ConfigurationError`
        without pgvector.
        """
        name, dimension = self._embedder.name, await self._dimension()

        def begin(tx: Tx) -> VectorIndex:
            index = vectors.register(tx, embedder=name, dimension=dimension)
            vectors.queue_all_spaces(tx)
            return index

        index = await self._database.transact(begin, repeatable=True)
        while progress is not None:
            pending = await self.count_pending()
            progress(pending)
            if not pending:
                break
            await anyio.sleep(_PAUSE)
        await switch_when_full(self._database, index)
        return index

    async def count_pending(self) -> int:
        """Return the number of spaces that still have to be indexed."""
        return await self._database.transact(vectors.count_pending, read_only=True)

    async def drop_retired(self) -> list[str]:
        """Delete the vectors of embedders that were replaced, and return the names of these embedders."""
        return [index.embedder for index in await self._database.transact(vectors.empty_retired, repeatable=True)]

    async def grow(self, *, space: str, above: int = vectors.GROWN) -> bool:
        """Build an HNSW index for a space with more than `above` vectors, without blocking it; return whether it did.

        Workers do this automatically. PostgreSQL only. It takes some seconds for every ten thousand vectors, and makes
        writing vectors slower.
        """
        name, dimension = self._embedder.name, await self._dimension()
        index = await self._database.transact(
            lambda tx: vectors.live(tx, embedder=name, dimension=dimension), read_only=True
        )
        return index is not None and await grow(self._database, index, space=space, above=above)

    async def _dimension(self) -> int:
        # The first access may load a model: keep that off the event loop and out of transactions.
        return await to_thread.run_sync(lambda: self._embedder.dimension)


def vectors_of(database: Database, embedder: Embedder | None) -> Vectors:
    """Return the vectors of an embedder. Raises `ConfigurationError` if there is no embedder."""
    if embedder is None:
        raise ConfigurationError("No embedder is configured.", hint="Install `bethink[local]`, or set `embedder`.")
    return Vectors(database, embedder)


async def grow(database: Database, index: VectorIndex, *, space: str, above: int) -> bool:
    """Build an HNSW index for a space with more than `above` vectors in an index; return whether it did."""
    statements = await database.transact(
        lambda tx: vectors.growth(tx, space=space, index=index, above=above), space=space, read_only=True
    )
    for statement in statements:
        await database.run_alone(statement)
    return bool(statements)


def find_protected_index(embedder: Embedder, indexes: Sequence[VectorIndex]) -> VectorIndex | None:
    """Return the index in use that an embedder must not replace: a default embedder replaces none without a reindex.

    Its `replaces` lists exceptions: the beginnings of the names of embedders that were the default before it.
    """
    in_use = [index for index in indexes if index.status is not IndexStatus.RETIRED]
    if not in_use or not getattr(embedder, "automatic", False):
        return None
    if any(index.embedder == embedder.name for index in indexes):
        return None
    earlier: tuple[str, ...] = getattr(embedder, "replaces", ())
    return None if in_use[0].embedder.startswith(earlier) else in_use[0]


async def switch_when_full(database: Database, index: VectorIndex) -> bool:
    """Make an index the live one and retire the others once every space is indexed; return whether it is live."""
    if await database.transact(vectors.has_pending, read_only=True):
        return False

    def body(tx: Tx) -> bool:
        now = vectors.live(tx, embedder=index.embedder, dimension=index.dimension)
        if now is None or now.id != index.id:
            return False
        if now.status is IndexStatus.FILLING:
            vectors.switch(tx, index)
        return True

    return await database.transact(body, repeatable=True)
