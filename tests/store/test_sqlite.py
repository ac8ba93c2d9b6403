# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
import os
import random
import stat
import threading
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import apsw
import pytest

from bethink import Fact
from bethink.errors import (
    ConfigurationError,
    ConflictError,
    CorruptDatabaseError,
    DatabaseBusyError,
    DatabaseError,
    DatabaseUnavailableError,
    OutcomeUnknownError,
)
from bethink.store.db import Tx
from bethink.store.engines import checkpoint
from bethink.store.engines.checkpoint import Checkpointer
from bethink.store.engines.connection_thread import ThreadConnection
from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions, SqliteTx, translate_error
from bethink.store.sql import Dialect, queries
from tests.conftest import KEY, many, memory_on


async def pragma(database: SqliteDatabase, name: str, *, read: bool = False) -> object:
    lane = database._readers if read else database._writer
    return await lane.run(lambda holder: holder.connection().pragma(name))


async def opened(path: Path, **options: object) -> SqliteDatabase:
    database = SqliteDatabase(SqliteOptions(path=str(path), **options))  # pyright: ignore[reportArgumentType]
    await database.open()
    return database


@pytest.mark.spec("S4.44", "S4.48", "S4.58")
async def test_a_file_is_opened_in_wal_mode_fully_synchronous_and_patient(tmp_path: Path) -> None:
    database = await opened(tmp_path / "m.db")

    assert await pragma(database, "journal_mode") == "wal"
    assert await pragma(database, "synchronous") == 2
    assert await pragma(database, "busy_timeout") == 5000
    assert await pragma(database, "foreign_keys") == 1
    await database.close()


@pytest.mark.spec("S4.44", "S4.48", "S4.58")
async def test_query_plan_is_independent_of_bound_values(tmp_path: Path) -> None:
    database = await opened(tmp_path / "m.db")

    def set_so(holder: ThreadConnection[apsw.Connection]) -> int:
        return holder.connection().config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, -1)

    found = [await lane.run(set_so) for lane in (database._writer, database._readers)]

    assert found == [1, 1]
    await database.close()


async def test_wal_synchronous_and_busy_timeout_can_be_set(tmp_path: Path) -> None:
    database = await opened(tmp_path / "m.db", wal=False, synchronous="EXTRA", busy_timeout=7)

    assert await pragma(database, "journal_mode") == "delete"
    assert await pragma(database, "synchronous") == 3
    assert await pragma(database, "busy_timeout") == 7
    await database.close()


@pytest.mark.parametrize(("option", "value"), [("synchronous", "MAYBE"), ("busy_timeout", -1), ("readers", -1)])
def test_invalid_options_are_rejected(option: str, value: object) -> None:
    with pytest.raises(ConfigurationError, match=option):
        SqliteOptions(path="x", **{option: value})  # pyright: ignore[reportArgumentType]


@pytest.mark.spec("S4.57")
async def test_the_folder_of_the_file_is_created_for_its_owner_only(tmp_path: Path) -> None:
    database = await opened(tmp_path / "data" / "memory.db")

    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
    await database.close()


async def test_a_new_file_is_its_owners_only(tmp_path: Path) -> None:
    database = await opened(tmp_path / "memory.db")
    memory = memory_on(database)
    await memory.space("alice").session(KEY)

    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in os.listdir(tmp_path)} == {0o600}
    await database.close()


@pytest.mark.spec("S4.86")
async def test_wal_exists_next_to_the_file_while_open(tmp_path: Path) -> None:
    database = await opened(tmp_path / "memory.db")

    assert set(os.listdir(tmp_path)) == {"memory.db", "memory.db-wal", "memory.db-shm"}
    await database.close()
    assert os.listdir(tmp_path) == ["memory.db"]


@pytest.mark.spec("S4.47")
async def test_all_writes_use_one_connection_and_reads_use_others(tmp_path: Path) -> None:
    database = await opened(tmp_path / "m.db")

    def connection(tx: Tx) -> int:
        assert isinstance(tx, SqliteTx)
        return id(tx._connection)

    writers: set[int] = set()
    readers: set[int] = set()

    async def ask(found: set[int], *, read: bool) -> None:
        found.add(await database.transact(connection, read_only=read))

    async with anyio.create_task_group() as tasks:
        for number in range(40):
            tasks.start_soon(partial(ask, readers if number % 2 else writers, read=bool(number % 2)))

    assert len(writers) == 1
    assert 1 <= len(readers) <= 2
    assert not writers & readers
    await database.close()


