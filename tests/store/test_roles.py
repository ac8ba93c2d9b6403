"""A role that owns nothing: it can run a memory, and cannot change what protects the rows."""

import uuid
from collections.abc import AsyncIterator

import psycopg
import pytest

from bethink import Fact
from bethink.errors import ConfigurationError
from bethink.store import migrate, vectors
from bethink.store.engines.postgres import PostgresDatabase, PostgresOptions
from bethink.store.engines.postgres_roles import grant_runner
from bethink.store.sql import Dialect
from tests.conftest import KEY, memory_on, said
from tools import postgres


@pytest.fixture(scope="module")
def runner(superuser_dsn: str) -> str:
    name = f"runner_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(superuser_dsn, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN NOSUPERUSER NOBYPASSRLS".encode())
    return name


@pytest.fixture(scope="module")
async def runner_dsn(superuser_dsn: str, runner: str) -> str:
    """The way of the runner into a database that another role owns and migrated."""
    dsn = postgres.create_database(superuser_dsn, f"roles_{uuid.uuid4().hex[:12]}")
    owner = PostgresDatabase(PostgresOptions(dsn=dsn))
    await owner.open()
    await owner.transact(lambda tx: grant_runner(tx, runner))
    await owner.close()
    return postgres.in_database(dsn, dsn.partition("@/")[2].partition("?")[0], user=runner)


@pytest.fixture
async def database(runner_dsn: str) -> AsyncIterator[PostgresDatabase]:
    database = PostgresDatabase(PostgresOptions(dsn=runner_dsn, pool_size=2))
    await database.open()
    yield database
    await database.close()


async def test_a_role_that_owns_nothing_does_all_that_a_memory_does(database: PostgresDatabase) -> None:
    space = memory_on(database).space("alice")
    session = await space.session(KEY)
    assert await session.append(said("I drink tea.")) == [1]
    await space.facts.save(Fact(id="f", text="likes tea"))
    assert (await space.recall("Who likes tea?")).items
    index = await database.transact(lambda tx: vectors.register(tx, embedder="e", dimension=3))
    assert index.dimension == 3
    assert (await space.forget(conversation=KEY)).messages == 1


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE messages DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE messages NO FORCE ROW LEVEL SECURITY",
        "DROP POLICY own_space ON facts",
        "CREATE POLICY open_door ON facts USING (true)",
        "UPDATE schema_now SET version = 1",
        "DELETE FROM schema_version",
        "TRUNCATE messages",
        "CREATE OR REPLACE FUNCTION make_vectors() RETURNS boolean LANGUAGE sql AS 'SELECT true'",
    ],
)
async def test_runner_role_cannot_change_row_security(database: PostgresDatabase, statement: str) -> None:
    with pytest.raises(ConfigurationError):
        await database.transact(lambda tx: tx.script(statement))


async def test_runner_role_cannot_migrate_and_names_who_can(runner_dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = migrate.migrations

    def tomorrow(dialect: Dialect) -> list[tuple[int, str, str]]:
        return [*known(dialect), (9999, "x", "SELECT 1")]

    monkeypatch.setattr(migrate, "migrations", tomorrow)

    with pytest.raises(ConfigurationError, match="Run 'bethink data migrate' as the role that owns them"):
        await PostgresDatabase(PostgresOptions(dsn=runner_dsn)).open()


@pytest.mark.parametrize("role", ["nobody_at_all", "postgres", postgres.APP_ROLE])
async def test_role_with_more_rights_is_rejected(fresh_dsn: str, role: str) -> None:
    owner = PostgresDatabase(PostgresOptions(dsn=fresh_dsn))
    await owner.open()
    with pytest.raises(ConfigurationError, match=role):
        await owner.transact(lambda tx: grant_runner(tx, role))
    await owner.close()
