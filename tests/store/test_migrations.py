from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
import pytest

from bethink import Memory
from bethink.errors import Misconfigured
from bethink.model.documents import Provenance
from bethink.store.db import Database, Tx
from bethink.store.migrate import migrate, migrations
from bethink.store.postgres import PostgresDatabase, PostgresOptions
from bethink.store.sqlite import SqliteDatabase, SqliteOptions
from tests.conftest import KEY, Quiet, many


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


async def test_a_space_that_held_only_a_thread_is_listed_once_it_is_promised_by_the_migration(new_target: str) -> None:
    database = unopened(new_target)
    database._start()
    old = partial(database._transact, read=False, repeatable=False)
    await old(lambda tx: migrate(tx, upto=11), space=None)
    await old(lambda tx: tx.run("ensure_space", space="alice", shard=0, now=tx.now), space="alice")
    await database._stop()

    await database.open()

    assert await Memory(database, redactor=Quiet()).spaces() == ["alice"]
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


@pytest.mark.parametrize("missing", [0, 1])
async def test_a_schema_newer_than_the_code_is_refused_and_left_as_it_is(new_target: str, missing: int) -> None:
    database = unopened(new_target)
    database._start()
    before = partial(database._transact, space=None, read=False, repeatable=False)
    known = [number for number, _, _ in migrations(database.dialect)][: -missing or None]

    def newer(tx: Tx) -> None:
        migrate(tx, upto=known[-1])
        tx.run("record_version", version=9999, name="from the future", now=tx.now)

    await before(newer)
    await database._stop()

    with pytest.raises(Misconfigured, match=r"newer Bethink.*9999.*pip install --upgrade"):
        await database.open()
    database._start()
    rows = await database._transact(lambda tx: tx.all("list_versions"), space=None, read=True, repeatable=False)
    await database._stop()
    assert [row["version"] for row in rows] == [*known, 9999]


async def test_sources_and_dates_of_a_space_that_learnt_before_are_kept_by_the_migration(new_target: str) -> None:
    database = unopened(new_target)
    database._start()
    old = partial(database._transact, read=False, repeatable=False)
    await old(lambda tx: migrate(tx, upto=12), space=None)

    def old_rows(tx: Tx) -> None:
        tx.run("ensure_space", space="alice", shard=0, now=tx.now)
        tx.run("ensure_agent", space="alice", id="agt_1", name="assistant", kind="primary", now=tx.now)
        tx.run("ensure_conversation", space="alice", id="cnv_1", agent="agt_1", key=str(KEY), now=tx.now)
        tx.run("insert_session", space="alice", id="ses_1", conversation="cnv_1", ordinal=1, learns=1, now=tx.now)
        row = ["alice", "ses_1", 1, 9, "user", "old", None, "[]", None, 0, "{}", "user", None, None, 5]
        tx.insert("insert_messages", [row])
        tx.script(
            "INSERT INTO session_memories (space_id, session_id, raw_memory, summary, slug, until_number,"
            " source_updated_at, generated_at, model, prompt, extractor, token)"
            " VALUES ('alice', 'ses_1', 'notes', 'in short', '', 1, 9, 9, 'none', '', '', 1)"
        )
        for version, ends in ((1, "2"), (2, "NULL")):
            tx.script(
                "INSERT INTO documents (space_id, id, version, valid_from, valid_to, parent_id, slug, title,"
                " description, body, created_at, author_kind, author_id, reason, run, origin)"
                f" VALUES ('alice', 'doc_1', {version}, {version}, {ends}, '', 'tea', 'Tea', '', 'x', 1, 'job', 'w',"
                " '', 'r', 'document')"
            )
        for version, source in ((1, "ses_0"), (2, "ses_1")):
            tx.script(
                "INSERT INTO document_sources (space_id, document_id, version, kind, source_id, number)"
                f" VALUES ('alice', 'doc_1', {version}, 'session_memory', '{source}', 0)"
            )

    await old(old_rows, space="alice")
    await database._stop()
    await database.open()

    memory = Memory(database, redactor=Quiet())
    docs = memory.documents(space="alice")
    assert [[each.id for each in await docs.sources("doc_1", version)] for version in (1, 2)] == [["ses_0"], ["ses_1"]]
    tea = await docs.get("doc_1")
    assert tea is not None
    await docs.update("doc_1", replace(tea.draft(), body="y"), expected=2, by=Provenance())
    assert [[each.id for each in await docs.sources("doc_1", version)] for version in (2, 3)] == [["ses_1"], []]
    session = await memory.get_session(space="alice", session_id="ses_1")
    assert session is not None
    made = await memory.session_memory(session)
    assert made is not None
    assert (made.said_from, made.said_until, made.last_said) == (5, 5, 5)
    await database.close()
