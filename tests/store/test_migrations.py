import threading
import uuid
from pathlib import Path

import anyio
import psycopg
import pytest
from anyio import to_thread

from bethink.errors import BethinkError, ConfigurationError, DatabaseUnavailableError
from bethink.store.db import Database, Tx
from bethink.store.engines.postgres import PostgresDatabase, PostgresOptions
from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions
from bethink.store.migrate import BASELINE, migrate, newest_version
from bethink.store.sql import Dialect
from tests.conftest import DATABASES, KEY, many, memory_on, said
from tests.store.migrations_kit import (
    MARKS,
    TOMORROW,
    WITHOUT_MARKS,
    numbering_problems,
    using_migrations,
    write_migrations,
)
from tests.store.schema_kit import described
from tools.postgres import create_database

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
async def test_new_database_records_every_version_once(new_target: str, tmp_path: Path) -> None:
    with using_migrations(write_migrations(tmp_path / "m", MARKS)):
        database = unopened(new_target)
        await database.open()

        assert await versions(database) == [BASELINE, 2, 3]
        assert await database.transact(migrate) == []
        await database.close()


def kind_of(target: str) -> str:
    return "postgres" if target.startswith("postgresql:") else "sqlite"


async def scripted(target: str, text: str) -> None:
    """Run statements below the schema's bookkeeping, with the space `alice` in sight."""
    database = unopened(target)
    database._start()
    await database._transact(lambda tx: tx.script(text), space="alice", read_only=False, repeatable=False)
    await database._stop()


async def versions(database: Database) -> list[int]:
    return [row["version"] for row in await database.transact(lambda tx: tx.all("list_versions"), read_only=True)]


@pytest.fixture
async def old_target(new_target: str) -> str:
    """A database of version 1 without marks on sessions, and with two messages of a space."""
    database = unopened(new_target)
    await database.open()
    session = await memory_on(database).space("alice").session(KEY)
    await session.append(said("I moved to Lisbon.", "I play the cello."))
    await database.close()
    await scripted(new_target, WITHOUT_MARKS)
    return new_target


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    """The migrations that `old_target` lacks."""
    return write_migrations(tmp_path / "marks", MARKS)


@pytest.mark.spec("S0.9", "S0.7", "S0.8", "S4.46")
async def test_migrated_database_keeps_its_rows_and_gains_marks(old_target: str, marks: Path) -> None:
    with using_migrations(marks):
        database = unopened(old_target)
        await database.open()
        memory = memory_on(database)

        session = await memory.space("alice").session(KEY)
        assert (session.info.invalidated_at, session.info.processed_until) == (None, None)
        await session.append(many(4))
        [marked] = await memory.backend.local().marks().find_invalidated()
        assert (marked.id, marked.invalidated_at) == (session.info.id, 6)
        contents = [record.message.content for record in await session.messages(limit=10)]
        assert contents[:3] == ["I moved to Lisbon.", "I play the cello.", "message 1"]

        answer = await memory.space("alice").recall("Where did I move?")
        assert any("Lisbon" in item.text for item in answer.items)
        receipt = await memory.space("alice").forget(conversation=KEY)
        assert receipt.messages == 6
        await database.close()


async def test_migrations_lead_to_the_current_schema(old_target: str, second_target: str, marks: Path) -> None:
    before = described(old_target)
    with using_migrations(marks):
        await reopened(old_target)
        await reopened(second_target)

    migrated, new = described(old_target), described(second_target)

    assert before != new
    assert (migrated - new, new - migrated) == (set(), set())


async def test_failed_migration_leaves_the_schema_unchanged(old_target: str, tmp_path: Path) -> None:
    broken = {**MARKS, "broken": dict.fromkeys(Dialect, "CREATE INDEX broken ON sessions (no_such_column);")}
    before = described(old_target)

    with (
        using_migrations(write_migrations(tmp_path / "m", broken)),
        pytest.raises(BethinkError, match="no_such_column"),
    ):
        await unopened(old_target).open()

    assert described(old_target) == before
    assert await recorded_versions(old_target) == [BASELINE]


def test_product_migrations_are_paired_and_numbered(tmp_path: Path) -> None:
    assert numbering_problems() == []

    gap = write_migrations(tmp_path / "gap", TOMORROW, first=BASELINE + 2)
    with using_migrations(gap):
        assert numbering_problems() == ["a number is missing or repeated"]

    unpaired = write_migrations(tmp_path / "unpaired", TOMORROW)
    (unpaired / "postgres" / "0002_tomorrow.sql").unlink()
    with using_migrations(unpaired):
        assert numbering_problems() == ["not for both databases: tomorrow"]


async def test_different_schemas_have_different_descriptions(new_target: str) -> None:
    database = unopened(new_target)
    await database.open()
    await database.close()
    seen = [described(new_target)]

    for change in (*CHANGES["both"], *CHANGES[kind_of(new_target)]):
        await scripted(new_target, change)
        now = described(new_target)
        assert now not in seen, change
        seen.append(now)


