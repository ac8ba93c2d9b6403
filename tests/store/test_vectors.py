"""Vectors in both databases: what is embedded, what matches, and that no vector outlives its text."""

import sys

import anyio
import pytest

from bethink import Fact, Memory, Message, Session
from bethink.errors import ConfigurationError, ConflictError, InvalidRequestError, ModelResponseError
from bethink.model.documents import DocumentDraft
from bethink.model.facts import Maker, SessionSummary
from bethink.model.moments import from_micros
from bethink.model.records import conversation_key
from bethink.model.refs import Ref, RefKind
from bethink.store import learning, vectors
from bethink.store.db import Database, Tx
from bethink.store.sql import Dialect
from bethink.store.vectors import Embedded, IndexStatus, Unembedded, VectorIndex
from tests.conftest import KEY, said
from tests.rooms.vector_kit import DIMENSION, hashed, index_all, index_of, left_out, nearest, refs

OTHER = conversation_key(channel="cli", chat="other")


def session_summary(session: Session, summary: str, raw: str = "") -> SessionSummary:
    return SessionSummary(
        space=session.space, session_id=session.id, raw_memory=raw, summary=summary, slug="s", until=1,
        source_updated_at=from_micros(1), generated_at=from_micros(1),
        created_by=Maker(model="m", prompt="p", extractor="1"),
    )  # fmt: skip


async def remember(database: Database, session: Session, summary: str, raw: str = "") -> None:
    memory = session_summary(session, summary, raw)
    await database.transact(lambda tx: learning.put_memory(tx, memory, token=1), space=session.space)


def message(session: Session, number: int) -> Ref:
    return Ref(RefKind.MESSAGE, session.id, number)


async def waiting(database: Database, *, space: str = "alice") -> list[Unembedded]:
    index = await index_of(database)
    return await database.transact(
        lambda tx: vectors.missing(tx, space=space, index=index, limit=100), space=space, read_only=True
    )


async def put(database: Database, rows: list[Embedded], *, index: VectorIndex | None = None) -> int:
    into = index or await index_of(database)
    return await database.transact(lambda tx: vectors.put(tx, space="alice", index=into, rows=rows), space="alice")


async def count(database: Database) -> tuple[int, int]:
    index = await index_of(database)
    return await database.transact(
        lambda tx: vectors.counts(tx, space="alice", index=index), space="alice", read_only=True
    )  # fmt: skip


async def test_items_wait_for_a_vector_newest_first(database: Database, memory: Memory, session: Session) -> None:
    await session.append([Message(role="user", content="I like tea", name="Ana", said_at=from_micros(10))])
    await memory.space("alice").facts.save(Fact(id="f", text="Ana likes tea", created_at=from_micros(30)))
    await memory.space("alice").facts.save(Fact(id="f", text="Ana likes rain", created_at=from_micros(40)))
    await remember(database, session, "They spoke of tea.", "- tea")
    document = await memory.space("alice").documents.create(DocumentDraft(slug="tea", title="Tea", body="Green."))
    assert document is not None

    found = await waiting(database)

    assert [(each.ref.kind, each.ref.number, each.text) for each in found] == [
        (RefKind.DOCUMENT, 1, "Tea\n\nGreen."),
        (RefKind.FACT, 2, "Ana likes rain"),
        (RefKind.FACT, 1, "Ana likes tea"),
        (RefKind.MESSAGE, 1, "I like tea"),
        (RefKind.SESSION_SUMMARY, 0, "They spoke of tea.\n\n- tea"),
    ]
    assert [(each.speaker, each.role) for each in found if each.ref == message(session, 1)] == [("Ana", "user")]
    assert [each.at for each in found[1:]] == [40, 30, 10, 1]