@pytest.mark.spec("S4.2", "S4.21")
async def test_a_database_in_memory_is_the_same_code_without_a_file() -> None:
    database = SqliteDatabase(SqliteOptions(path=":memory:"))
    await database.open()
    memory = memory_on(database)

    session = await memory.space("alice").session(KEY)

    async def talk() -> None:
        await session.append(many(3))

    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(talk)

    assert [record.number for record in await session.messages()] == list(range(1, 61))
    await database.close()


@pytest.mark.spec("S4.43", "S4.49", "S4.50", "S4.51", "S4.52", "S4.85")
async def test_one_file_contains_the_whole_schema(tmp_path: Path) -> None:
    database = await opened(tmp_path / "memory.db")
    await database.close()
    connection = apsw.Connection(str(tmp_path / "memory.db"))

    def columns(table: str, *, key: bool = False) -> list[str]:
        text = "SELECT name FROM pragma_table_info(?) WHERE pk > 0 OR ? ORDER BY pk"
        return [str(row[0]) for row in connection.execute(text, (table, not key))]

    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert {"messages", "summaries", "facts", "terms", "terms_fts", "schema_version", "sessions"} <= tables
    assert columns("messages", key=True) == ["space_id", "session_id", "number"]
    assert columns("summaries", key=True) == ["space_id", "conversation_id"]
    assert {"metadata", "tool_calls"} <= set(columns("messages"))
    assert {"invalidated_at", "processed_until"} <= set(columns("sessions"))
    connection.close()


async def test_metadata_that_is_not_json_cannot_be_stored_even_by_hand(tmp_path: Path) -> None:
    database = await opened(tmp_path / "memory.db")
    memory = memory_on(database)
    session = await memory.space("alice").session(KEY)
    await session.append(many(1))

    with pytest.raises(ConflictError, match="json_valid"):
        await database.transact(lambda tx: tx.script("UPDATE messages SET metadata = '{'"))
    await database.close()


@pytest.mark.spec("S4.45", "S4.53")
async def test_the_index_stays_in_step_through_insert_upsert_and_delete(tmp_path: Path) -> None:
    database = await opened(tmp_path / "memory.db")
    alice = memory_on(database).space("alice")
    facts = alice.facts
    for round_ in range(5):
        for number in range(10):
            await facts.save(Fact(id=f"f{number}", text=f"word{number} round{round_}"))
    for number in range(0, 10, 2):
        await alice.forget(f"fact:f{number}:0")

    await database.transact(
        lambda tx: tx.script("INSERT INTO terms_fts (terms_fts, rank) VALUES ('integrity-check', 1)")
    )
    assert len(await facts.search("round4", limit=99)) == 5
    assert await facts.search("round3", limit=99) == []
    assert await facts.search("word2", limit=99) == []
    await database.close()
    connection = apsw.Connection(str(tmp_path / "memory.db"))
    triggers = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")}
    tables = ("messages", "facts", "session_summaries", "documents")
    assert {f"{table}_terms_{when}" for table in tables for when in ("ad", "au")} <= triggers
    connection.close()


async def test_deleted_text_is_not_left_in_the_file(tmp_path: Path) -> None:
    database = await opened(tmp_path / "memory.db")
    memory = memory_on(database)
    history = memory.backend.local().history("alice")
    await history.append(KEY, {"role": "user", "content": "canarycanary " * 40})
    await memory.space("alice").facts.save(Fact(id="f", text="canarycanary sings"))
    await memory.space("alice").forget(conversation=KEY)
    await memory.space("alice").forget("fact:f:0")
    await database.close()

    assert b"canarycanary" not in (tmp_path / "memory.db").read_bytes()


async def test_file_locked_by_another_writer_raises_busy(tmp_path: Path) -> None:
    database = await opened(tmp_path / "m.db", busy_timeout=20)
    other = apsw.Connection(str(tmp_path / "m.db"))
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(DatabaseBusyError, match="20 ms"):
        await database.transact(lambda tx: tx.run("ensure_space", space="a", shard=0, now=1))

    other.execute("ROLLBACK")
    await database.transact(lambda tx: tx.run("ensure_space", space="a", shard=0, now=1))
    other.close()
    await database.close()


async def test_locked_new_file_raises_busy_after_the_timeout(tmp_path: Path) -> None:
    other = apsw.Connection(str(tmp_path / "m.db"))
    other.execute("BEGIN EXCLUSIVE; CREATE TABLE x (y)")

    with pytest.raises(DatabaseBusyError):
        await opened(tmp_path / "m.db", busy_timeout=20)
    other.close()


async def test_file_that_is_not_a_database_is_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    path.write_bytes(b"these are somebody's notes, not a database" * 99)

    with pytest.raises(CorruptDatabaseError, match="backup"):
        await opened(path)
    assert path.read_bytes().startswith(b"these are")


