import threading
import uuid
from pathlib import Path

import anyio
import psycopg
import pytest
from anyio import to_thread

from bethink.errors import Misconfigured, Unavailable
from bethink.store import migrate as migrate_module
from bethink.store.db import Database, Tx
from bethink.store.engines.postgres import PostgresDatabase, PostgresOptions
from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions
from bethink.store.migrate import BASELINE, migrate, migrations
from bethink.store.sql import Dialect
from tests.conftest import DATABASES, KEY, many, memory_on
from tests.store.schema_kit import described
from tools.postgres import create_database

OLD = Path(__file__).parent / "old_schema"
CHANGES = {
    "both": [
        "ALTER TABLE facts ADD COLUMN more TEXT",
        "ALTER TABLE facts RENAME COLUMN more TO less",
        "CREATE INDEX more ON facts (space_id)",
        "DROP INDEX facts_slot",
        "DROP VIEW embeddable",
        "CREATE TABLE other (number INTEGER)",
    ],
    "sqlite": ["DROP TRIGGER facts_terms_ad", "DROP TABLE terms_fts"],
    "postgres": [
        "DROP TRIGGER usage_forgotten ON facts",
        "CREATE OR REPLACE FUNCTION outdate_terms() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
        "ALTER TABLE jobs ALTER COLUMN calls SET DEFAULT 1",
        "ALTER TABLE facts_00 NO FORCE ROW LEVEL SECURITY",
        "DROP POLICY own_space ON facts",
        "ALTER TABLE fact_sources DROP CONSTRAINT fact_sources_pkey",
    ],
}


@pytest.fixture(params=DATABASES)
def new_target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database that has never been opened."""
    return str(tmp_path / "new.db") if request.param == "sqlite" else request.getfixturevalue("fresh_dsn")


@pytest.fixture
def second_target(request: pytest.FixtureRequest, new_target: str, tmp_path: Path) -> str:
    """Another one of the same kind."""
    if kind_of(new_target) == "sqlite":
        return str(tmp_path / "second.db")
    return create_database(request.getfixturevalue("superuser_dsn"), f"second_{uuid.uuid4().hex[:12]}")


def unopened(target: str) -> Database:
    if target.startswith("postgresql:"):
        return PostgresDatabase(PostgresOptions(dsn=target, pool_size=2))
    return SqliteDatabase(SqliteOptions(path=target))


@pytest.mark.spec("S4.46", "S4.59")
async def test_a_new_database_gets_every_migration_once_and_remembers_them(new_target: str) -> None:
    database = unopened(new_target)
    await database.open()

    assert await versions(database) == [BASELINE, *(number for number, _, _ in migrations(database.dialect))]
    assert await database.transact(migrate) == []
    await database.close()


def kind_of(target: str) -> str:
    return "postgres" if target.startswith("postgresql:") else "sqlite"


async def scripted(target: str, text: str) -> None:
    """Run statements below the schema's bookkeeping, with the space `alice` in sight."""
    database = unopened(target)
    database._start()
    await database._transact(lambda tx: tx.script(text), space="alice", read=False, repeatable=False)
    await database._stop()


async def versions(database: Database) -> list[int]:
    return [row["version"] for row in await database.transact(lambda tx: tx.all("list_versions"), read=True)]


@pytest.fixture
async def old_target(new_target: str) -> str:
    """A database as the code of version 13 left it, with a few rows of a space."""
    await scripted(new_target, (OLD / f"{kind_of(new_target)}.sql").read_text(encoding="utf-8"))
    return new_target


@pytest.mark.spec("S0.9", "S0.7", "S0.8", "S4.46")
async def test_an_old_database_opens_with_all_it_holds_and_goes_on(old_target: str) -> None:
    database = unopened(old_target)
    await database.open()
    memory = memory_on(database)

    session = await memory.space("alice").session(KEY)
    assert (session.id, session.info.invalidated_at, session.info.processed_until) == ("ses_1", None, None)
    await session.append(many(4))
    assert [(found.id, found.invalidated_at) for found in await memory.local().marks().find_invalidated()] == [
        ("ses_1", 6)
    ]
    assert [record.message.content for record in await session.read(limit=3)][1:] == ["Noted.", "message 1"]
    assert await memory.list_spaces() == ["alice"]

    found = await memory.space("alice").recall("Who plays the cello, and where is the oolong?", limit=10)
    assert {str(item.ref) for item in found.items} >= {"fact:fct_1:1", "document:doc_1:1"}
    assert not any(item.ref.id == "doc_2" for item in found.items)  # an overview
    found = await memory.space("alice").recall("Where did I move?")
    assert any("Lisbon" in item.text for item in found.items)

    gone = await memory.space("alice").forget(conversation=KEY)
    assert (gone.messages, gone.facts, gone.threads) == (6, 1, 1)
    left = await memory.space("alice").recall("Who plays the cello in Lisbon?")
    assert not left.items
    await database.close()


async def test_the_schema_that_can_be_read_is_the_one_that_the_migrations_make(
    old_target: str, second_target: str
) -> None:
    for target in (old_target, second_target):
        database = unopened(target)
        await database.open()
        await database.close()

    migrated, new = described(old_target), described(second_target)

    assert (migrated - new, new - migrated) == (set(), set())


