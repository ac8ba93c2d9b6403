"""PostgreSQL only: partitions and row security for vectors, servers without pgvector, and HNSW indexes."""

import random
import threading
import time
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import anyio
import psycopg
import pytest
from psycopg import sql

from bethink import Fact, Memory
from bethink.errors import ConfigurationError, ConflictError
from bethink.memory.recall.reindex import Vectors
from bethink.model.documents import DocumentDraft
from bethink.model.facts import Maker, SessionSummary
from bethink.model.moments import from_micros
from bethink.model.refs import Ref, RefKind
from bethink.store import documents, learning, vectors
from bethink.store.db import Tx
from bethink.store.engines.postgres import PostgresDatabase, PostgresOptions, PostgresTx
from bethink.store.vectors import Embedded, VectorIndex
from tests.conftest import KEY, said
from tests.rooms.vector_kit import Hashed, hashed, index_all, index_of, nearest, refs, remembering
from tests.store.test_postgres import name_of
from tools.postgres import APP_ROLE, in_database


@pytest.fixture
async def database(clean_dsn: str) -> AsyncIterator[PostgresDatabase]:
    database = PostgresDatabase(PostgresOptions(dsn=clean_dsn, pool_size=4))
    await database.open()
    yield database
    await database.close()


@pytest.fixture
def memory(database: PostgresDatabase) -> Memory:
    return remembering(database)


def rows(tx: Tx, text: str) -> list[dict[str, Any]]:
    assert isinstance(tx, PostgresTx)
    tx._begin()
    return tx._connection.execute(text.encode()).fetchall()


async def test_vector_index_has_row_security(database: PostgresDatabase, memory: Memory) -> None:
    for space in ("alice", "bob"):
        await memory.space(space).facts.save(Fact(id="f", text="tea"))
    await index_all(database)
    index = await index_of(database)

    def seen(tx: Tx, table: str) -> int:
        return rows(tx, f"SELECT count(*) AS n FROM {table}")[0]["n"]

    assert await database.transact(lambda tx: seen(tx, "vectors"), space="alice") == 1
    assert await database.transact(lambda tx: seen(tx, "vectors")) == 0
    assert await database.transact(lambda tx: seen(tx, f"vectors_{index.id}"), space="alice") == 0
    for part in range(64):
        table = f"vectors_{index.id}_{part:02}"
        assert await database.transact(lambda tx, table=table: seen(tx, table), space="alice") == 0
    await database.close()
    await database.open()  # which looks at every table's walls


async def test_a_vector_of_another_length_cannot_be_stored(database: PostgresDatabase) -> None:
    index = await index_of(database)

    with pytest.raises(ConflictError, match="violates check constraint"):
        await database.transact(
            lambda tx: tx.insert("put_vectors", [("alice", index.id, "fact", "f", 1, 0, "[1,2,3]")]), space="alice"
        )


