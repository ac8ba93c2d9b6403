"""Recall on a real standby: what it may miss, what it never misses, and what happens during an outage."""

import secrets
import socket
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import anyio
import psycopg
import pytest

import bethink
from bethink.cli.doctor_postgres import postgres_checks
from bethink.config.settings import load_settings
from bethink.errors import ConfigurationError, DatabaseUnavailableError, NotFoundError
from bethink.host.databases import database_from
from bethink.store.engines.postgres import PostgresDatabase, PostgresOptions
from bethink.store.engines.postgres_replica import ReplicatedDatabase
from tests.conftest import KEY, memory_on
from tools import postgres
from tools.postgres import Server

LAG = 5.0
GREEN, KYOTO = "I drink green tea.", "My tea is from Kyoto."


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
        position = self._ask(self.primary, "SELECT pg_current_wal_insert_lsn()")
        self._ask(self.standby, "SELECT pg_wal_replay_pause()" if paused else "SELECT pg_wal_replay_resume()")
        ends = time.monotonic() + 30
        while not paused and not self._ask(self.standby, f"SELECT pg_last_wal_replay_lsn() >= '{position}'"):
            assert time.monotonic() < ends, "the standby does not catch up"

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
    with suppress(NotFoundError):
        await memory.space("alice").forget(everything=True)
    await database.close()


@dataclass(frozen=True)
class Reader:
    """A process that reads from the standby."""

    memory: bethink.Memory
    database: ReplicatedDatabase
    timer: Timer

    async def catch_up(self) -> None:
        """Wait until the standby has all that the server has."""
        with anyio.fail_after(30):
            while await self.database.check_replica() is not None or self.database.replica_lag:
                self.timer.now += 10

    async def recalled(self) -> list[str]:
        return sorted(item.text for item in (await self.memory.space("alice").recall("tea")).items)


@asynccontextmanager
async def replicated(pair: Pair, *, replica: str = "", deadline: int = 2_000) -> AsyncGenerator[Reader]:
    timer = Timer()
    standby = PostgresOptions(dsn=replica or pair.replica_dsn, pool_size=2, deadline=deadline)
    database = ReplicatedDatabase(PostgresOptions(dsn=pair.dsn, pool_size=2), replica=standby, lag=LAG, timer=timer)
    await database.open()
    timer.now += 1
    try:
        yield Reader(memory_on(database), database, timer)
    finally:
        await database.close()


@pytest.fixture
async def reader(pair: Pair, elsewhere: bethink.Memory) -> AsyncIterator[Reader]:
    """A process that reads from a standby, which has what was said so far."""
    await elsewhere.space("alice").remember(GREEN)
    pair.replay(paused=False)
    async with replicated(pair) as reader:
        await reader.catch_up()
        yield reader
        pair.replay(paused=False)


async def test_a_read_may_be_as_old_as_the_lag_and_no_older(
    pair: Pair, elsewhere: bethink.Memory, reader: Reader
) -> None:
    pair.replay(paused=True)
    await elsewhere.space("alice").remember(KYOTO)
    reader.timer.now += LAG
    assert await reader.recalled() == [GREEN], "the standby was not asked"
    reader.timer.now += 0.1

    assert await reader.recalled() == [GREEN, KYOTO]


async def test_slightly_late_standby_is_read(pair: Pair, elsewhere: bethink.Memory, reader: Reader) -> None:
    pair.replay(paused=True)
    await elsewhere.space("alice").remember(KYOTO)
    reader.timer.now += LAG + 1
    assert await reader.recalled() == [GREEN, KYOTO], "an old state was read"
    pair.replay(paused=False)
    pair.replay(paused=True)
    await elsewhere.space("alice").remember("No tea after six.")
    reader.timer.now += 1

    assert await reader.recalled() == [GREEN, KYOTO], "what it had a second ago is near enough"


async def test_process_always_reads_its_own_writes_and_deletions(pair: Pair, reader: Reader) -> None:
    pair.replay(paused=True)
    reader.timer.now += 0.001
    await reader.memory.space("alice").remember(KYOTO)
    assert await reader.recalled() == [GREEN, KYOTO]
    reader.timer.now += 1
    assert await reader.recalled() == [GREEN, KYOTO]

    await reader.memory.space("alice").forget(everything=True)
    assert await reader.recalled() == []


async def test_asynchronous_commits_are_visible_to_later_reads(pair: Pair, reader: Reader) -> None:
    with psycopg.connect(pair.primary.dsn, autocommit=True) as connection:
        connection.execute("ALTER ROLE bethink_app SET synchronous_commit = off")
        try:
            async with replicated(pair) as late:
                await late.catch_up()
                for number in range(20):
                    late.timer.now += 1
                    await late.memory.space("alice").remember(f"Tea number {number}.")
                    late.timer.now += 1
                    assert f"Tea number {number}." in await late.recalled()
        finally:
            connection.execute("ALTER ROLE bethink_app RESET synchronous_commit")


async def test_write_to_another_space_keeps_reads_on_the_standby(
    pair: Pair, elsewhere: bethink.Memory, reader: Reader
) -> None:
    pair.replay(paused=True)
    await elsewhere.space("alice").remember(KYOTO)
    reader.timer.now += 0.001
    await reader.memory.space("bob").remember("I drink coffee.")

    assert await reader.recalled() == [GREEN]


