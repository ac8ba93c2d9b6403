"""Fixtures: the same tests run on a real SQLite file and on a real PostgreSQL."""

import gc
import os
import re
import shutil
import uuid
from collections.abc import AsyncIterator, Callable, Collection, Generator, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zlib import crc32

import anyio
import psycopg
import pytest
from hypothesis import HealthCheck, settings
from psycopg.conninfo import conninfo_to_dict

import bethink
import bethink.types
from bethink.errors import BethinkError
from bethink.extend import Redactor
from bethink.host.local import Local, Parts
from bethink.memory import plugins
from bethink.memory.recall.search import Searcher
from bethink.model.moments import from_micros
from bethink.model.records import conversation_key
from bethink.providers.estimated_tokens import EstimatedTokens
from bethink.providers.local_extra import local_is_installed
from bethink.store.db import Database
from bethink.store.engines.postgres import PostgresDatabase, PostgresOptions
from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions
from tests.length import LONG
from tests.warm_connections import WarmConnection
from tools import pgbouncer, postgres

DATABASES = os.environ.get("BETHINK_TEST_DATABASES", "sqlite,postgres").split(",")
"""What the tests run on. BETHINK_TEST_DATABASES=sqlite leaves PostgreSQL out, and starts no server."""

ON_ONE_DATABASE = pytest.mark.parametrize("target", DATABASES if LONG else DATABASES[:1], indirect=True)
"""For what takes long and depends little on the database: on a push it runs on the first."""

