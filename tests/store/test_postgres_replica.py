"""Recall on a real standby: what it may miss, what it never misses, and what happens while it is away."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import psycopg
import pytest

import bethink
from bethink.cli.doctor_postgres import postgres_checks
from bethink.databases import cell_directory, database_from
from bethink.errors import Misconfigured, NotFound
from bethink.settings import load_settings
from bethink.store.engines.postgres import PostgresDatabase, PostgresOptions
from bethink.store.engines.postgres_replica import ReplicatedDatabase
from tests.conftest import KEY, memory_on
from tools import postgres
from tools.postgres import Server

LAG = 5.0


class Timer:
    """Seconds that pass only when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True)
class Pair:
    """A server, its standby, and the addresses of a database on both."""

    primary: Server
    standby: Server
    dsn: str
    replica_dsn: str

    def replay(self, *, paused: bool) -> None:
        """Let the standby stop following, or go on and catch up."""
        position = self._ask(self.primary, "SELECT pg_current_wal_lsn()")
        self._ask(self.standby, "SELECT pg_wal_replay_pause()" if paused else "SELECT pg_wal_replay_resume()")
        while not paused and not self._ask(self.standby, f"SELECT pg_last_wal_replay_lsn() >= '{position}'"):
            pass

    @staticmethod
    def _ask(server: Server, query: str) -> object:
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            row = connection.execute(query.encode()).fetchone()
        return None if row is None else row[0]


@pytest.fixture(scope="module")
def pair(superuser_dsn: str) -> Iterator[Pair]:
    del superuser_dsn  # what it tells is whether tests run on PostgreSQL at all
    with postgres.serving() as primary:
        dsn = postgres.create_database(primary.dsn, "memory")
        with postgres.standby(primary) as standby:
            yield Pair(primary, standby, dsn, postgres.in_database(standby.dsn, "memory", user=postgres.APP_ROLE))


@pytest.fixture
async def elsewhere(pair: Pair) -> AsyncIterator[bethink.Memory]:
    """A memory of another process, on the server."""
    database = PostgresDatabase(PostgresOptions(dsn=pair.dsn, pool_size=2))
    await database.open()
    memory = memory_on(database)
    yield memory
    with suppress(NotFound):
        await memory.space("alice").forget(everything=True)
    await database.close()


@pytest.fixture
def timer() -> Timer:
    return Timer()


@asynccontextmanager
async def replicated(
    pair: Pair, timer: Timer, *, replica: str = "", deadline: int = 2_000
) -> AsyncGenerator[bethink.Memory]:
    """A memory that reads from the standby."""
    standby = PostgresOptions(dsn=replica or pair.replica_dsn, pool_size=2, deadline=deadline)
    database = ReplicatedDatabase(PostgresOptions(dsn=pair.dsn, pool_size=2), replica=standby, lag=LAG, timer=timer)
    await database.open()
    timer.now += 0.001
    try:
        yield memory_on(database)
    finally:
        await database.close()


async def recalled(memory: bethink.Memory, question: str = "tea") -> list[str]:
    return [item.text for item in (await memory.space("alice").recall(question)).items]


async def test_a_read_may_be_as_old_as_the_lag_and_no_older(
    pair: Pair, elsewhere: bethink.Memory, timer: Timer
) -> None:
    await elsewhere.space("alice").remember("I drink green tea.")
    pair.replay(paused=False)
    async with replicated(pair, timer) as memory:
        assert await recalled(memory) == ["I drink green tea."]
        pair.replay(paused=True)
        await elsewhere.space("alice").remember("My tea is from Kyoto.")
        timer.now += LAG
        assert await recalled(memory) == ["I drink green tea."], "the standby was not asked"
        timer.now += 0.1

        assert len(await recalled(memory)) == 2

        pair.replay(paused=False)
        timer.now += 0.1
        assert len(await recalled(memory)) == 2


async def test_what_this_process_wrote_or_forgot_is_never_missing(
    pair: Pair, elsewhere: bethink.Memory, timer: Timer
) -> None:
    await elsewhere.space("alice").remember("I drink green tea.")
    pair.replay(paused=False)
    async with replicated(pair, timer) as memory:
        assert await recalled(memory) == ["I drink green tea."]
        pair.replay(paused=True)

        timer.now += 0.001
        await memory.space("alice").remember("My tea is from Kyoto.")
        assert len(await recalled(memory)) == 2
        timer.now += 0.001
        await memory.space("alice").forget(everything=True)
        assert await recalled(memory) == []
        pair.replay(paused=False)


