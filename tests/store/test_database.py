import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio
import pytest

from bethink.errors import (
    BethinkError,
    ConfigurationError,
    ConflictError,
    DatabaseBusyError,
    DatabaseUnavailableError,
    DuplicateError,
    InvalidRequestError,
    OutcomeUnknownError,
)
from bethink.store.db import Database, Tx, after_first_commit
from tests.conftest import database_at


def spaces(tx: Tx) -> None:
    tx.run("ensure_space", space="alice", shard=0, now=tx.now)


def agents(tx: Tx) -> list[str]:
    row = tx.first("find_agent", space="alice", name="a")
    return [] if row is None else [row["id"]]


def add_agent(tx: Tx, agent_id: str = "agt_1", name: str = "a") -> None:
    spaces(tx)
    tx.run("ensure_agent", space="alice", id=agent_id, name=name, kind="primary", now=tx.now)


async def test_committed_write_is_visible_after_transact(database: Database) -> None:
    await database.transact(add_agent, space="alice")

    assert await database.transact(agents, space="alice", read_only=True) == ["agt_1"]


async def test_a_body_that_raises_leaves_nothing_behind(database: Database) -> None:
    def body(tx: Tx) -> None:
        add_agent(tx)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await database.transact(body, space="alice")

    assert await database.transact(agents, space="alice", read_only=True) == []


async def test_async_body_is_rejected(database: Database) -> None:
    async def body(tx: Tx) -> None:
        await anyio.lowlevel.checkpoint()

    with pytest.raises(TypeError, match="plain function"):
        await database.transact(body)

    with pytest.raises(TypeError, match="plain function"):
        await database.transact(partial(body))


async def test_a_coroutine_returned_by_a_body_rolls_it_back(database: Database) -> None:
    async def later() -> None: ...

    def body(tx: Tx) -> object:
        add_agent(tx)
        return later()

    with pytest.raises(TypeError, match="returned a coroutine"):
        await database.transact(body, space="alice")

    assert await database.transact(agents, space="alice", read_only=True) == []


async def test_a_transaction_runs_on_one_thread_that_is_not_the_event_loops(database: Database) -> None:
    def body(tx: Tx) -> set[int]:
        add_agent(tx)
        agents(tx)
        return {threading.get_ident()}

    threads = await database.transact(body, space="alice")

    assert len(threads) == 1
    assert threading.get_ident() not in threads


async def test_reading_transactions_cannot_write(database: Database) -> None:
    with pytest.raises(BethinkError, match=r"read-?only"):
        await database.transact(add_agent, space="alice", read_only=True)


async def test_canceled_caller_waits_for_the_transaction(database: Database) -> None:
    running, go_on = threading.Event(), threading.Event()
    done: list[str] = []

    def body(tx: Tx) -> None:
        add_agent(tx)
        running.set()
        assert go_on.wait(5)
        done.append("body")

    async def caller() -> None:
        try:
            await database.transact(body, space="alice")
        finally:
            done.append("caller")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(caller)
        await anyio.to_thread.run_sync(running.wait)
        tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            for _ in range(5):  # time enough for a caller that would not wait
                await anyio.lowlevel.checkpoint()
        go_on.set()

    assert done == ["body", "caller"]
    assert await database.transact(agents, space="alice", read_only=True) == ["agt_1"]


async def test_duplicate_key_and_orphan_raise_their_errors(database: Database) -> None:
    def twice(tx: Tx) -> None:
        add_agent(tx)
        add_agent(tx, name="b")

    with pytest.raises(DuplicateError):
        await database.transact(twice, space="alice")

    def orphan(tx: Tx) -> None:
        tx.run("queue_job", space="nowhere", kind="extract", key="x", watermark=0, now=tx.now)

    with pytest.raises(ConflictError):
        await database.transact(orphan, space="nowhere")


async def test_closed_database_raises_unavailable(target: str) -> None:
    database = database_at(target)
    await database.open()
    await database.close()

    with pytest.raises(DatabaseUnavailableError, match="not open"):
        await database.transact(agents, space="alice")
    await database.close()

    await database.open()
    assert await database.transact(agents, space="alice", read_only=True) == []
    await database.close()