async def test_server_without_pgvector_works_without_vectors(superuser_dsn: str, fresh_dsn: str) -> None:
    superuser = in_database(superuser_dsn, name_of(fresh_dsn))
    with psycopg.connect(superuser, autocommit=True) as connection:
        connection.execute("DROP EXTENSION vector")
    database = PostgresDatabase(PostgresOptions(dsn=fresh_dsn, pool_size=2))
    await database.open()
    memory = remembering(database)
    await memory.space("alice").facts.save(Fact(id="f", text="green tea"))
    await memory.space("alice").facts.save(Fact(id="g", text="rain"))
    await memory.space("alice").forget("fact:g:0")

    assert not await database.transact(vectors.available, read_only=True)
    assert [each.id for each in await memory.space("alice").facts.search("tea", limit=3)] == ["f"]
    report = await index_all(database)
    assert report.outcomes == {"succeeded_no_output": 1}
    with pytest.raises(ConfigurationError, match="CREATE EXTENSION vector"):
        await Vectors(database, Hashed()).reindex()

    with psycopg.connect(superuser, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
    await Vectors(database, Hashed()).reindex()
    await index_all(database)

    assert len(await nearest(database, "tea")) == 1
    await memory.space("alice").forget("fact:f:0")
    assert await refs(database) == set()
    await database.close()
    await database.open()
    await database.close()


def until_someone_waits(superuser: str) -> None:
    """Go on once another transaction stands still because of a lock."""
    question = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    deadline = time.monotonic() + 20
    with psycopg.connect(superuser, autocommit=True) as connection:
        while connection.execute(question).fetchone() == (0,):
            assert time.monotonic() < deadline, "nobody ran into it"


def erase(tx: Tx, what: Ref) -> None:
    """Take a text away, in the shortest way there is."""
    if what.kind is RefKind.DOCUMENT:
        assert documents.redact(tx, space="alice", document_id=what.id, version=what.number)
    elif what.kind is RefKind.FACT:
        tx.script(f"DELETE FROM facts WHERE id = '{what.id}'")
    elif what.kind is RefKind.SESSION_SUMMARY:
        tx.script("UPDATE session_summaries SET summary = 'another'")
    else:
        tx.script(f"DELETE FROM messages WHERE session_id = '{what.id}'")


async def everything(database: PostgresDatabase, memory: Memory) -> dict[RefKind, Embedded]:
    """One text of each kind, with its vector."""
    session = await memory.space("alice").session(KEY)
    await session.append(said("tea"))
    await memory.space("alice").facts.save(Fact(id="f", text="tea"))
    made_by = Maker(model="m", prompt="p", extractor="1")
    remembered = SessionSummary(
        space="alice", session_id=session.id, raw_memory="", summary="tea", slug="s", until=1,
        source_updated_at=from_micros(1), generated_at=from_micros(1), created_by=made_by,
    )  # fmt: skip
    await database.transact(lambda tx: learning.put_memory(tx, remembered, token=1), space="alice")
    docs = memory.space("alice").documents
    document = await docs.create(DocumentDraft(slug="a", title="A", body="tea"))
    assert document is not None
    await docs.delete(document.id, if_version=1)
    index = await index_of(database)
    found = await database.transact(lambda tx: vectors.missing(tx, space="alice", index=index, limit=9), space="alice")
    return {each.ref.kind: Embedded(each, [hashed(each.text)]) for each in found}


@pytest.mark.parametrize("kind", list(RefKind))
@pytest.mark.parametrize("erased_first", [False, True])
async def test_text_deleted_during_embedding_gets_no_vector(
    database: PostgresDatabase, memory: Memory, superuser_dsn: str, clean_dsn: str, *, kind: RefKind, erased_first: bool
) -> None:
    superuser = in_database(superuser_dsn, name_of(clean_dsn))
    embedded = (await everything(database, memory))[kind]
    index = await index_of(database)
    begun = threading.Event()

    def put(tx: Tx) -> int:
        return vectors.put(tx, space="alice", index=index, rows=[embedded])

    def forget(tx: Tx) -> int:
        erase(tx, embedded.source.ref)
        return 0

    first, second = (forget, put) if erased_first else (put, forget)

    def holding(tx: Tx) -> int:
        done = first(tx)
        begun.set()
        until_someone_waits(superuser)
        return done

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(database.transact, holding, space="alice"))
        await anyio.to_thread.run_sync(begun.wait)
        assert await database.transact(second, space="alice") == 0

    assert await refs(database) == set()


GROWN = 3_000


async def fill(database: PostgresDatabase, space: str, count: int) -> VectorIndex:
    """Give a space many vectors of nothing."""
    index, dice = await index_of(database), random.Random(space)
    values = [[dice.gauss(0, 1) for _ in range(16)] for _ in range(count)]
    texts = [f"[{','.join(f'{value:.4f}' for value in each)}]" for each in values]
    filled = [(space, index.id, "fact", f"f{number}", 1, 0, text) for number, text in enumerate(texts)]
    await database.transact(lambda tx: tx.insert("put_vectors", filled), space=space)
    return index


