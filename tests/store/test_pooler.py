"""PostgreSQL behind PgBouncer in transaction mode: each transaction runs in a shared session."""

import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import psycopg
import pytest
from anyio import to_thread

from bethink import Fact, Memory
from bethink.errors import ConfigurationError, DatabaseBusyError
from bethink.store.db import Tx
from bethink.store.engines.postgres import PostgresDatabase, PostgresOptions, PostgresTx
from tests.conftest import KEY, many, memory_on, said
from tools import pgbouncer, postgres
from tools.pgbouncer import Pooler

pytestmark = pytest.mark.skipif(pgbouncer.program() is None, reason="PgBouncer is not installed")
_IGNORES = "ignore_startup_parameters = options"


@pytest.fixture(scope="module")
def dsn(superuser_dsn: str) -> str:
    """The way past the pooler to a database of these tests' own."""
    return postgres.create_database(superuser_dsn, f"pooled_{uuid.uuid4().hex[:12]}")


@pytest.fixture(scope="module", params=["", _IGNORES], ids=["as it is shipped", "ignoring options"])
def pooler(request: pytest.FixtureRequest, dsn: str) -> Iterator[Pooler]:
    with pgbouncer.pooling(dsn, servers=2, settings=request.param) as pooler:
        yield pooler


@asynccontextmanager
async def opened(dsn: str, **options: Any) -> AsyncGenerator[PostgresDatabase]:
    database = PostgresDatabase(PostgresOptions(dsn=dsn, pool_size=6, **options))
    await database.open()
    try:
        yield database
    finally:
        await database.close()


@pytest.fixture
async def database(pooler: Pooler, dsn: str) -> AsyncIterator[PostgresDatabase]:
    async with opened(pooler.through(dsn)) as database:
        yield database


@pytest.fixture
def memory(database: PostgresDatabase) -> Memory:
    return memory_on(database)


def asked(tx: Tx, text: str) -> dict[str, Any]:
    assert isinstance(tx, PostgresTx)
    tx._begin()
    row = tx._connection.execute(text.encode()).fetchone()
    assert row is not None
    return row


async def test_pooler_is_detected_and_a_direct_server_is_not(database: PostgresDatabase, dsn: str) -> None:
    assert database.is_pooled
    async with opened(dsn) as direct:
        assert not direct.is_pooled
        await direct.transact(lambda tx: asked(tx, "SHOW lock_timeout"))
    async with opened(dsn, pooler="transaction") as told:
        assert told.is_pooled


async def test_every_wait_has_an_end(database: PostgresDatabase) -> None:
    names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
    found = await database.transact(lambda tx: [asked(tx, f"SHOW {name}")[name] for name in names])

    assert found == ["30s", "5s", "1min"]


async def test_lock_wait_ends_at_the_timeout(pooler: Pooler, dsn: str) -> None:
    def lock(tx: Tx) -> None:
        tx.script("SELECT pg_advisory_xact_lock(77)")

    with psycopg.connect(dsn) as other:
        other.execute("SELECT pg_advisory_xact_lock(77)")
        async with opened(pooler.through(dsn), lock_timeout=50) as database:
            with pytest.raises(DatabaseBusyError, match="lock timeout"):
                await database.transact(lock)


async def test_mixed_calls_on_two_sessions_share_no_statements(memory: Memory) -> None:
    async def one(number: int) -> None:
        space = memory.space(f"space-{number}-{uuid.uuid4().hex[:6]}")
        session = await space.session(KEY)
        for turn in range(6):
            await session.append(said(f"{number} tea {turn}"))
            await space.facts.save(Fact(id=f"f{turn}", text=f"{number} likes tea {turn}"))
            found = await space.recall("Who likes tea?", limit=5)
            assert found.items
            assert all(str(number) in item.text for item in found.items)
        assert [record.number for record in await session.messages()] == [1, 2, 3, 4, 5, 6]

    async with anyio.create_task_group() as tasks:
        for number in range(12):
            tasks.start_soon(one, number)


async def test_pooled_server_sessions_keep_no_state(memory: Memory, database: PostgresDatabase) -> None:
    session = await memory.space("left").session(KEY)
    for _ in range(12):  # more often than psycopg runs a statement before it prepares it
        await session.append(many(1))
        await session.messages()

    left = """SELECT (SELECT count(*) FROM pg_prepared_statements) AS prepared, current_setting('bethink.space', true)
    AS space, current_setting('statement_timeout') AS waits, (SELECT count(*) FROM pg_listening_channels()) AS heard,
    (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS locks"""
    with psycopg.connect(database.options.dsn, autocommit=True, prepare_threshold=None) as connection:
        rows = [connection.execute(left.encode()).fetchone() for _ in range(4)]

    assert {row and (row[0], row[1] or "", *row[2:]) for row in rows} == {(0, "", "0", 0, 0)}


async def test_no_space_sees_another(memory: Memory, database: PostgresDatabase) -> None:
    alice, bob = (f"{name}-{uuid.uuid4().hex[:6]}" for name in ("alice", "bob"))
    for space in (alice, bob):
        await (await memory.space(space).session(KEY)).append(many(3))

    def count(tx: Tx) -> int:
        return asked(tx, "SELECT count(*) AS n FROM messages")["n"]

    assert await database.transact(count, space=alice) == 3
    assert await database.transact(count) == 0


async def test_a_pooler_that_is_restarted_under_an_idle_pool_costs_no_call(memory: Memory, pooler: Pooler) -> None:
    session = await memory.space(f"restart-{uuid.uuid4().hex[:6]}").session(KEY)
    for number in range(3):
        await to_thread.run_sync(pooler.stop)
        await to_thread.run_sync(pooler.start)
        assert await session.append(said("x")) == [number + 1]


async def test_work_queued_by_another_process_is_looked_for(database: PostgresDatabase, pooler: Pooler) -> None:
    since = await database.start_listening()

    assert await database.wait_for_work(20, since=since)


async def test_single_statement_has_no_deadline(database: PostgresDatabase) -> None:
    await database.run_alone("VACUUM facts_00")


async def test_unsupported_pooler_options_are_rejected_with_a_hint(pooler: Pooler, dsn: str) -> None:
    if _IGNORES in (pooler.root / "pgbouncer.ini").read_text():
        return
    with pytest.raises(ConfigurationError, match="Remove 'options' from"):
        async with opened(f"{pooler.through(dsn)}&options=-c%20work_mem%3D77MB"):
            pass


def test_an_unknown_pooler_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="auto, transaction, none"):
        PostgresOptions(dsn="x", pooler="session")