async def test_a_space_that_cannot_be_named_never_reaches_the_database(database: Database) -> None:
    with pytest.raises(InvalidRequestError):
        await database.transact(agents, space="a\0b")


async def test_hostile_names_are_data_and_nothing_else(database: Database) -> None:
    space = "x'; DROP TABLE messages; --"

    def body(tx: Tx) -> int:
        tx.run("ensure_space", space=space, shard=0, now=tx.now)
        return tx.run("ensure_agent", space=space, id="a", name="$1 ?1 %s :name", kind="primary", now=tx.now)

    assert await database.transact(body, space=space) == 1


async def test_transactions_work_under_trio_too(target: str) -> None:
    def run() -> list[str]:
        async def main() -> list[str]:
            database = database_at(target)
            await database.open()
            await database.transact(add_agent, space="alice")
            found = await database.transact(agents, space="alice", read_only=True)
            await database.close()
            return found

        return anyio.run(main, backend="trio")

    assert await anyio.to_thread.run_sync(run) == ["agt_1"]


async def test_many_transactions_at_once_all_finish(database: Database) -> None:
    done: list[int] = []

    def body_of(number: int) -> Callable[[Tx], int]:
        def body(tx: Tx) -> int:
            add_agent(tx, agent_id=f"agt_{number}", name=f"n{number}")
            return number

        return body

    async def one(number: int) -> None:
        done.append(await database.transact(body_of(number), space="alice"))

    async with anyio.create_task_group() as tasks:
        for number in range(30):
            tasks.start_soon(one, number)

    assert sorted(done) == list(range(30))


async def test_an_open_that_failed_leaves_nothing_running_and_can_be_repeated(tmp_path: Path) -> None:
    (tmp_path / "m.db").mkdir()
    database = database_at(str(tmp_path / "m.db"))
    before = threading.active_count()

    for _ in range(3):
        with pytest.raises(ConfigurationError):
            await database.open()
    assert threading.active_count() <= before + 1  # a thread of anyio's own, which it keeps for the next

    (tmp_path / "m.db").rmdir()
    await database.open()
    assert await database.transact(agents, space="alice", read_only=True) == []
    await database.close()


async def test_concurrent_open_and_close_never_leave_it_half_open(target: str) -> None:
    database = database_at(target)
    await database.open()

    async with anyio.create_task_group() as tasks:
        for call in (database.close, database.open, database.close, database.open):
            tasks.start_soon(call)

    if database._ready:
        assert await database.transact(agents, space="alice") == []
    await database.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("bethink-")]


async def test_closing_under_a_cancelled_scope_still_closes(target: str) -> None:
    database = database_at(target)
    await database.open()

    with anyio.CancelScope() as scope:
        scope.cancel()
        await database.close()

    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name.startswith("bethink-")]


async def test_a_database_opened_before_a_fork_is_refused_in_the_child(target: str) -> None:
    database = database_at(target)
    await database.open()
    for lane in {getattr(database, name) for name in ("_writer", "_readers", "_lane") if hasattr(database, name)}:
        lane._process = -1  # as a child sees it

    with pytest.raises(DatabaseUnavailableError, match="before a fork"):
        await database.transact(agents, space="alice")
    await database.close()


async def test_a_thread_that_cannot_start_fails_one_call_and_not_the_next(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = threading.Thread.start
    failures = [RuntimeError("can't start new thread")]

    def start(thread: threading.Thread) -> None:
        if failures and thread.name.startswith("bethink-"):
            raise failures.pop()
        real(thread)

    await database.close()
    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(RuntimeError, match="new thread"):
        await database.open()

    await database.open()
    assert await database.transact(agents, space="alice", read_only=True) == []


def test_error_while_under_way_has_unknown_outcome() -> None:
    with pytest.raises(OutcomeUnknownError), after_first_commit():
        raise DatabaseBusyError("another writer.")