async def test_schemas_that_differ_are_told_apart(new_target: str) -> None:
    database = unopened(new_target)
    await database.open()
    await database.close()
    seen = [described(new_target)]

    for change in (*CHANGES["both"], *CHANGES[kind_of(new_target)]):
        await scripted(new_target, change)
        now = described(new_target)
        assert now not in seen, change
        seen.append(now)


async def test_a_database_from_before_the_baseline_is_refused_with_what_to_do(old_target: str) -> None:
    await scripted(old_target, "DELETE FROM schema_version WHERE version > 7")
    before = described(old_target)

    with pytest.raises(
        Misconfigured, match=r"its schema is 7, and the oldest supported is 13\. Open it once with .*47eeef4"
    ):
        await unopened(old_target).open()

    assert described(old_target) == before


async def test_many_processes_opening_a_new_database_at_once_migrate_it_once(new_target: str) -> None:
    databases = [unopened(new_target) for _ in range(4)]

    async with anyio.create_task_group() as tasks:
        for database in databases:
            tasks.start_soon(database.open)

    known = [number for number, _, _ in migrations(databases[0].dialect)]
    assert await versions(databases[0]) == [BASELINE, *known]
    for database in databases:
        await database.close()


async def upgrade(target: str) -> int:
    """Let a process of tomorrow's version migrate a database, and return the version of its schema."""
    known = migrate_module.migrations
    last = known(Dialect.SQLITE)[-1][0] + 1
    with pytest.MonkeyPatch.context() as patch:
        change = (last, "tomorrow", "ALTER TABLE facts ADD COLUMN tomorrow TEXT")

        def migrations(dialect: Dialect) -> list[tuple[int, str, str]]:
            return [*known(dialect), change]

        patch.setattr(migrate_module, "migrations", migrations)
        new = unopened(target)
        await new.open()
    await new.close()
    return last


async def reopened(target: str) -> None:
    database = unopened(target)
    await database.open()
    await database.close()


async def test_a_process_that_does_not_know_the_schema_stops_to_write(old_target: str) -> None:
    old = unopened(old_target)
    await old.open()
    memory = memory_on(old)
    session = await memory.space("alice").session(KEY)
    await session.append(many(1))
    last = await upgrade(old_target)

    with pytest.raises(Unavailable, match=rf"is {last} by now, and this process knows {last - 1}.* upgrade"):
        await session.append(many(1))

    assert await memory.local().marks().max_number(session.info) == 3  # two were there before
    await old.close()


async def test_a_process_stops_to_write_to_a_database_that_was_put_back_to_an_older_schema(old_target: str) -> None:
    new = unopened(old_target)
    await new.open()
    session = await memory_on(new).space("alice").session(KEY)
    newest = migrations(new.dialect)[-1][0]
    await scripted(old_target, f"UPDATE schema_now SET version = {newest - 1}")

    with pytest.raises(Unavailable, match="by now, and this process knows"):
        await session.append(many(1))
    await new.close()


async def test_a_migration_waits_for_writers_and_whoever_comes_later_is_refused(fresh_dsn: str) -> None:
    old = unopened(fresh_dsn)
    await old.open()
    writing, migrating = threading.Event(), threading.Event()

    def slow(tx: Tx) -> None:
        tx.run("ensure_space", space="alice", shard=0, now=tx.now)
        writing.set()
        with psycopg.connect(fresh_dsn, autocommit=True, prepare_threshold=None) as other:
            while not other.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone():
                assert not migrating.is_set(), "it did not wait for one who writes"

    async def write() -> None:
        await old.transact(slow, space="alice")

    last = migrations(Dialect.POSTGRES)[-1][0] + 1
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write)
        await to_thread.run_sync(writing.wait)
        await upgrade(fresh_dsn)
        migrating.set()

    with pytest.raises(Unavailable, match=f"is {last} by now"):
        await old.transact(lambda tx: tx.run("ensure_space", space="bob", shard=0, now=tx.now), space="bob")
    await old.close()


async def test_a_migration_that_was_altered_after_it_was_applied_is_refused(old_target: str) -> None:
    await reopened(old_target)
    before = described(old_target)
    await scripted(old_target, "UPDATE schema_version SET checksum = 'of another text' WHERE version = 17")

    with pytest.raises(Misconfigured, match=r"migration 17 .* was altered"):
        await reopened(old_target)

    await scripted(old_target, "UPDATE schema_version SET checksum = '' WHERE version = 17")
    await reopened(old_target)
    assert described(old_target) == before


async def test_a_schema_newer_than_the_code_is_refused_and_left_as_it_is(old_target: str) -> None:
    await scripted(
        old_target, "INSERT INTO schema_version (version, name, applied_at) VALUES (9999, 'from the future', 0)"
    )
    before = described(old_target)

    with pytest.raises(Misconfigured, match=r"newer Bethink.*9999.*pip install --upgrade"):
        await unopened(old_target).open()

    assert described(old_target) == before
