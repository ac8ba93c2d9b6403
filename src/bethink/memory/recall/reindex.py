"""Rebuild vectors for another embedder, and build approximate indexes for large spaces."""

from collections.abc import Callable, Sequence

import anyio
from anyio import to_thread

from bethink.errors import Misconfigured
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

        With `progress`, wait for them and call it with the number of spaces left. Raises `Misconfigured` without
        pgvector.
        """
        name, dimension = self._embedder.name, await self._dimension()

        def begin(tx: Tx) -> VectorIndex:
            index = vectors.register(tx, embedder=name, dimension=dimension)
            vectors.promise_everywhere(tx)
            return index

        index = await self._database.transact(begin, repeatable=True)
        while progress is not None:
            left = await self.left()
            progress(left)
            if not left:
                break
            await anyio.sleep(_PAUSE)
        await switch_when_full(self._database, index)
        return index

    async def left(self) -> int:
        """Return the number of spaces that still have to be indexed."""
        return await self._database.transact(vectors.left, read=True)

    async def drop_retired(self) -> list[str]:
        """Remove the vectors of embedders that another one replaced; return the names of these embedders."""
        return [each.embedder for each in await self._database.transact(vectors.empty_retired, repeatable=True)]

    async def grow(self, *, space: str, above: int = vectors.GROWN) -> bool:
        """Build an HNSW index for a space with more than `above` vectors, without blocking it; return whether it did.

        Workers do this by themselves. PostgreSQL only. It takes seconds for every ten thousand vectors, and makes
        writing vectors slower.
        """
        name, dimension = self._embedder.name, await self._dimension()
        index = await self._database.transact(
            lambda tx: vectors.live(tx, embedder=name, dimension=dimension), read=True
        )
        return index is not None and await grow(self._database, index, space=space, above=above)

    async def _dimension(self) -> int:
        # The first access may load a model: keep that off the event loop and out of transactions.
        return await to_thread.run_sync(lambda: self._embedder.dimension)


def vectors_of(database: Database, embedder: Embedder | None) -> Vectors:
    """Return the vectors of an embedder. Raises `Misconfigured` if there is no embedder."""
    if embedder is None:
        raise Misconfigured("no embedder is configured.", hint="Install bethink[local], or set embedder.")
    return Vectors(database, embedder)


async def grow(database: Database, index: VectorIndex, *, space: str, above: int) -> bool:
    """Build an HNSW index for a space with more than `above` vectors in an index; return whether it did."""
    statements = await database.transact(
        lambda tx: vectors.growth(tx, space=space, index=index, above=above), space=space, read=True
    )
    for statement in statements:
        await database.run_alone(statement)
    return bool(statements)


def gives_way(embedder: Embedder, known: Sequence[VectorIndex]) -> VectorIndex | None:
    """Return the index in use that an embedder must not replace: a default embedder never does, only a reindex."""
    in_use = [each for each in known if each.status is not IndexStatus.RETIRED]
    mine = any(each.embedder == embedder.name for each in known)
    return in_use[0] if in_use and not mine and getattr(embedder, "automatic", False) else None


async def switch_when_full(database: Database, index: VectorIndex) -> bool:
    """Make an index the live one and retire the others once every space is indexed; return whether it is live."""
    if await database.transact(vectors.any_left, read=True):
        return False

    def body(tx: Tx) -> bool:
        now = vectors.live(tx, embedder=index.embedder, dimension=index.dimension)
        if now is None or now.id != index.id:
            return False
        if now.status is IndexStatus.FILLING:
            vectors.switch(tx, index)
        return True

    return await database.transact(body, repeatable=True)
