import contextlib
import threading
from collections.abc import AsyncIterator
from typing import Any

import anyio
import psycopg
import pytest
from psycopg import errors as pg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq.abc import PGresult

from bethink import Fact
from bethink.errors import (
    ConfigurationError,
    DatabaseBusyError,
    DatabaseError,
    DatabaseUnavailableError,
    InvalidRequestError,
    OutcomeUnknownError,
)
from bethink.store.db import Tx
from bethink.store.engines import postgres as store
from bethink.store.engines.postgres import PostgresDatabase, PostgresOptions, PostgresTx
from bethink.store.sql import Dialect, queries
from tests.conftest import KEY, many, memory_on, said
from tools.postgres import APP_ROLE, in_database


@pytest.fixture
async def database(clean_dsn: str) -> AsyncIterator[PostgresDatabase]:
    database = PostgresDatabase(PostgresOptions(dsn=clean_dsn, pool_size=2))
    await database.open()
    yield database
    await database.close()


def name_of(dsn: str) -> str:
    return str(conninfo_to_dict(dsn)["dbname"])


def backend(tx: Tx) -> int:
    return rows(tx, "SELECT pg_backend_pid() AS pid")[0]["pid"]


def rows(tx: Tx, text: str) -> list[dict[str, Any]]:
    """Ask the server anything, inside a transaction of ours."""
    assert isinstance(tx, PostgresTx)
    tx._begin()
    return tx._connection.execute(text.encode()).fetchall()


async def test_pgvector_is_at_hand(superuser_dsn: str, clean_dsn: str) -> None:
    with psycopg.connect(in_database(superuser_dsn, name_of(clean_dsn))) as connection:
        row = connection.execute("SELECT '[1,2,3]'::vector <-> '[1,2,5]'::vector").fetchone()

    assert row == (2.0,)


async def test_every_wait_has_an_end(database: PostgresDatabase) -> None:
    def show(tx: Tx) -> dict[str, str]:
        names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
        return {name: rows(tx, f"SHOW {name}")[0][name] for name in names}

    assert await database.transact(show) == {
        "statement_timeout": "30s",
        "lock_timeout": "5s",
        "idle_in_transaction_session_timeout": "1min",
    }
    parameters = database.options.parameters()
    assert parameters["connect_timeout"] == 5
    assert parameters["tcp_user_timeout"] == 10_000
    assert parameters["keepalives"] == 1


async def test_a_role_above_row_level_security_is_refused(superuser_dsn: str, clean_dsn: str) -> None:
    database = PostgresDatabase(PostgresOptions(dsn=in_database(superuser_dsn, name_of(clean_dsn))))

    with pytest.raises(ConfigurationError, match="NOBYPASSRLS"):
        await database.open()
    await database.close()


async def test_a_table_without_forced_row_level_security_is_refused(superuser_dsn: str, fresh_dsn: str) -> None:
    database = PostgresDatabase(PostgresOptions(dsn=fresh_dsn))
    await database.open()
    breaches = {
        "leaky": "CREATE TABLE leaky (space_id text)",
        "spaces": "DROP TABLE leaky; ALTER TABLE spaces NO FORCE ROW LEVEL SECURITY",
        "facts": "ALTER TABLE spaces FORCE ROW LEVEL SECURITY; CREATE POLICY open_door ON facts USING (true)",
    }
    for table, breach in breaches.items():
        await database.transact(lambda tx, breach=breach: tx.script(breach))
        await database.close()
        with pytest.raises(ConfigurationError, match=table):
            await database.open()
        with pytest.raises(DatabaseUnavailableError, match="not open"):
            await database.transact(backend)
        database._ready = True
        database._start()
    await database.close()


async def test_no_space_sees_another_even_without_a_where_clause(database: PostgresDatabase) -> None:
    memory = memory_on(database)
    for space in ("alice", "bob"):
        session = await memory.space(space).session(KEY)
        await session.append(many(3))
        await memory.backend.local().history(space).set_summary(KEY, "s")
        await memory.space(space).facts.save(Fact(id="f", text="x"))

    def everything(tx: Tx) -> list[tuple[str, int]]:
        tables = ("spaces", "agents", "conversations", "summaries", "sessions", "messages", "facts")
        return [(table, rows(tx, f"SELECT count(*) AS n FROM {table}")[0]["n"]) for table in tables]

    assert await database.transact(everything, space="alice") == [
        ("spaces", 1), ("agents", 1), ("conversations", 1), ("summaries", 1), ("sessions", 1), ("messages", 3),
        ("facts", 1),
    ]  # fmt: skip
    assert {count for _, count in await database.transact(everything, space="carol")} == {0}
    assert {count for _, count in await database.transact(everything)} == {0}


