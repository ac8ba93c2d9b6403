"""Makes vectors anew for another embedder, and finds large spaces a faster way to theirs."""

from collections.abc import Callable

import anyio
from anyio import to_thread

from bethink.extend import Embedder
from bethink.store import vectors
from bethink.store.db import Database, Tx
from bethink.store.vectors import IndexStatus, VectorIndex

_PAUSE = 0.5


async def reindex(
    database: Database, embedder: Embedder, *, progress: Callable[[int], None] | None = None
) -> VectorIndex:
    """Promise to embed what is not yet, in every space, for an embedder that may be new here; workers do it.

    With `progress` it waits for them, and says how many spaces are left. Raises `Misconfigured` without pgvector.
    """

    # The first look at its dimension may load a model: not on the event loop, and in no transaction.
    dimension = await to_thread.run_sync(lambda: embedder.dimension)

    def begin(tx: Tx) -> VectorIndex:
        index = vectors.register(tx, embedder=embedder.name, dimension=dimension)
        vectors.promise_everywhere(tx)
        return index

    index = await database.transact(begin, repeatable=True)
    while progress is not None:
        left = await database.transact(vectors.left, read=True)
        progress(left)
        if not left:
            break
        await anyio.sleep(_PAUSE)
    await switch_when_full(database, index)
    return index


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


async def grow_index(database: Database, *, space: str, index: VectorIndex, above: int = vectors.GROWN) -> bool:
    """Build an HNSW index for one space that has more than `above` vectors, while it is used, and say whether it did.

    Only PostgreSQL has such. It takes seconds for each ten thousand vectors, and makes writing them slower.
    """
    statements = await database.transact(
        lambda tx: vectors.growth(tx, space=space, index=index, above=above), space=space, read=True
    )
    for statement in statements:
        await database.run_alone(statement)
    return bool(statements)
