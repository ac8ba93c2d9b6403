"""Reported outcomes after a lost PostgreSQL connection, compared with the stored rows."""

import threading
from collections.abc import AsyncIterator, Iterator
from functools import partial

import anyio
import psycopg
import pytest
from anyio import to_thread
from psycopg.conninfo import conninfo_to_dict

from bethink import Memory, Session
from bethink.errors import ConflictError, DatabaseUnavailableError, OutcomeUnknownError
from bethink.store.db import Tx
from bethink.store.engines.postgres import PostgresDatabase, PostgresOptions, PostgresTx
from tests.conftest import KEY, memory_on
from tools import postgres
from tools.cutting_proxy import Cut, CuttingProxy, cutting_proxy

POOL = 3


@pytest.fixture
def proxy(superuser_dsn: str, clean_dsn: str) -> Iterator[CuttingProxy]:
    # Straight to the server, also where tests take a pooler's road: it would share the connections counted here.
    name = str(conninfo_to_dict(clean_dsn)["dbname"])
    with cutting_proxy(postgres.in_database(superuser_dsn, name, user=postgres.APP_ROLE)) as proxy:
        yield proxy


@pytest.fixture
async def database(proxy: CuttingProxy) -> AsyncIterator[PostgresDatabase]:
    database = PostgresDatabase(PostgresOptions(dsn=proxy.dsn, pool_size=POOL))
    await database.open()
    yield database
    await database.close()


@pytest.fixture
def memory(database: PostgresDatabase) -> Memory:
    return memory_on(database)


@pytest.fixture
async def session(memory: Memory) -> Session:
    return await memory.space("alice").session(KEY)


@pytest.fixture
async def witness(clean_dsn: str) -> AsyncIterator[Memory]:
    """A Memory that does not go through the proxy."""
    database = PostgresDatabase(PostgresOptions(dsn=clean_dsn, pool_size=1))
    await database.open()
    yield memory_on(database)
    await database.close()


async def on_every_connection(database: PostgresDatabase, *, read: bool) -> set[int]:
    """Run one transaction on each pooled connection at the same time, and return the servers' process ids."""
    together, met, pids = threading.Barrier(POOL, timeout=20), set[int](), set[int]()

    def body(tx: Tx) -> None:
        assert isinstance(tx, PostgresTx)
        if threading.get_ident() not in met:  # not again when it is repeated
            met.add(threading.get_ident())
            together.wait()
        if read:
            tx.first("describe_role")
        else:
            tx.run("ensure_space", space="alice", shard=0, now=tx.now)
        pids.update(row["pid"] for row in tx._connection.execute("SELECT pg_backend_pid() AS pid"))

    async with anyio.create_task_group() as tasks:
        for _ in range(POOL):
            tasks.start_soon(partial(database.transact, body, space="alice", read_only=read))
    return pids


@pytest.mark.parametrize("read", [True, False])
async def test_no_connection_of_an_idle_pool_fails_after_its_network_reset_it(
    database: PostgresDatabase, proxy: CuttingProxy, *, read: bool
) -> None:
    before = await on_every_connection(database, read=read)
    proxy.cut_all()
    after = await on_every_connection(database, read=read)

    assert len(before) == len(after) == POOL
    assert not before & after