async def test_a_row_for_another_space_cannot_be_written(database: PostgresDatabase) -> None:
    with pytest.raises(ConfigurationError, match="row-level security"):
        await database.transact(lambda tx: tx.run("ensure_space", space="bob", shard=0, now=tx.now), space="alice")


async def test_the_partitions_cannot_be_read_behind_their_parent(database: PostgresDatabase) -> None:
    memory = memory_on(database)
    session = await memory.space("alice").session(KEY)
    await session.append(many(3))

    def behind(tx: Tx) -> int:
        return sum(rows(tx, f"SELECT count(*) AS n FROM messages_{part:02}")[0]["n"] for part in range(64))

    assert await database.transact(behind, space="alice") == 0


async def test_a_space_is_forgotten_when_its_transaction_ends(database: PostgresDatabase) -> None:
    one = PostgresDatabase(PostgresOptions(dsn=database.options.dsn, pool_size=1))
    await one.open()
    await one.transact(lambda tx: tx.run("ensure_space", space="alice", shard=0, now=1), space="alice")

    def setting(tx: Tx) -> str:
        return rows(tx, "SELECT current_setting('bethink.space') AS s")[0]["s"]

    assert await one.transact(setting) == ""
    await one.close()


async def kill(superuser_dsn: str, pid: int) -> None:
    with psycopg.connect(superuser_dsn, autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(%s)", [pid])


async def test_lost_idle_connection_is_replaced(database: PostgresDatabase, superuser_dsn: str) -> None:
    memory = memory_on(database)
    session = await memory.space("alice").session(KEY)
    for number in range(3):
        await kill(superuser_dsn, await database.transact(backend))
        assert await session.append(said("x")) == [number + 1]


async def test_connection_lost_before_commit_repeats_the_transaction(
    database: PostgresDatabase, superuser_dsn: str
) -> None:
    tries: list[int] = []

    def body(tx: Tx) -> int:
        tx.run("ensure_space", space="alice", shard=0, now=tx.now)
        tries.append(backend(tx))
        if len(tries) == 1:
            with psycopg.connect(superuser_dsn, autocommit=True) as connection:
                connection.execute("SELECT pg_terminate_backend(%s)", [tries[0]])
        return tx.run("ensure_agent", space="alice", id="agt_1", name="a", kind="primary", now=tx.now)

    assert await database.transact(body, space="alice") == 1
    assert len(tries) == 2


def losing_the_commit(monkeypatch: pytest.MonkeyPatch, superuser_dsn: str, times: int) -> list[bool]:
    """Let the commit reach the server, then take the connection away before its answer is believed."""
    lost: list[bool] = []
    real = store._command

    def command(connection: store.Connection, text: bytes) -> PGresult:
        answer = real(connection, text)
        if text == b"COMMIT" and len(lost) < times:
            lost.append(True)
            connection.close()
            raise psycopg.OperationalError("the connection is closed")
        return answer

    monkeypatch.setattr(store, "_command", command)
    return lost


async def test_commit_of_unknown_outcome_raises_outcome_unknown(
    database: PostgresDatabase, superuser_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = memory_on(database)
    session = await memory.space("alice").session(KEY)
    losing_the_commit(monkeypatch, superuser_dsn, 1)

    with pytest.raises(OutcomeUnknownError, match="idempotency keys"):
        await session.append(said("perhaps"))


async def test_unknown_commit_is_retried_if_every_message_has_a_key(
    database: PostgresDatabase, superuser_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = memory_on(database)
    session = await memory.space("alice").session(KEY)
    lost = losing_the_commit(monkeypatch, superuser_dsn, 1)

    keyed = [{"role": "user", "content": "surely", "idempotency_key": "k"}]
    assert await session.append(keyed) == [1]
    assert lost == [True]
    assert await memory.backend.local().marks().max_number(session.info) == 1


async def test_serialization_failure_repeats_the_transaction(database: PostgresDatabase) -> None:
    tries: list[int] = []

    def body(tx: Tx) -> str:
        tries.append(1)
        if len(tries) < 3:
            tx.script("DO $$ BEGIN RAISE EXCEPTION 'unlucky' USING ERRCODE = '40001'; END $$")
        return "done"

    assert await database.transact(body) == "done"
    assert len(tries) == 3


async def test_a_transaction_that_stays_unlucky_ends_as_busy(
    database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def body(tx: Tx) -> None:
        tx.script("DO $$ BEGIN RAISE EXCEPTION 'unlucky' USING ERRCODE = '40001'; END $$")

    with pytest.raises(DatabaseBusyError, match="unlucky"):
        await database.transact(body)


async def test_lock_wait_ends_at_the_timeout(clean_dsn: str, superuser_dsn: str) -> None:
    database = PostgresDatabase(PostgresOptions(dsn=clean_dsn, lock_timeout=50))
    await database.open()
    memory = memory_on(database)
    session = await memory.space("alice").session(KEY)
    with psycopg.connect(in_database(superuser_dsn, name_of(clean_dsn))) as other:
        other.execute("SELECT 1 FROM sessions FOR UPDATE")

        with pytest.raises(DatabaseBusyError, match="lock timeout"):
            await session.append(said("x"))
    await database.close()


async def test_unreachable_server_is_unavailable() -> None:
    database = PostgresDatabase(PostgresOptions(dsn="postgresql://nobody@127.0.0.1:1/x", connect_timeout=1000))

    with pytest.raises(DatabaseUnavailableError, match="Cannot reach the database"):
        await database.open()
    await database.close()


async def test_an_error_never_quotes_what_was_stored(database: PostgresDatabase) -> None:
    def twice(tx: Tx) -> None:
        tx.run("ensure_space", space="alice", shard=0, now=tx.now)
        for name in ("a secret", "another"):
            tx.run("ensure_agent", space="alice", id="agt_1", name=name, kind="primary", now=tx.now)

    with pytest.raises(Exception, match="Already exists") as caught:
        await database.transact(twice, space="alice")
    assert "secret" not in str(caught.value)
    assert "agt_1" not in str(caught.value)


@pytest.mark.parametrize(
    ("error", "meaning"),
    [
        (pg.QueryCanceled("slow"), DatabaseBusyError),
        (pg.DiskFull("full"), DatabaseUnavailableError),
        (pg.SyntaxError("oops"), DatabaseError),
        (pg.InsufficientPrivilege("no"), ConfigurationError),
        (pg.ProgramLimitExceeded("index row size 12000 exceeds"), InvalidRequestError),
    ],
)
def test_driver_errors_are_translated(error: psycopg.Error, meaning: type[Exception]) -> None:
    assert type(store.translate_error(error, disconnected=False)) is meaning


async def test_value_too_long_for_an_index_is_rejected(database: PostgresDatabase) -> None:
    facts = memory_on(database).space("alice").facts
    subject = "".join(chr(0x4E00 + place) for place in range(4_000))

    with pytest.raises(InvalidRequestError, match="shorter"):
        await facts.save(Fact(id="f", text="x", subject=subject, slot="town"))
    assert await facts.count() == 0


async def test_as_many_transactions_run_at_once_as_there_are_connections(database: PostgresDatabase) -> None:
    barrier = threading.Barrier(2, timeout=5)

    async def one() -> None:
        await database.transact(lambda tx: barrier.wait())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one)
        tasks.start_soon(one)


async def test_the_role_of_the_tests_is_an_ordinary_one(superuser_dsn: str) -> None:
    with psycopg.connect(superuser_dsn) as connection:
        row = connection.execute(
            "SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = %s", [APP_ROLE]
        ).fetchone()

    assert row == (False, False)


async def test_hot_queries_use_their_index_in_one_partition(database: PostgresDatabase) -> None:
    def plan(tx: Tx) -> str:
        tx.script("SET LOCAL enable_seqscan = off")
        question = "SELECT content FROM messages WHERE space_id = 'alice' AND session_id = 's' AND number > 3"
        return "\n".join(row["QUERY PLAN"] for row in rows(tx, f"EXPLAIN {question} ORDER BY number LIMIT 5"))

    text = await database.transact(plan, space="alice")

    assert text.count("Scan") == 1
    assert "pkey" in text


async def test_retried_jobs_are_found_by_their_own_index(database: PostgresDatabase) -> None:
    def plan(tx: Tx) -> str:
        tx.script("SET LOCAL plan_cache_mode = force_generic_plan")
        tx.script(f"PREPARE claim AS {queries(Dialect.POSTGRES)['claim_jobs'].text}")
        # Statistics of an empty table are a guess, and the guess can make a bitmap and a sort look as cheap.
        for costly in ("enable_seqscan", "enable_bitmapscan", "enable_sort"):
            tx.script(f"SET LOCAL {costly} = off")
        found = rows(tx, "EXPLAIN EXECUTE claim (1, 'extract', 1, 1, 'w', 1)")
        return "\n".join(row["QUERY PLAN"] for row in found)

    text = await database.transact(plan)

    fresh, tried = text.split("CTE tried")
    assert "jobs_due" in fresh
    assert "jobs_tried" in tried
    assert "Seq Scan" not in text


async def test_a_word_is_looked_up_in_the_index_of_words_alone(database: PostgresDatabase) -> None:
    """In a space that is a tenth of a large table, the whole primary key of the space was read for each word."""
    query = queries(Dialect.POSTGRES)["postings"]
    values = {"terms": "'{1}'", "others": "'{1}'", "start": "0", "kinds": "'{0}'", "at": "1"}

    def plan(tx: Tx) -> str:
        tx.script(f"PREPARE postings AS {query.text}")
        tx.script("SET LOCAL enable_seqscan = off")
        given = ", ".join(values[each] for each in query.parameters)
        return "\n".join(row["QUERY PLAN"] for row in rows(tx, f"EXPLAIN EXECUTE postings ({given})"))

    text = await database.transact(plan)

    assert "terms_terms" in text
    assert "terms_pkey" not in text


async def test_suppressed_error_fails_the_commit(database: PostgresDatabase) -> None:
    def body(tx: Tx) -> str:
        with contextlib.suppress(psycopg.Error):
            tx.script("SELECT 1 / 0")
        return "all is well"

    with pytest.raises(DatabaseError, match="failed before the commit"):
        await database.transact(body)


async def test_an_answer_that_a_repeat_would_change_is_not_repeated(
    database: PostgresDatabase, superuser_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = memory_on(database)
    session = await memory.space("alice").session(KEY)
    await session.append(many(6))
    losing_the_commit(monkeypatch, superuser_dsn, 1)

    with pytest.raises(OutcomeUnknownError):
        await memory.backend.local().marks().mark_processed(session.info, until=6, expected=6)


def test_outcome_unknown_is_not_an_unavailable() -> None:
    assert not issubclass(OutcomeUnknownError, DatabaseUnavailableError)


async def test_read_with_a_lost_commit_is_repeated(
    database: PostgresDatabase, superuser_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = memory_on(database)
    session = await memory.space("alice").session(KEY)
    await session.append(many(2))
    lost = losing_the_commit(monkeypatch, superuser_dsn, 1)

    assert len(await session.messages()) == 2
    assert lost == [True]


async def test_dsn_options_are_preserved(superuser_dsn: str, clean_dsn: str) -> None:
    clean_dsn = in_database(superuser_dsn, name_of(clean_dsn), user=APP_ROLE)  # no pooler passes them on
    database = PostgresDatabase(PostgresOptions(dsn=f"{clean_dsn}&options=-c%20work_mem%3D77MB"))
    await database.open()

    assert (await database.transact(lambda tx: rows(tx, "SHOW work_mem")))[0]["work_mem"] == "77MB"
    await database.close()


@pytest.mark.parametrize("change", [{"user": "nobody_here"}, {"database": "nowhere_here"}])
async def test_missing_role_or_database_is_misconfigured(superuser_dsn: str, change: dict[str, str]) -> None:
    dsn = in_database(superuser_dsn, change.get("database", "postgres"), user=change.get("user"))

    with pytest.raises(ConfigurationError, match="does not exist"):
        await PostgresDatabase(PostgresOptions(dsn=dsn)).open()


def test_invalid_options_are_rejected() -> None:
    with pytest.raises(ConfigurationError, match="pool_size"):
        PostgresOptions(dsn="x", pool_size=0)
    with pytest.raises(ConfigurationError, match="Cannot parse the PostgreSQL URL"):
        PostgresOptions(dsn="this is no address").parameters()


async def test_endings_and_appends_of_one_conversation_never_lock_each_other_out(database: PostgresDatabase) -> None:
    memory = memory_on(database)
    history = memory.backend.local().history("alice")

    async def talk() -> None:
        for number in range(20):
            await history.append(KEY, {"role": "user", "content": str(number)})

    async def end() -> None:
        for _ in range(20):
            session = await memory.space("alice").session(KEY)
            await session.end()

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            for work in (talk, end, talk, end):
                tasks.start_soon(work)

    assert await history.length(KEY) == 40
    deadlocks = await database.transact(
        lambda tx: rows(tx, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    )
    assert deadlocks[0]["deadlocks"] == 0


async def test_read_transaction_sees_one_snapshot(database: PostgresDatabase) -> None:
    memory = memory_on(database)
    session = await memory.space("alice").session(KEY)
    asked, written = threading.Event(), threading.Event()

    def twice(tx: Tx) -> list[int]:
        first = tx.all("read_messages", space="alice", session=session.id, after=0, limit=9)
        asked.set()
        assert written.wait(5)
        return [len(first), len(tx.all("read_messages", space="alice", session=session.id, after=0, limit=9))]

    counts: list[list[int]] = []

    async def reader() -> None:
        counts.append(await database.transact(twice, space="alice", read_only=True))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(reader)
        await anyio.to_thread.run_sync(asked.wait)
        await session.append(said("meanwhile"))
        written.set()

    assert counts == [[0, 0]]
