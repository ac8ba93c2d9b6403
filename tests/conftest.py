"""Fixtures: the same tests run on a real SQLite file and on a real PostgreSQL."""

import os
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL, Identifier

import bethink
from bethink.model.records import Micros
from bethink.store.db import Database
from bethink.store.postgres import PostgresDatabase, PostgresOptions
from bethink.store.sqlite import SqliteDatabase, SqliteOptions
from tools import postgres

DATABASES = ["sqlite", "postgres"]
_TABLES = [
    "vector_indexes",
    "threads",
    "api_keys",
    "spending",
    "deployment_keys",
    "answers",
    "fact_sources",
    "jobs",
    "facts",
    "messages",
    "sessions",
    "summaries",
    "conversations",
    "agents",
    "spaces",
]


class FakeClock:
    """A clock that only moves when told to, or by one microsecond each time it is read."""

    def __init__(self) -> None:
        self.time = 1_700_000_000_000_000

    def __call__(self) -> Micros:
        self.time += 1
        return Micros(self.time)


class Quiet:
    """A redactor for tests that are not about redaction."""

    def redact(self, text: str) -> str:
        return text


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def superuser_dsn() -> Iterator[str]:
    """A superuser's way into a PostgreSQL server: BETHINK_TEST_DSN, or one of our own."""
    given = os.environ.get("BETHINK_TEST_DSN")
    if given:
        yield given
    else:
        with postgres.running() as dsn:
            yield dsn


@pytest.fixture(scope="session")
def shared_dsn(superuser_dsn: str) -> str:
    """A database used by many tests, each of which leaves it empty."""
    return postgres.create_database(superuser_dsn, f"shared_{uuid.uuid4().hex[:12]}")


@pytest.fixture
def fresh_dsn(superuser_dsn: str) -> str:
    """A database of a test's own, with no schema yet."""
    return postgres.create_database(superuser_dsn, f"fresh_{uuid.uuid4().hex[:12]}")


@pytest.fixture
def clean_dsn(superuser_dsn: str, shared_dsn: str) -> Iterator[str]:
    """The shared database, emptied after the test."""
    yield shared_dsn
    empty(superuser_dsn, shared_dsn)


def empty(superuser: str, dsn: str) -> None:
    """Remove every row, above row-level security."""
    name = conninfo_to_dict(dsn)["dbname"]
    with psycopg.connect(postgres.in_database(superuser, str(name)), autocommit=True) as connection:
        for table in _TABLES:
            if connection.execute("SELECT to_regclass(%s)", [table]).fetchone() != (None,):
                connection.execute(SQL("DELETE FROM {}").format(Identifier(table)))


@pytest.fixture(params=DATABASES)
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """What `bethink.connect` takes: a new file, then a clean PostgreSQL database."""
    if request.param == "sqlite":
        return str(tmp_path / "memory.db")
    return request.getfixturevalue("clean_dsn")


def database_at(target: str, clock: FakeClock | None = None) -> Database:
    """Build the database a target names, on a fake clock."""
    clock = clock or FakeClock()
    if target.startswith("postgresql:"):
        return PostgresDatabase(PostgresOptions(dsn=target, pool_size=4), clock=clock)
    return SqliteDatabase(SqliteOptions(path=target), clock=clock)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def database(target: str, clock: FakeClock) -> AsyncIterator[Database]:
    """An open database of each kind."""
    database = database_at(target, clock)
    await database.open()
    yield database
    await database.close()


@pytest.fixture
def memory(database: Database) -> bethink.Memory:
    """A Memory on each kind of database."""
    return bethink.Memory(database, redactor=Quiet())


@pytest.fixture
async def session(memory: bethink.Memory) -> bethink.Session:
    """An open session of a primary agent."""
    return await memory.open_session(space="alice", conversation=KEY)


KEY = bethink.ConversationKey(channel="cli", chat="desk")


def said(*contents: str) -> list[bethink.Message]:
    """Messages of a user, one for each text."""
    return [bethink.Message(role="user", content=content) for content in contents]


def many(count: int) -> list[bethink.Message]:
    """So many messages of a user."""
    return said(*(f"message {number}" for number in range(1, count + 1)))