async def test_session_unknown_to_the_standby_can_ask(pair: Pair, elsewhere: bethink.Memory, reader: Reader) -> None:
    pair.replay(paused=True)
    session = await elsewhere.space("alice").session(KEY)

    assert (await reader.memory.space("alice").recall("tea", session_id=session.id)).items
    with pytest.raises(NotFoundError):
        await reader.memory.space("alice").recall("tea", session_id="ses_unknown")


@pytest.mark.parametrize("how", ["stopped", "frozen"])
async def test_primary_answers_while_the_standby_is_unavailable(
    pair: Pair, elsewhere: bethink.Memory, reader: Reader, how: str
) -> None:
    server = pair.standby
    away, back = (server.stop, server.start) if how == "stopped" else (server.freeze, server.thaw)
    async with replicated(pair, deadline=300) as hasty:
        await hasty.catch_up()
        away()
        try:
            assert await hasty.recalled() == [GREEN]
            hasty.timer.now += 60
            assert await hasty.recalled() == [GREEN]
        finally:
            back()

        await hasty.catch_up()
        pair.replay(paused=True)
        await elsewhere.space("alice").remember(KYOTO)
        assert await hasty.recalled() == [GREEN], "the standby is not asked any more"


async def test_unresponsive_standby_delays_only_one_read(pair: Pair, reader: Reader) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        dsn = f"postgresql://bethink_app@127.0.0.1:{silent.getsockname()[1]}/memory"
        async with replicated(pair, replica=dsn) as waiting:
            ended: list[int] = []

            async def ask(number: int) -> None:
                waiting.timer.now += 0.1
                assert await waiting.recalled() == [GREEN]
                ended.append(number)

            async with anyio.create_task_group() as tasks:
                for number in range(5):
                    tasks.start_soon(ask, number)
            assert ended[-1] == 0, "others waited for it, too"
            assert sorted(ended) == list(range(5))


async def test_closed_database_reads_from_neither_server(reader: Reader) -> None:
    await reader.database.close()
    reader.timer.now += 60

    with pytest.raises(DatabaseUnavailableError, match="not open"):
        await reader.recalled()
    with pytest.raises(DatabaseUnavailableError, match="not open"):
        await reader.database.standby.transact(lambda _: None, read_only=True)


async def test_another_memory_or_a_server_that_follows_no_one_is_never_read(
    pair: Pair, reader: Reader, superuser_dsn: str
) -> None:
    other = postgres.create_database(superuser_dsn, f"no_standby_{secrets.token_hex(4)}")
    async with replicated(pair, replica=other) as wrong:
        assert await wrong.recalled() == [GREEN]
        assert "does not point to a standby" in str(await wrong.database.check_replica())
    name = postgres.create_database(pair.primary.dsn, "others")
    async with bethink.connect(name, embedder="none", learn=False) as others:
        await others.space("alice").remember("Somebody else drinks tea.")
    pair.replay(paused=False)
    standby = postgres.in_database(pair.standby.dsn, "others", user=postgres.APP_ROLE)
    async with replicated(pair, replica=standby) as wrong:
        assert await wrong.recalled() == [GREEN]
        assert "points to another database" in str(await wrong.database.check_replica())


async def test_standby_of_the_old_primary_is_never_read(superuser_dsn: str) -> None:
    del superuser_dsn
    with postgres.serving() as old, postgres.standby(old) as new, postgres.standby(old) as left:
        dsn = postgres.create_database(old.dsn, "memory")
        async with bethink.connect(dsn, embedder="none", learn=False) as memory:
            await memory.space("alice").remember(GREEN)
            pair = Pair(old, new, dsn, "")
            pair.replay(paused=False)
            new.stop()
            await memory.space("alice").remember("Tea that the failover loses.")
            Pair(old, left, dsn, "").replay(paused=False)
        old.stop()
        new.start()
        new.promote()
        at = [postgres.in_database(each.dsn, "memory", user=postgres.APP_ROLE) for each in (new, left)]
        async with replicated(Pair(new, left, *at)) as reader:
            await reader.memory.space("alice").remember(KYOTO)
            reader.timer.now += 1
            assert await reader.recalled() == [GREEN, KYOTO]
            assert "a standby of another server" in str(await reader.database.check_replica())


async def test_settings_name_the_standby_and_doctor_reports_it(pair: Pair) -> None:
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
        assert "Cannot reach the database" in found
    finally:
        pair.standby.start()
        await database.close()


async def test_doctor_reports_a_missing_standby(pair: Pair) -> None:
    database = PostgresDatabase(PostgresOptions(dsn=pair.dsn))
    await database.open()
    assert await replica_check(database) == (True, "none")
    await database.close()
    with pytest.raises(ConfigurationError, match="Shards cannot have replicas"):
        bethink.connect("shards" + pair.dsn.removeprefix("postgresql"), postgres_replica_dsn=pair.replica_dsn)


async def replica_check(database: PostgresDatabase) -> tuple[bool, str]:
    [found] = [check async for check in postgres_checks(database) if check.name == "replica"]
    return found.ok, found.detail