async def test_system_blank_and_memory_messages_are_not_embedded(
    database: Database, memory: Memory, session: Session
) -> None:
    await session.append(
        [
            Message(role="system", content="You are kind."),
            Message(role="user", content=" \n\t "),
            Message(role="user", content="recalled", origin="memory"),
            Message(role="tool", content="it rains", name="weather"),
        ],
    )
    await memory.space("alice").facts.save(Fact(id="blank", text=" "))

    assert [each.ref for each in await waiting(database)] == [message(session, 4)]


async def test_the_nearest_come_first_and_each_part_counts_by_itself(
    database: Database, memory: Memory, session: Session
) -> None:
    await session.append(said("green tea", "green rain falls", "my dog barks"))
    first, second, third = sorted(await waiting(database), key=lambda each: each.ref.parts)
    await put(database, [Embedded(first, [hashed("green tea")]), Embedded(second, [hashed("green rain falls")])])
    await put(database, [Embedded(third, [hashed("my dog"), hashed("green tea")])])

    near = await nearest(database, "green tea")

    assert [(each.ref.number, each.part) for each in near[:2]] == [(1, 0), (3, 1)]
    assert [each.similarity for each in near] == sorted((each.similarity for each in near), reverse=True)
    assert near[0].similarity == pytest.approx(1.0, abs=2e-3)
    assert near[2].similarity == pytest.approx(6**-0.5, abs=2e-3)
    assert len(near) == 4
    assert [each.ref.number for each in await nearest(database, "green tea", limit=1)] == [1]
    assert await nearest(database, "green tea", limit=0) == []
    assert await count(database) == (3, 0)


async def test_vector_search_filters_by_kind(database: Database, memory: Memory, session: Session) -> None:
    await session.append(said("green tea"))
    await memory.space("alice").facts.save(Fact(id="f", text="green tea"))
    await index_all(database)

    def kinds(near: list[vectors.Near]) -> list[RefKind]:
        return [each.ref.kind for each in near]

    assert kinds(await nearest(database, "tea", kinds=[RefKind.FACT])) == [RefKind.FACT]
    assert kinds(await nearest(database, "tea", kinds=[])) == []
    assert kinds(await nearest(database, "tea", kinds=tuple(RefKind))) == [RefKind.FACT, RefKind.MESSAGE]


async def test_zero_vector_matches_nothing(database: Database, memory: Memory, session: Session) -> None:
    await session.append(said("green tea", "unheard of"))
    tea, unheard = sorted(await waiting(database), key=lambda each: each.ref.parts)
    await put(database, [Embedded(tea, [hashed("green tea")]), Embedded(unheard, [[0.0] * DIMENSION])])

    assert [each.similarity for each in await nearest(database, "green tea")] == [pytest.approx(1.0, abs=2e-3), 0.0]
    assert await nearest(database, "") == []
    assert await left_out(database) == []


async def test_vector_is_stored_only_if_its_text_is_unchanged(
    database: Database, memory: Memory, session: Session
) -> None:
    await session.append(said("green tea"))
    await memory.space("alice").facts.save(Fact(id="f", text="secret"))
    await remember(database, session, "before")
    docs = memory.space("alice").documents
    document = await docs.create(DocumentDraft(slug="plan", title="Plan", body="secret"))
    assert document is not None
    await docs.update(document.id, DocumentDraft(slug="plan", title="Plan", body="public"), if_version=1)
    old = [Embedded(each, [hashed(each.text)]) for each in await waiting(database)]
    assert len(old) == 5

    await memory.space("alice").forget("fact:f:0")
    await remember(database, session, "after")
    await memory.space("alice").forget(f"document:{document.id}:1", version_only=True)

    assert await put(database, old) == 2
    assert await refs(database) == {message(session, 1), Ref(RefKind.DOCUMENT, document.id, 2)}
    assert await left_out(database) == [Ref(RefKind.SESSION_SUMMARY, session.id, 0)]


