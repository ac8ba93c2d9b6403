"""A new default embedder replaces an earlier default in the background, and no embedder that a person chose."""

import pytest

from bethink import Fact, Memory
from bethink.memory.recall.reindex import find_protected_index
from bethink.store import vectors
from bethink.store.db import Database
from bethink.store.vectors import IndexStatus
from tests.rooms.recall_kit import with_vectors
from tests.rooms.vector_kit import Hashed, index_all, index_of

pytestmark = pytest.mark.pgvector


class Default(Hashed):
    """The default of a newer release."""

    automatic = True
    replaces = ("local:table-",)


async def test_new_default_embeds_every_space_again(database: Database, memory: Memory) -> None:
    """One write is enough: nobody need know that the default has changed."""
    for space in ("alice", "bob"):
        await memory.space(space).facts.save(Fact(id="f", text="green tea"))
    await index_all(database, Hashed("local:table-1"))
    await memory.space("alice").facts.save(Fact(id="g", text="rain"))

    for _ in range(2):  # the first run queues the other space
        await index_all(database, Default("local:model-1"))

    index = await index_of(database, "local:model-1")
    counts = [
        await database.transact(lambda tx, at=space: vectors.counts(tx, space=at, index=index), space=space)
        for space in ("alice", "bob")
    ]
    found = {index.embedder: index.status for index in await database.transact(vectors.indexes)}
    assert counts == [(2, 0), (1, 0)]
    assert found == {"local:model-1": IndexStatus.LIVE, "local:table-1": IndexStatus.RETIRED}


async def test_recall_uses_the_new_default_before_anything_is_embedded_again(
    database: Database, memory: Memory
) -> None:
    await memory.space("alice").facts.save(Fact(id="f", text="green tea"))
    await index_all(database, Hashed("local:table-1"))
    default = Default("local:model-1")

    result = await with_vectors(database, default).space("alice").recall("Who likes tea?")

    assert default.kinds == ["question"]
    assert "bethink data reindex" in (result.note or "")


async def test_new_default_leaves_a_chosen_embedder_alone(database: Database, memory: Memory) -> None:
    await memory.space("alice").facts.save(Fact(id="f", text="green tea"))
    await index_all(database, Hashed("static:table-1"))

    (index,) = await database.transact(vectors.indexes)

    assert find_protected_index(Default("local:model-1"), [index]) == index
    assert find_protected_index(Default("static:table-1"), [index]) is None
    assert find_protected_index(Hashed("local:model-1"), [index]) is None
