from functools import partial
from pathlib import Path

import anyio
import pytest

from bethink import Memory
from bethink.store.db import Database, Tx
from bethink.store.migrate import migrate, migrations
from bethink.store.postgres import PostgresDatabase, PostgresOptions
from bethink.store.sqlite import SqliteDatabase, SqliteOptions
from tests.conftest import KEY, Quiet, database_at, many


@pytest.fixture(params=["sqlite", "postgres"])
def new_target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database that has never been opened."""
    return str(tmp_path / "new.db") if request.param == "sqlite" else request.getfixturevalue("fresh_dsn")


def unopened(target: str) -> Database:
    if target.startswith("postgresql:"):
        return PostgresDatabase(PostgresOptions(dsn=target, pool_size=2))
    return SqliteDatabase(SqliteOptions(path=target))


@pytest.mark.spec("S4.46", "S4.59")
async def test_a_new_database_gets_every_migration_once_and_remembers_them(new_target: str) -> None:
    database = unopened(new_target)
    await database.open()
    known = [number for number, _, _ in migrations(database.dialect)]

    rows = await database.transact(lambda tx: tx.all("list_versions"), read=True)
    assert [row["version"] for row in rows] == known
    assert await database.transact(migrate) == []
    await database.close()


@pytest.mark.spec("S0.9", "S0.7", "S0.8", "S4.46")
async def test_the_marks_arrive_by_a_migration_on_a_database_that_has_messages(new_target: str) -> None:
    database = unopened(new_target)
    database._start()
    old = partial(database._transact, read=False, repeatable=False)
    assert await old(lambda tx: migrate(tx, upto=1), space=None) == [1]

    def old_rows(tx: Tx) -> None:
        tx.run("ensure_space", space="alice", shard=0, now=tx.now)
        tx.run("ensure_agent", space="alice", id="agt_1", name="assistant", kind="primary", now=tx.now)
        tx.run("ensure_conversation", space="alice", id="cnv_1", agent="agt_1", key=str(KEY), now=tx.now)
        tx.run("insert_session", space="alice", id="ses_1", conversation="cnv_1", ordinal=1, learns=1, now=tx.now)

        row = ["alice", "ses_1", 1, 1, "user", "old", None, "[]", None, 0, "{}", "user", None, None, None]
        tx.insert("insert_messages", [row])
        tx.script("UPDATE sessions SET last_number = 1")

    await old(old_rows, space="alice")
    await database._stop()
    await database.open()

    memory = Memory(database, redactor=Quiet())
    session = await memory.open_session(space="alice", conversation=KEY)
    assert (session.id, session.invalidated_at, session.processed_until) == ("ses_1", None, None)
    await memory.append(session, many(5))
    assert [record.message.content for record in await memory.read(session, limit=2)] == ["old", "message 1"]
    assert [(found.id, found.invalidated_at) for found in await memory.marks().find_invalidated()] == [("ses_1", 6)]
    await database.close()


async def test_many_processes_opening_a_new_database_at_once_migrate_it_once(new_target: str) -> None:
    databases = [unopened(new_target) for _ in range(4)]

    async with anyio.create_task_group() as tasks:
        for database in databases:
            tasks.start_soon(database.open)

    rows = await databases[0].transact(lambda tx: tx.all("list_versions"), read=True)
    assert [row["version"] for row in rows] == [number for number, _, _ in migrations(databases[0].dialect)]
    for database in databases:
        await database.close()


async def test_a_schema_newer_than_the_code_is_left_as_it_is(target: str) -> None:
    database = database_at(target)
    await database.open()

    def newer(tx: Tx) -> list[int]:
        tx.run("record_version", version=9999, name="from the future", now=tx.now)
        applied = migrate(tx)
        tx.script("DELETE FROM schema_version WHERE version = 9999")
        return applied

    assert await database.transact(newer) == []
    await database.close()
