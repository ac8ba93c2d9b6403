"""Makes vectors anew for another embedder, and finds large spaces a faster way to theirs."""

from collections.abc import Callable

import anyio
from anyio import to_thread

from bethink.errors import Misconfigured
from bethink.extend import Embedder
from bethink.store import vectors
from bethink.store.db import Database, Tx
from bethink.store.vectors import IndexStatus, VectorIndex

_PAUSE = 0.5


class Vectors:
    """The vectors of one embedder, which workers make and which can always be made anew."""

    def __init__(self, database: Database, embedder: Embedder) -> None:
        self._database = database
        self._embedder = embedder

    async def reindex(self, *, progress: Callable[[int], None] | None = None) -> VectorIndex:
        """Promise to embed what is not yet, in every space, for an embedder that may be new here; workers do it.

        With `progress` it waits for them, and says how many spaces are left. Raises `Misconfigured` without pgvector.
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
        """Count the spaces that are still to be indexed."""
        return await self._database.transact(vectors.left, read=True)

    async def grow(self, *, space: str, above: int = vectors.GROWN) -> bool:
        """Build an HNSW index for a space that has more than `above` vectors, while it is used; say whether it did.

        Only PostgreSQL has such. It takes seconds for each ten thousand vectors, and makes writing them slower.
        """
        name, dimension = self._embedder.name, await self._dimension()

        def find(tx: Tx) -> list[str]:
            index = vectors.live(tx, embedder=name, dimension=dimension)
            return [] if index is None else vectors.growth(tx, space=space, index=index, above=above)

        statements = await self._database.transact(find, space=space, read=True)
        for statement in statements:
            await self._database.run_alone(statement)
        return bool(statements)

    async def _dimension(self) -> int:
        # The first look may load a model: not on the event loop, and in no transaction.
        return await to_thread.run_sync(lambda: self._embedder.dimension)


def vectors_of(database: Database, embedder: Embedder | None) -> Vectors:
    """Return the vectors of a memory. Raises `Misconfigured` without an embedder."""
    if embedder is None:
        raise Misconfigured("no embedder is configured.", hint="Set embedder, such as static:FOLDER or openai:NAME.")
    return Vectors(database, embedder)


async def switch_when_full(database: Database, index: VectorIndex) -> bool:
    """Let an index be the live one if no space is left to be indexed, retire the others, and say whether it is."""
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