async def test_a_write_to_another_space_does_not_keep_a_read_from_the_standby(
    pair: Pair, elsewhere: bethink.Memory, timer: Timer
) -> None:
    await elsewhere.space("alice").remember("I drink green tea.")
    pair.replay(paused=False)
    async with replicated(pair, timer) as memory:
        await recalled(memory)
        pair.replay(paused=True)
        await elsewhere.space("alice").remember("My tea is from Kyoto.")
        timer.now += 0.001
        await memory.space("bob").remember("I drink coffee.")

        assert await recalled(memory) == ["I drink green tea."]
        pair.replay(paused=False)


async def test_a_session_that_the_standby_does_not_know_yet_can_ask(
    pair: Pair, elsewhere: bethink.Memory, timer: Timer
) -> None:
    await elsewhere.space("alice").remember("I drink green tea.")
    pair.replay(paused=False)
    async with replicated(pair, timer) as memory:
        await recalled(memory)
        pair.replay(paused=True)
        session = await elsewhere.space("alice").session(KEY)

        assert (await memory.space("alice").recall("tea", session_id=session.id)).items
        with pytest.raises(NotFound):
            await memory.space("alice").recall("tea", session_id="ses_unknown")
        pair.replay(paused=False)


@pytest.mark.parametrize("how", ["stopped", "frozen"])
async def test_while_the_standby_is_away_the_server_answers_and_afterwards_it_does_again(
    pair: Pair, elsewhere: bethink.Memory, timer: Timer, how: str
) -> None:
    await elsewhere.space("alice").remember("I drink green tea.")
    pair.replay(paused=False)
    away, back = (
        (pair.standby.stop, pair.standby.start) if how == "stopped" else (pair.standby.freeze, pair.standby.thaw)
    )
    async with replicated(pair, timer, deadline=300) as memory:
        assert await recalled(memory) == ["I drink green tea."]
        away()
        try:
            assert await recalled(memory) == ["I drink green tea."]
            timer.now += 1
            assert await recalled(memory) == ["I drink green tea."]
        finally:
            back()

        timer.now += 60
        assert await recalled(memory) == ["I drink green tea."]
        pair.replay(paused=False)
        timer.now += 60
        await recalled(memory)
        pair.replay(paused=True)
        await elsewhere.space("alice").remember("My tea is from Kyoto.")
        assert await recalled(memory) == ["I drink green tea."], "the standby is not asked any more"
        pair.replay(paused=False)


async def test_another_memory_or_a_server_that_follows_no_one_is_never_read(
    pair: Pair, elsewhere: bethink.Memory, timer: Timer, superuser_dsn: str, caplog: pytest.LogCaptureFixture
) -> None:
    other = postgres.create_database(superuser_dsn, "no_standby")
    await elsewhere.space("alice").remember("I drink green tea.")
    async with replicated(pair, timer, replica=other) as memory:
        assert await recalled(memory) == ["I drink green tea."]
    assert "is not the address of a standby" in caplog.text
    name = postgres.create_database(pair.primary.dsn, "others")
    async with bethink.connect(name, embedder="none", learn=False) as others:
        await others.space("alice").remember("Somebody else drinks tea.")
    pair.replay(paused=False)

    standby = postgres.in_database(pair.standby.dsn, "others", user=postgres.APP_ROLE)
    async with replicated(pair, timer, replica=standby) as memory:
        assert await recalled(memory) == ["I drink green tea."]
    assert "is the address of another memory" in caplog.text


async def test_settings_name_the_standby_and_doctor_tells_how_it_is(pair: Pair) -> None:
    settings = load_settings(
        environ={}, postgres_dsn=pair.dsn, module="memory.postgres", postgres_replica_dsn=pair.replica_dsn
    )
    database = database_from(settings)
    assert isinstance(database, ReplicatedDatabase)
    await database.open()
    try:
        pair.replay(paused=False)
        assert await replica_check(database) == (True, "a standby")
        pair.standby.stop()
        ok, found = await replica_check(database)
        assert not ok
        assert "cannot be reached" in found
    finally:
        pair.standby.start()
        await database.close()


async def test_without_a_standby_doctor_says_so_and_cells_have_none(pair: Pair) -> None:
    database = PostgresDatabase(PostgresOptions(dsn=pair.dsn))
    await database.open()
    assert await replica_check(database) == (True, "none")
    await database.close()
    with pytest.raises(Misconfigured, match="cells cannot have replicas"):
        cell_directory(load_settings(environ={}, postgres_dsn=pair.dsn, postgres_replica_dsn=pair.replica_dsn))


async def replica_check(database: PostgresDatabase) -> tuple[bool, str]:
    [found] = [check async for check in postgres_checks(database) if check.name == "replica"]
    return found.ok, found.found