async def test_forget_leaves_no_vectors(database: Database, memory: Memory, session: Session) -> None:
    await session.append(said("one", "two", "three"))
    other = await memory.space("alice").session(OTHER)
    await other.append(said("four"))
    await remember(database, session, "counting")
    await index_all(database)
    assert len(await refs(database)) == 5

    await memory.space("alice").forget(conversation=KEY)

    assert await refs(database) == {message(other, 1)}


async def test_a_deleted_fact_leaves_no_vector_of_any_version(database: Database, memory: Memory) -> None:
    alice = memory.space("alice")
    facts = alice.facts
    for content in ("tea", "rain"):
        await facts.save(Fact(id="f", text=content))
    await facts.save(Fact(id="g", text="snow"))
    await index_all(database)
    assert len(await refs(database)) == 3

    await alice.forget("fact:f:0")

    assert await refs(database) == {Ref(RefKind.FACT, "g", 1)}


async def test_a_redacted_document_leaves_no_vector_and_gets_none_again(database: Database, memory: Memory) -> None:
    docs = memory.space("alice").documents
    document = await docs.create(DocumentDraft(slug="a", title="A", body="secret"))
    assert document is not None
    await docs.update(document.id, DocumentDraft(slug="a", title="A", body="public"), if_version=1)
    await index_all(database)
    assert len(await refs(database)) == 2

    await memory.space("alice").forget(f"document:{document.id}:1", version_only=True)

    assert await refs(database) == {Ref(RefKind.DOCUMENT, document.id, 2)}
    assert await left_out(database) == []


async def test_replaced_session_summary_loses_its_vector_until_embedded(database: Database, session: Session) -> None:
    await remember(database, session, "they spoke of tea")
    await index_all(database)
    await remember(database, session, "they spoke of tea")
    assert await left_out(database) == [], "nothing changed"

    await remember(database, session, "they spoke of rain")

    assert await refs(database) == set()
    await index_all(database)
    [near] = await nearest(database, "they spoke of rain")
    assert near.similarity == pytest.approx(1.0, abs=2e-3)


async def test_replaced_fact_keeps_its_vector(database: Database, memory: Memory) -> None:
    await memory.space("alice").facts.save(Fact(id="f", text="tea"))
    await index_all(database)

    await memory.space("alice").facts.save(Fact(id="f", text="rain"))

    assert await refs(database) == {Ref(RefKind.FACT, "f", 1)}


async def test_a_space_that_is_deleted_takes_its_vectors_along(
    database: Database, memory: Memory, session: Session
) -> None:
    await session.append(said("tea"))
    await memory.space("alice").facts.save(Fact(id="f", text="tea"))
    await memory.space("alice").documents.create(DocumentDraft(slug="a", title="A"))
    await remember(database, session, "tea")
    await memory.space("bob").facts.save(Fact(id="f", text="tea"))
    await index_all(database)

    await database.transact(lambda tx: tx.script("DELETE FROM spaces WHERE id = 'alice'"), space="alice")

    assert await refs(database) == set()
    assert len(await refs(database, space="bob")) == 1


async def test_no_space_is_near_another(database: Database, memory: Memory) -> None:
    for space in ("alice", "bob"):
        await memory.space(space).facts.save(Fact(id=space, text="green tea"))
    await index_all(database)

    assert [each.ref.id for each in await nearest(database, "tea")] == ["alice"]
    assert [each.ref.id for each in await nearest(database, "tea", space="bob")] == ["bob"]
    assert await nearest(database, "tea", space="carol") == []


async def test_an_index_is_registered_once_and_another_embedder_has_its_own(database: Database) -> None:
    first = await index_of(database, "a")
    assert await index_of(database, "a") == first
    assert first.status is IndexStatus.FILLING
    second = await index_of(database, "b")
    assert second.id != first.id
    with pytest.raises(InvalidRequestError, match="embedder name"):
        await database.transact(lambda tx: vectors.register(tx, embedder="", dimension=3))