@pytest.mark.parametrize("tables", ["CREATE TABLE x (y)", "CREATE TABLE schema_version (version)"])
@pytest.mark.parametrize("journal", ["delete", "wal"])
async def test_foreign_database_is_rejected_and_unchanged(tmp_path: Path, tables: str, journal: str) -> None:
    path = tmp_path / "theirs.db"
    other = apsw.Connection(str(path))
    other.pragma("journal_mode", journal)
    other.execute(tables)
    other.close()
    before = path.read_bytes()

    with pytest.raises(ConfigurationError, match=r"is not a Bethink database.*Use another file"):
        await opened(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["theirs.db"]


async def test_an_empty_file_may_become_a_memory(tmp_path: Path) -> None:
    (tmp_path / "m.db").touch()

    await (await opened(tmp_path / "m.db")).close()
    await (await opened(tmp_path / "m.db")).close()


async def test_uncreatable_folder_is_misconfigured(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(ConfigurationError, match="Cannot create"):
        await opened(tmp_path / "file" / "m.db")


async def test_unopenable_path_is_misconfigured(tmp_path: Path) -> None:
    (tmp_path / "m.db").mkdir()

    with pytest.raises(ConfigurationError, match="permissions"):
        await opened(tmp_path / "m.db")


def test_a_file_in_a_folder_that_cannot_be_written_to_is_to_be_copied() -> None:
    told = translate_error(apsw.ReadOnlyError("attempt to write a readonly database"), SqliteOptions(path="x"))

    assert isinstance(told, ConfigurationError)
    assert told.hint.endswith("Copy the file to a writable folder.")


@pytest.mark.parametrize(
    ("error", "meaning"),
    [
        (apsw.FullError("full"), DatabaseUnavailableError),
        (apsw.IOError("eio"), DatabaseUnavailableError),
        (apsw.SQLError("syntax"), DatabaseError),
    ],
)
def test_driver_errors_are_translated(error: apsw.Error, meaning: type[Exception]) -> None:
    assert type(translate_error(error, SqliteOptions(path="x"))) is meaning


class FailingDisk(apsw.VFS):
    """A disk that cannot be made to keep anything, from when `fails` is set."""

    def __init__(self) -> None:
        self.real = apsw.vfs_names()[0]
        super().__init__("failing", self.real, makedefault=True)
        self.fails = False

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        disk = self

        class File(apsw.VFSFile):
            def xSync(self, flags: int) -> None:  # noqa: N802
                if disk.fails:
                    raise apsw.IOError("it did not answer")
                super().xSync(flags)

        return File(self.real, name, flags)


async def test_a_commit_that_the_disk_did_not_confirm_is_of_unknown_outcome(tmp_path: Path) -> None:
    disk = FailingDisk()
    try:
        database = SqliteDatabase(SqliteOptions(path=str(tmp_path / "m.db"), wal=False, readers=0))
        await database.open()
        disk.fails = True
        with pytest.raises(OutcomeUnknownError, match="while committing"):
            await database.transact(lambda tx: tx.run("ensure_space", space="alice", shard=0, now=tx.now))
        disk.fails = False
        await database.close()
    finally:
        disk.unregister()


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("read_messages", "sqlite_autoindex_messages_1"),
        ("count_since", "sqlite_autoindex_messages_1"),
        ("find_keys", "messages_idempotency"),
        ("list_marked", "jobs_marked"),
        ("claim_jobs", "jobs_due"),
        ("claim_jobs", "jobs_tried"),
        ("claim_extractions", "SEARCH t USING INDEX learning_turns_fresh (fresh_due_at<?)"),
        ("claim_extractions", "SEARCH j USING INDEX jobs_said (space_id=? AND kind=?)"),
        ("claim_tried_extractions", "SEARCH t USING INDEX learning_turns_retries (retry_due_at<?)"),
        ("claim_tried_extractions", "SEARCH j USING INDEX jobs_extracting (space_id=? AND kind=? AND status=?)"),
        ("claim_extraction_in", "SEARCH j USING INDEX jobs_said (space_id=? AND kind=?)"),
        ("take_numbers", "sqlite_autoindex_sessions_1"),
        ("take_numbers", "SEARCH i USING INTEGER PRIMARY KEY (rowid<?)"),
        ("match_messages", "SEARCH t USING INTEGER PRIMARY KEY (rowid=?)"),
        (
            "match_messages",
            "SEARCH m USING INDEX sqlite_autoindex_messages_1 (space_id=? AND session_id=? AND number=?)",
        ),
        ("match_facts", "SEARCH t USING INTEGER PRIMARY KEY (rowid=?)"),
        ("match_documents", "SEARCH t USING INTEGER PRIMARY KEY (rowid=?)"),
        ("read_messages_at", "sqlite_autoindex_messages_1 (space_id=? AND session_id=? AND number=?)"),
        ("gone_facts", "sqlite_autoindex_facts_1 (space_id=? AND id=? AND version=?)"),
        ("recent_missing_vectors", "sqlite_autoindex_messages_1 (space_id=? AND session_id=? AND number>?)"),
    ],
)
async def test_hot_queries_use_their_index(tmp_path: Path, name: str, index: str) -> None:
    database = await opened(tmp_path / "m.db")

    def plan(holder: ThreadConnection[apsw.Connection]) -> str:
        query = queries(Dialect.SQLITE)[name]
        rows = holder.connection().execute(f"EXPLAIN QUERY PLAN {query.text}", (None,) * len(query.parameters))
        return " ".join(str(row[3]) for row in rows)

    text = await database._writer.run(plan)

    assert index in text
    assert "SCAN messages" not in text
    await database.close()