def plans(superuser: str, *, space: str, index: VectorIndex, kinds: list[str] | None = None) -> tuple[str, int]:
    """Ask as the application's role does, and return the plan the server used and how many rows it found."""
    said: list[str] = []
    with psycopg.connect(superuser) as connection:
        connection.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
        connection.execute("LOAD 'auto_explain'")
        connection.execute("SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on")
        connection.execute("SET client_min_messages = log")
        connection.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(APP_ROLE)))
        connection.execute("SELECT set_config('bethink.space', %s, true)", [space])
        said.clear()
        question = "[" + ",".join(["1"] * 16) + "]"
        found = connection.execute(
            "SELECT * FROM nearest_vectors(%s, %s, %s, %s, 20)", [space, index.id, question, kinds]
        ).fetchall()
    return "\n".join(text for text in said if "vector" in text), len(found)


async def mate_of(database: PostgresDatabase, space: str, index: VectorIndex) -> str:
    """Another space whose rows lie in the same partition."""

    def leaf(tx: Tx, name: str) -> int:
        fits = f"satisfies_hash_partition('vectors_{index.id}'::regclass, 64, n, $space${name}$space$::text)"
        return rows(tx, f"SELECT n FROM generate_series(0, 63) n WHERE {fits}")[0]["n"]

    def find(tx: Tx) -> str:
        home = leaf(tx, space)
        return next(name for name in (f"mate{number}" for number in range(9_999)) if leaf(tx, name) == home)

    return await database.transact(find)


async def test_large_space_uses_its_own_index_and_small_one_is_exact(
    database: PostgresDatabase, superuser_dsn: str, clean_dsn: str
) -> None:
    superuser = in_database(superuser_dsn, name_of(clean_dsn))
    index = await fill(database, "it's large", GROWN)
    mate = await mate_of(database, "it's large", index)
    await fill(database, mate, 200)
    await database.run_alone("ANALYZE vectors")
    near = f"Index Scan using vectors_{index.id}_near_"
    before, found = plans(superuser, space="it's large", index=index)
    assert (near in before, found) == (False, 20)

    assert not await Vectors(database, Hashed()).grow(space=mate, above=GROWN - 1)
    assert await Vectors(database, Hashed()).grow(space="it's large", above=GROWN - 1)
    assert not await Vectors(database, Hashed()).grow(space="it's large", above=GROWN - 1), "it is there"

    after, found = plans(superuser, space="it's large", index=index)
    assert (near in after, found) == (True, 20)
    neighbour, found = plans(superuser, space=mate, index=index)
    assert (near in neighbour, found) == (False, 20)
    some, found = plans(superuser, space="it's large", index=index, kinds=["fact"])
    assert (near in some, found) == (False, 20), "with few of a kind it would stop before it had enough"


async def test_unfinished_index_is_rebuilt(database: PostgresDatabase, superuser_dsn: str, clean_dsn: str) -> None:
    index = await fill(database, "alice", 50)
    await Vectors(database, Hashed()).grow(space="alice", above=10)
    of_it = f"WHERE indexrelid = near_index({index.id}, 'alice')::regclass"
    with psycopg.connect(in_database(superuser_dsn, name_of(clean_dsn)), autocommit=True) as connection:
        connection.execute("SET allow_system_table_mods = on")
        connection.execute(f"UPDATE pg_index SET indisvalid = false {of_it}".encode())

    assert await Vectors(database, Hashed()).grow(space="alice", above=10)

    assert await database.transact(lambda tx: rows(tx, f"SELECT indisvalid FROM pg_index {of_it}")) == [
        {"indisvalid": True}
    ]


async def test_vector_index_finds_items_added_after_it_was_built(database: PostgresDatabase, memory: Memory) -> None:
    await fill(database, "alice", 50)
    await Vectors(database, Hashed()).grow(space="alice", above=10)
    await memory.space("alice").facts.save(Fact(id="new", text="green tea"))
    await index_all(database)

    assert (await nearest(database, "green tea"))[0].ref.id == "new"
    assert len(await nearest(database, "green tea")) == 51


async def test_failed_single_statement_raises_a_bethink_error(database: PostgresDatabase) -> None:
    with pytest.raises(ConfigurationError, match="lacks a privilege"):
        await database.run_alone("CREATE ROLE another")
    index = await index_of(database)
    assert await database.transact(lambda tx: vectors.growth(tx, space="nobody", index=index)) == []