# A push is judged by its own change: it tries the same examples each time. The long run looks for new ones.
# Neither measures time: others may be using the machine.
settings.register_profile(
    "push", derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("long", print_blob=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("long" if LONG else "push")

_TESTS = Path(__file__).parent
_ON_ONE_EACH = frozenset({"acceptance", "doors", "integrations", "rooms", "web"})

_TABLES = """SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r'
AND relnamespace = current_schema()::regnamespace AND relname NOT IN ('schema_version', 'schema_now') ORDER BY oid"""

_WANTS_PGVECTOR = re.compile(r"does not have pgvector|(extension|type) \"vector\"")

Connection = psycopg.Connection[tuple[Any, ...]]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is about PostgreSQL alone where the tests do not run on it, and vectors where it has none."""
    without: set[pytest.Item] = set()
    if "postgres" not in DATABASES:
        without |= {item for item in items if _needs_server(getattr(item, "fixturenames", ()))}
    elif os.environ.get("BETHINK_TEST_POSTGRES") and not postgres.has_pgvector():
        without |= {item for item in items if item.get_closest_marker("pgvector") and "[postgres" in item.name}
    if not LONG:
        without |= _on_the_other_database(items)
    config.hook.pytest_deselected(items=list(without))
    items[:] = [item for item in items if item not in without]


def pytest_collection_finish() -> None:
    """Leave ten thousand collected tests out of every later collection of garbage, which is a twentieth of the time."""
    gc.collect()
    gc.freeze()


def _on_the_other_database(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return the tests above the store that a push runs on the other database only.

    Nothing up there knows which database it is, and the store below is tested on both. Half of these tests run on one
    of them and half on the other, always the same half; the long run has all of them on both.
    """
    twins: dict[str, list[pytest.Item]] = {}
    for item in items:
        database = getattr(getattr(item, "callspec", None), "params", {}).get("target")
        if database in DATABASES and item.path.relative_to(_TESTS).parts[0] in _ON_ONE_EACH:
            twins.setdefault(item.nodeid.replace(database, "*"), []).append(item)
    found: set[pytest.Item] = set()
    for name, both in twins.items():
        found.update(each for place, each in enumerate(both) if place != crc32(name.encode()) % len(both))
    return found


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, object, object]:
    """Leave a test out that needs pgvector, on a server of BETHINK_TEST_POSTGRES that cannot have it."""
    try:
        return (yield)
    except (BethinkError, psycopg.Error, ExceptionGroup) as error:
        told = [str(each) for each in getattr(error, "exceptions", [error])]
        if any(map(_WANTS_PGVECTOR.search, told)) and not postgres.has_pgvector():
            pytest.skip("this server has no pgvector")
        raise


def _needs_server(fixtures: Collection[str]) -> bool:
    # A test with a target may look at it from above, which it does only where that is on a server.
    return "superuser_dsn" in fixtures and "target" not in fixtures


class FakeClock:
    """A clock that only moves when told to, or by one microsecond each time it is read."""

    def __init__(self) -> None:
        self.time = from_micros(1_700_000_000_000_000)

    def __call__(self) -> datetime:
        self.time += timedelta(microseconds=1)
        return self.time


class Quiet:
    """A redactor for tests that are not about redaction."""

    def redact(self, text: str) -> str:
        return text


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def without_local_extra() -> Iterator[None]:
    """Run tests as without bethink[local], which would be the embedder wherever none is named."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plugins, "local_is_installed", lambda: False)
        yield


@pytest.fixture
def with_local_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test with bethink[local], but with its table, which is quicker than its model."""
    monkeypatch.setattr(plugins, "local_is_installed", local_is_installed)
    monkeypatch.setattr(plugins, "model_is_installed", lambda: False)


@pytest.fixture(scope="session")
def superuser_dsn() -> Iterator[str]:
    """A superuser's way into a PostgreSQL server: BETHINK_TEST_DSN, or one of our own; empty where there is none."""
    given = os.environ.get("BETHINK_TEST_DSN")
    if given or "postgres" not in DATABASES:
        yield given or ""
    else:
        with postgres.running() as dsn:
            yield dsn


@pytest.fixture(scope="session")
def road(superuser_dsn: str) -> Iterator[Callable[[str], str]]:
    """The way of tests to the server: straight, or with BETHINK_TEST_POOLER=1 through PgBouncer in transaction mode."""
    if not os.environ.get("BETHINK_TEST_POOLER"):
        yield lambda dsn: dsn
    else:
        with pgbouncer.pooling(superuser_dsn) as pooler:
            yield pooler.through


@pytest.fixture(scope="session")
def shared_dsn(superuser_dsn: str, road: Callable[[str], str]) -> str:
    """A database used by many tests, each of which leaves it empty."""
    return road(postgres.create_database(superuser_dsn, f"shared_{uuid.uuid4().hex[:12]}"))


@pytest.fixture(scope="session")
def above(superuser_dsn: str, shared_dsn: str) -> Iterator[Connection]:
    """A superuser's connection to the shared database, for all tests."""
    name = str(conninfo_to_dict(shared_dsn)["dbname"])
    with psycopg.connect(postgres.in_database(superuser_dsn, name), autocommit=True) as connection:
        # Every table is emptied, so that neither triggers nor references have anything to look after. It stays so:
        # PostgreSQL drops its plans at each change of role.
        connection.execute("SET session_replication_role = replica")
        yield connection


@pytest.fixture
def fresh_dsn(superuser_dsn: str, road: Callable[[str], str]) -> str:
    """A database of a test's own, with no schema yet."""
    return road(postgres.create_database(superuser_dsn, f"fresh_{uuid.uuid4().hex[:12]}"))


@pytest.fixture
def clean_dsn(above: Connection, shared_dsn: str) -> Iterator[str]:
    """The shared database, emptied after the test."""
    yield shared_dsn
    empty(above)


def empty(above: Connection) -> None:
    """Remove every row of every table that has some: a table or partition that was not touched costs nothing."""
    tables = [name for (name,) in above.execute(_TABLES)]
    if not tables:
        return
    # Each partition by itself: through their parents the same question took the server 51 ms, and so it takes 3.
    held = " UNION ALL ".join(f"(SELECT '{name}' FROM ONLY {name} LIMIT 1)" for name in tables)
    touched = [name for (name,) in above.execute(held.encode(), prepare=True)]
    if "vector_indexes" in touched:
        # Its triggers drop the partitions of its vectors.
        above.execute("SET session_replication_role = origin; DELETE FROM vector_indexes")
        above.execute("SET session_replication_role = replica")
        touched = [name for name in touched if not name.startswith("vector")]
    if touched:
        above.execute("; ".join(f"DELETE FROM ONLY {name}" for name in touched).encode())


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the schema and no rows, to be copied: to make one anew takes ten times as long."""
    file = tmp_path_factory.mktemp("template") / "memory.db"
    database = SqliteDatabase(SqliteOptions(path=str(file)))

    async def make() -> None:
        await database.open()
        await database.transact(lambda tx: tx.script("DELETE FROM deployment_keys"))
        await database.close()

    anyio.run(make)
    return file


@pytest.fixture(params=DATABASES)
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """What `bethink.connect` takes: a file, then a PostgreSQL database, with the schema and no rows."""
    if request.param == "sqlite":
        return str(shutil.copy(request.getfixturevalue("template"), tmp_path / "memory.db"))
    request.getfixturevalue("warm")
    return request.getfixturevalue("clean_dsn")


@pytest.fixture(scope="session")
def warm_connections(shared_dsn: str) -> Iterator[type[WarmConnection]]:
    """Connections to the shared database that tests hand on to each other."""
    WarmConnection.shared = shared_dsn
    yield WarmConnection
    WarmConnection.end()


@pytest.fixture
def warm(warm_connections: type[WarmConnection], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test use them. Tests of the connections themselves do without."""
    monkeypatch.setattr("bethink.store.engines.postgres_connections.Connection", warm_connections)


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


def memory_on(database: Database, *, redactor: Redactor | None = None, **parts: Any) -> bethink.Memory:
    """A Memory on a database that is there already, with nothing that learns unless it is given."""
    searcher = parts.pop("searcher", lambda: Searcher(database, tokens=EstimatedTokens()))
    return bethink.Memory(Local(Parts(database=database, redactor=redactor or Quiet(), searcher=searcher, **parts)))


@pytest.fixture
def memory(database: Database) -> bethink.Memory:
    """A Memory on each kind of database."""
    return memory_on(database)


@pytest.fixture
async def session(memory: bethink.Memory) -> bethink.Session:
    """An open session of a primary agent."""
    return await memory.space("alice").session(KEY)


KEY = conversation_key("cli", "desk")


async def whole_tree(docs: bethink.types.Documents, *, as_of: datetime | None = None) -> dict[str, bethink.Document]:
    """Every document by its path, with its text."""
    return {
        path: await docs.get(each.id, as_of=as_of)
        for path, each in [(entry.path, entry) for entry in await docs.list(as_of=as_of)]
    }


def said(*contents: str) -> list[bethink.Message]:
    """Messages of a user, one for each text."""
    return [bethink.Message(role="user", content=content) for content in contents]


def many(count: int) -> list[bethink.Message]:
    """So many messages of a user."""
    return said(*(f"message {number}" for number in range(1, count + 1)))
