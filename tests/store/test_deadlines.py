"""A frozen server: every call ends by its deadline with a correct report."""

import time
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import contextmanager

import anyio
import pytest
from anyio import to_thread

from bethink import Memory, Session
from bethink.errors import BethinkError, ConfigurationError, DatabaseUnavailableError, OutcomeUnknownError
from bethink.store.db import Tx
from bethink.store.engines.deadlines import Deadline, DeadlineWatcher
from bethink.store.engines.postgres import PostgresDatabase, PostgresOptions
from tests.conftest import KEY, memory_on, said
from tools import postgres
from tools.postgres import Server

DEADLINE = 1.0
SLACK = 8.0
"""How many deadlines may pass on a machine that is busy: without one, a call ends with the thaw, which comes last."""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with postgres.serving() as server:
        yield server


@pytest.fixture(scope="module")
def dsn(server: Server) -> str:
    return postgres.create_database(server.dsn, "frozen")


@pytest.fixture
async def database(dsn: str) -> AsyncIterator[PostgresDatabase]:
    options = PostgresOptions(dsn=dsn, pool_size=2, deadline=int(DEADLINE * 1000), connect_timeout=1000)
    database = PostgresDatabase(options)
    await database.open()
    yield database
    await database.close()


@pytest.fixture
def memory(database: PostgresDatabase) -> Memory:
    return memory_on(database)


@pytest.fixture
async def session(memory: Memory) -> Session:
    return await memory.space("alice").session(KEY)


@contextmanager
def frozen(server: Server) -> Generator[None]:
    server.freeze()
    try:
        yield
    finally:
        server.thaw()


async def test_calls_to_a_frozen_server_time_out_and_later_ones_work(session: Session, server: Server) -> None:
    told: list[BethinkError] = []

    async def append(number: int) -> None:
        try:
            await session.append(said(f"{number}"))
        except BethinkError as error:
            told.append(error)

    began = time.monotonic()
    with frozen(server):
        async with anyio.create_task_group() as tasks:  # more than there are connections
            for number in range(6):
                tasks.start_soon(append, number)
        took = time.monotonic() - began

    assert took < DEADLINE * SLACK
    assert [type(error) for error in told] == [DatabaseUnavailableError] * 6
    assert any("no response within 1 seconds" in str(error) for error in told)
    assert await session.append(said("again")) == [len(await session.messages())]


async def test_a_commit_that_is_not_answered_is_of_unknown_outcome(
    database: PostgresDatabase, server: Server, session: Session
) -> None:
    def body(tx: Tx) -> None:
        tx.run("ensure_agent", space="alice", id="agt_frozen", name="frozen", kind="primary", now=tx.now)
        server.freeze()

    try:
        with pytest.raises(OutcomeUnknownError, match="no response within 1 seconds"):
            await database.transact(body, space="alice")
    finally:
        server.thaw()


async def test_a_read_that_is_not_answered_wrote_nothing(
    database: PostgresDatabase, server: Server, session: Session
) -> None:
    with frozen(server), pytest.raises(DatabaseUnavailableError, match="Nothing was written"):
        await database.transact(lambda tx: tx.all("list_versions"), read_only=True)


async def test_a_body_that_works_for_longer_than_the_deadline_is_not_cut(
    database: PostgresDatabase, session: Session
) -> None:
    def body(tx: Tx) -> int:
        tx.all("list_versions")
        until = time.monotonic() + DEADLINE * 1.5
        while time.monotonic() < until:
            pass
        return len(tx.all("list_versions"))

    assert await database.transact(body, read_only=True) > 0


async def test_migration_has_no_deadline(database: PostgresDatabase) -> None:
    def body(tx: Tx) -> None:
        tx.lock_schema()
        tx.script(f"SELECT pg_sleep({DEADLINE * 1.5})")

    await database.transact(body)


async def test_a_database_whose_server_is_frozen_can_be_closed(dsn: str, server: Server) -> None:
    database = PostgresDatabase(PostgresOptions(dsn=dsn, deadline=500))
    await database.open()
    await database.transact(lambda tx: tx.all("list_versions"), read_only=True)
    with frozen(server), anyio.fail_after(DEADLINE * SLACK):
        await database.close()


async def test_timed_out_call_is_no_longer_watched(database: PostgresDatabase, server: Server) -> None:
    with frozen(server), pytest.raises(DatabaseUnavailableError):
        await database.transact(lambda tx: tx.all("list_versions"), read_only=True)

    await to_thread.run_sync(lambda: None)
    assert not database._watcher._waiting


def test_guard_restarts_after_close() -> None:
    guard = DeadlineWatcher(5.0)
    for _ in range(2):
        with Deadline(guard):
            assert guard._thread is not None
        guard.close()
        assert guard._thread is None


def test_a_deadline_is_above_nothing() -> None:
    with pytest.raises(ConfigurationError, match="deadline"):
        PostgresOptions(dsn="x", deadline=0)