@pytest.mark.parametrize(("limit", "by"), [("_MIN_PAGES", "bethink-checkpoint"), ("_MAX_PAGES", "bethink-writer-1")])
async def test_long_log_is_checkpointed_in_the_background(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, by: str
) -> None:
    folded: list[str] = []
    done = threading.Event()
    real = Checkpointer._merge_log

    def fold(checkpointer: Checkpointer, connection: apsw.Connection) -> None:
        real(checkpointer, connection)
        folded.append(threading.current_thread().name)
        done.set()

    monkeypatch.setattr(checkpoint, limit, 5)
    monkeypatch.setattr(Checkpointer, "_merge_log", fold)
    database = await opened(tmp_path / "m.db")
    memory = memory_on(database)
    session = await memory.space("alice").session(KEY)
    for _ in range(10):
        await session.append(many(20))
    assert await anyio.to_thread.run_sync(done.wait, 5)
    await database.close()

    assert set(folded) == {by}
    again = await opened(tmp_path / "m.db")
    reopened = await memory_on(again).space("alice").sessions.get(session.id)
    assert len(await reopened.messages()) == 200
    await again.close()


@pytest.mark.parametrize(("error", "said"), [(apsw.BusyError("busy"), False), (apsw.IOError("eio"), True)])
def test_a_fold_that_fails_never_fails_the_commit(
    error: apsw.Error, said: bool, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        def wal_checkpoint(self, **_: object) -> None:
            raise error

    checkpointer = Checkpointer(Broken, log=None, slack=None, busy_timeout=0)  # pyright: ignore[reportArgumentType]
    checkpointer._merge_log(Broken())  # pyright: ignore[reportArgumentType]

    assert ("could not checkpoint the write-ahead log" in caplog.text) is said


@pytest.mark.parametrize("count", [1, 9, 10, 11, 20, 25])
async def test_batches_of_any_size_are_stored_in_order(tmp_path: Path, count: int) -> None:
    database = await opened(tmp_path / "m.db")
    memory = memory_on(database)
    session = await memory.space("alice").session(KEY)

    assert await session.append(many(count)) == list(range(1, count + 1))
    stored = [(record.number, record.message.content) for record in await session.messages()]
    assert stored == [(number, f"message {number}") for number in range(1, count + 1)]
    await database.close()


def test_a_fold_whose_file_cannot_be_opened_waits_for_the_next(caplog: pytest.LogCaptureFixture) -> None:
    tries: list[int] = []
    tried = threading.Event()

    def connect() -> apsw.Connection:
        tries.append(1)
        tried.set()
        raise apsw.CantOpenError("no") if len(tries) == 1 else ConfigurationError("no.")

    folder = checkpoint.Checkpointer(connect, log=None, slack=None, busy_timeout=0)
    folder.start()
    for count in (1, 2):
        folder._wake.set()
        assert tried.wait(5)
        tried.clear()
        assert len(tries) == count
    folder.close()
    folder.close()

    assert "cannot checkpoint the write-ahead log" in caplog.text


async def test_very_long_texts_leave_the_index_too(tmp_path: Path) -> None:
    database = await opened(tmp_path / "memory.db")
    alice = memory_on(database).space("alice")
    draw = random.Random(2)
    for number in range(30):
        long = "more " * draw.choice([800, 4_000, 9_000, 20_000])
        short = " ".join(f"w{draw.randint(0, 400)}" for _ in range(draw.choice([2, 30, 300])))
        await alice.facts.save(Fact(id=f"f{number % 12}", text=draw.choice([long, short])))

    for number in range(12):
        await alice.forget(f"fact:f{number}:0")
    await database.close()
    connection = apsw.Connection(str(tmp_path / "memory.db"))
    assert list(connection.execute("SELECT doc FROM terms")) == []
    assert list(connection.execute("SELECT rowid FROM terms_fts")) == []
    connection.close()