@pytest.mark.parametrize(
    ("versions", "change"),
    [
        ((13, 33), ""),
        ((13, 14), "ALTER TABLE schema_version DROP COLUMN checksum;"),
        ((1,), ""),
    ],
    ids=["newest", "without-checksums", "oldest"],
)
async def test_database_from_before_the_release_is_refused(
    old_target: str, marks: Path, versions: tuple[int, ...], change: str
) -> None:
    rows = ", ".join(f"({version}, '{'baseline' if version == 13 else 'other'}', 0, '')" for version in versions)
    await scripted(old_target, f"DELETE FROM schema_version; INSERT INTO schema_version VALUES {rows}; {change}")
    before = described(old_target)

    with (
        using_migrations(marks),
        pytest.raises(
            ConfigurationError,
            match=rf"schema {versions[-1]} of a version before .*archive with the version that wrote "
            "it, then run 'bethink data import archive FILE'",
        ),
    ):
        await unopened(old_target).open()

    assert described(old_target) == before


async def open_together(target: str) -> list[int]:
    """Open a database four times at once, and return the versions that it recorded."""
    databases = [unopened(target) for _ in range(4)]

    async with anyio.create_task_group() as tasks:
        for database in databases:
            tasks.start_soon(database.open)

    recorded = await versions(databases[0])
    for database in databases:
        await database.close()
    return recorded


async def test_processes_that_open_together_create_one_schema(new_target: str) -> None:
    assert await open_together(new_target) == [BASELINE]


async def test_processes_that_open_together_migrate_once(old_target: str, marks: Path) -> None:
    with using_migrations(marks):
        assert await open_together(old_target) == [BASELINE, 2, 3]


async def upgrade(target: str, folder: Path) -> int:
    """Let a process of tomorrow's version migrate a database, and return the version of its schema."""
    with using_migrations(write_migrations(folder, TOMORROW)):
        await reopened(target)
        return newest_version(Dialect.SQLITE)


async def recorded_versions(target: str) -> list[int]:
    database = unopened(target)
    rows = await database.run_unopened(lambda tx: tx.all("list_versions"))
    return [row["version"] for row in rows]


async def reopened(target: str) -> None:
    database = unopened(target)
    await database.open()
    await database.close()


async def test_a_process_that_does_not_know_the_schema_stops_to_write(new_target: str, tmp_path: Path) -> None:
    old = unopened(new_target)
    await old.open()
    memory = memory_on(old)
    session = await memory.space("alice").session(KEY)
    await session.append(many(1))
    last = await upgrade(new_target, tmp_path / "m")

    with pytest.raises(
        DatabaseUnavailableError, match=rf"is now {last}, but this process supports {last - 1}.* Upgrade"
    ):
        await session.append(many(1))

    assert await memory.backend.local().marks().max_number(session.info) == 1
    await old.close()


async def test_write_fails_after_schema_was_downgraded(old_target: str, marks: Path) -> None:
    with using_migrations(marks):
        new = unopened(old_target)
        await new.open()
        session = await memory_on(new).space("alice").session(KEY)
    await scripted(old_target, f"UPDATE schema_now SET version = {BASELINE}")

    with pytest.raises(DatabaseUnavailableError, match="is now 1, but this process supports 3"):
        await session.append(many(1))
    await new.close()


async def test_migration_waits_for_writers_and_blocks_old_processes(fresh_dsn: str, tmp_path: Path) -> None:
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

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write)
        await to_thread.run_sync(writing.wait)
        await upgrade(fresh_dsn, tmp_path / "m")
        migrating.set()

    with pytest.raises(DatabaseUnavailableError, match="is now 2"):
        await old.transact(lambda tx: tx.run("ensure_space", space="bob", shard=0, now=tx.now), space="bob")
    await old.close()


async def test_altered_migration_is_refused(old_target: str, marks: Path, tmp_path: Path) -> None:
    with using_migrations(marks):
        await reopened(old_target)
    before = described(old_target)
    altered = {**MARKS, "marks": {dialect: f"{text} -- altered" for dialect, text in MARKS["marks"].items()}}

    with (
        using_migrations(write_migrations(tmp_path / "altered", altered)),
        pytest.raises(ConfigurationError, match=r"Migration 2 .* was altered"),
    ):
        await reopened(old_target)

    with using_migrations(marks):
        await reopened(old_target)
    assert described(old_target) == before


async def test_newer_schema_is_rejected_and_unchanged(new_target: str, tmp_path: Path) -> None:
    last = await upgrade(new_target, tmp_path / "m")
    before = described(new_target)

    with pytest.raises(ConfigurationError, match=rf"newer Bethink.* is {last}.*Install a newer version of Bethink"):
        await unopened(new_target).open()

    assert described(new_target) == before