async def test_many_workers_register_an_index_once(database: Database) -> None:
    found: list[int] = []

    async def one() -> None:
        found.append((await index_of(database)).id)

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(one)

    assert len(set(found)) == 1


async def test_only_the_index_of_the_same_embedder_is_ever_searched(database: Database) -> None:
    def live(tx: Tx) -> tuple[IndexStatus | None, ...]:
        found = [vectors.live(tx, embedder=name, dimension=DIMENSION) for name in ("old", "new", "other")]
        return tuple(None if each is None else each.status for each in found)

    old, new = await index_of(database, "old"), await index_of(database, "new")
    assert await database.transact(live) == (IndexStatus.FILLING, IndexStatus.FILLING, None)

    await database.transact(lambda tx: vectors.switch(tx, old))
    assert await database.transact(live) == (IndexStatus.LIVE, None, None)
    await index_of(database, "new")
    assert await database.transact(live) == (IndexStatus.LIVE, IndexStatus.FILLING, None)
    await database.transact(lambda tx: vectors.switch(tx, new))
    assert await database.transact(live) == (None, IndexStatus.LIVE, None)
    assert [each.id for each in await database.transact(vectors.indexes)] == [new.id, old.id]


async def test_a_dropped_index_takes_its_vectors_along_and_takes_no_more(database: Database, memory: Memory) -> None:
    await memory.space("alice").facts.save(Fact(id="f", text="tea"))
    [source] = await waiting(database)
    index = await index_of(database)
    kept = await index_of(database, "other")
    rows = [Embedded(source, [hashed("tea")])]
    await put(database, rows)
    await put(database, rows, index=kept)

    assert await database.transact(lambda tx: vectors.drop(tx, index))

    assert not await database.transact(lambda tx: vectors.drop(tx, index))
    with pytest.raises(ConflictError, match="was dropped"):
        await put(database, rows, index=index)
    again = await index_of(database)
    assert again.id not in {index.id, kept.id}
    with pytest.raises(ConflictError, match="was dropped"):
        await put(database, rows, index=index)
    assert await refs(database) == set()
    assert await database.transact(
        lambda tx: vectors.counts(tx, space="alice", index=kept), space="alice"
    ) == (1, 0)  # fmt: skip


@pytest.mark.parametrize("bad", [[1.0], [float("nan")] * DIMENSION, [float("inf")] * DIMENSION])
async def test_invalid_vector_is_rejected(database: Database, memory: Memory, bad: list[float]) -> None:
    await memory.space("alice").facts.save(Fact(id="f", text="tea"))
    [source] = await waiting(database)
    index = await index_of(database)

    with pytest.raises(ModelResponseError, match="did not return a vector of 16 numbers"):
        await put(database, [Embedded(source, [bad])])
    with pytest.raises(ModelResponseError, match="did not return a vector of 16 numbers"):
        await database.transact(
            lambda tx: vectors.similarities(tx, space="alice", index=index, question=bad, limit=1), space="alice"
        )
    assert await refs(database) == set()


async def test_reindex_queues_every_space(database: Database, memory: Memory) -> None:
    for space in ("alice", "bob"):
        await memory.space(space).session(KEY)
    await index_all(database)
    assert not await database.transact(vectors.has_pending)

    await database.transact(vectors.queue_all_spaces)

    assert await database.transact(vectors.count_pending) == 2
    assert await database.transact(vectors.has_pending)
    assert (await index_all(database)).leased == 2
    assert await database.transact(vectors.count_pending) == 0


async def test_a_file_without_numpy_says_what_is_missing(
    database: Database, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory.space("alice").facts.save(Fact(id="f", text="tea"))
    await index_all(database)
    monkeypatch.setitem(sys.modules, "numpy", None)

    if database.dialect is Dialect.SQLITE:
        with pytest.raises(ConfigurationError, match=r"bethink\[static\]"):
            await nearest(database, "tea")
    else:
        assert len(await nearest(database, "tea")) == 1