@pytest.mark.parametrize("read", [True, False])
async def test_no_connection_of_an_idle_pool_fails_after_its_backend_was_ended(
    database: PostgresDatabase, superuser_dsn: str, *, read: bool
) -> None:
    before = await on_every_connection(database, read=read)
    with psycopg.connect(superuser_dsn, autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(pid, 20000) FROM unnest(%s::int[]) pid", [list(before)])
    after = await on_every_connection(database, read=read)

    assert len(before) == len(after) == POOL
    assert not before & after


async def test_idle_pool_works_after_a_server_crash() -> None:
    with postgres.serving() as server:
        dsn = postgres.create_database(server.dsn, "restarted")
        database = PostgresDatabase(PostgresOptions(dsn=dsn, pool_size=POOL))
        await database.open()
        assert len(await on_every_connection(database, read=True)) == POOL
        for read in (True, False):
            await to_thread.run_sync(server.stop)
            await to_thread.run_sync(server.start)
            assert len(await on_every_connection(database, read=read)) == POOL
        await database.close()


def keyed(key: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": key, "idempotency_key": key}]


async def stored(witness: Memory, session: Session) -> list[str]:
    seen = await witness.space(session.space).sessions.get(session.id)
    return [str(record.message.content) for record in await seen.messages()]


async def test_repeatable_commit_lost_every_time_has_unknown_outcome(
    memory: Memory, session: Session, proxy: CuttingProxy, witness: Memory
) -> None:
    proxy.cuts.extend([Cut.AFTER] * 5)

    with pytest.raises(OutcomeUnknownError, match="lost while committing"):
        await session.append(keyed("k"))

    assert await stored(witness, session) == ["k"]


async def test_repeatable_commit_has_unknown_outcome_if_server_is_lost(
    memory: Memory, session: Session, proxy: CuttingProxy, witness: Memory
) -> None:
    proxy.cuts.append(Cut.LAST)

    with pytest.raises(OutcomeUnknownError) as told:
        await session.append(keyed("k"))

    assert "othing was written" not in str(told.value)
    assert await stored(witness, session) == ["k"]


async def test_a_commit_that_never_arrived_is_repeated_or_of_unknown_outcome(
    memory: Memory, session: Session, proxy: CuttingProxy, witness: Memory
) -> None:
    proxy.cuts.append(Cut.BEFORE)
    assert await session.append(keyed("k")) == [1]

    proxy.cuts.append(Cut.BEFORE)
    with pytest.raises(OutcomeUnknownError):
        await session.append([{"role": "user", "content": "without a key"}])
    assert await stored(witness, session) == ["k"]


async def test_rejected_retry_still_reports_unknown_outcome(database: PostgresDatabase, proxy: CuttingProxy) -> None:
    tries: list[int] = []

    def body(tx: Tx) -> None:
        tx.run("ensure_space", space="alice", shard=0, now=tx.now)
        tries.append(1)
        if len(tries) == 2:
            raise ConflictError("it is there already.")

    proxy.cuts.append(Cut.AFTER)
    with pytest.raises(OutcomeUnknownError) as told:
        await database.transact(body, space="alice", repeatable=True)

    assert isinstance(told.value.__cause__, ConflictError)


async def test_write_lost_before_commit_reports_nothing_written(
    memory: Memory, session: Session, proxy: CuttingProxy, witness: Memory
) -> None:
    proxy.refuse()
    proxy.cut_all()

    with pytest.raises(DatabaseUnavailableError, match="Nothing was written"):
        await session.append(keyed("k"))

    assert await stored(witness, session) == []


async def test_lost_read_reports_nothing_written(memory: Memory, session: Session, proxy: CuttingProxy) -> None:
    proxy.cuts.append(Cut.LAST)

    with pytest.raises(DatabaseUnavailableError, match="Nothing was written"):
        await session.messages()


async def test_lost_single_statement_has_unknown_outcome(database: PostgresDatabase, proxy: CuttingProxy) -> None:
    with pytest.raises(OutcomeUnknownError):
        await database.run_alone("SELECT pg_terminate_backend(pg_backend_pid())")

    proxy.refuse()
    with pytest.raises(DatabaseUnavailableError, match="Nothing was written"):
        await database.run_alone("SELECT 1")


async def test_reported_outcomes_agree_with_stored_rows(
    memory: Memory, session: Session, proxy: CuttingProxy, witness: Memory
) -> None:
    cuts = [Cut.PASS, Cut.AFTER, Cut.BEFORE, Cut.AFTER, Cut.AFTER, Cut.AFTER, Cut.AFTER, Cut.BEFORE, Cut.PASS]
    told: dict[str, str] = {}
    for number in range(18):
        name, with_key = f"m{number}", number % 3 != 0
        message = {"role": "user", "content": name} | ({"idempotency_key": name} if with_key else {})
        proxy.cuts.extend(cuts[number % len(cuts) :][:5])
        try:
            await session.append([message])
            told[name] = "stored"
        except OutcomeUnknownError:
            told[name] = "unknown"
        except DatabaseUnavailableError:
            told[name] = "nothing was written"
        proxy.cuts.clear()
        if number == 15:
            proxy.refuse()
            proxy.cut_all()

    rows = await stored(witness, session)
    assert len(rows) == len(set(rows))
    assert {name for name, what in told.items() if what == "stored"} <= set(rows)
    assert not {name for name, what in told.items() if what == "nothing was written"} & set(rows)
    assert set(told.values()) == {"stored", "unknown", "nothing was written"}
