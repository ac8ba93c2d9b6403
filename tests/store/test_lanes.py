"""Long texts are processed one at a time, before the transaction, and spaces take turns."""

import threading

import anyio
import anyio.lowlevel
import pytest

from bethink import Message
from bethink.model.documents import DocumentDraft
from bethink.model.records import conversation_key
from bethink.store import lanes
from bethink.store.db import Database
from bethink.store.lanes import LONG, SHORT, Lanes
from tests.conftest import memory_on

LENGTH = LONG + 1


async def take_turn(shared: Lanes, space: str, order: list[str], size: int = LENGTH) -> None:
    async with shared.turn(space, size):
        order.append(space)
        await anyio.lowlevel.checkpoint()


async def test_spaces_take_turns() -> None:
    """A space with many long texts delays another by one of them."""
    shared, order = Lanes(), list[str]()
    async with anyio.create_task_group() as tasks, shared.turn("first", LENGTH):
        for space in ("busy", "busy", "busy", "quiet"):
            tasks.start_soon(take_turn, shared, space, order)
            await anyio.wait_all_tasks_blocked()

    assert order == ["busy", "quiet", "busy", "busy"]


async def test_shorter_texts_do_not_wait_for_long_ones() -> None:
    shared, order = Lanes(), list[str]()
    async with shared.turn("busy", LENGTH):
        with anyio.fail_after(5):
            await take_turn(shared, "busy", order, LONG)
            await take_turn(shared, "busy", order, SHORT)

    assert order == ["busy", "busy"]


async def test_a_canceled_task_gives_its_turn_to_the_next() -> None:
    shared, order = Lanes(), list[str]()
    async with anyio.create_task_group() as tasks, shared.turn("first", LENGTH):
        with anyio.move_on_after(0.01):
            await take_turn(shared, "canceled", order)
        tasks.start_soon(take_turn, shared, "next", order)
        await anyio.wait_all_tasks_blocked()

    assert order == ["next"]


async def test_a_turn_is_free_after_an_error() -> None:
    shared, order = Lanes(), list[str]()
    with pytest.raises(ZeroDivisionError):
        await shared.run("first", LENGTH, lambda: 1 // 0)

    with anyio.fail_after(5):
        await take_turn(shared, "next", order)


async def test_event_loops_share_the_lanes() -> None:
    shared, order = Lanes(), list[str]()
    async with anyio.create_task_group() as tasks, shared.turn("first", LENGTH):
        run = lambda: anyio.run(take_turn, shared, "elsewhere", order)  # noqa: E731
        tasks.start_soon(anyio.to_thread.run_sync, run)
        with anyio.move_on_after(5):
            while not shared._long._waiting:  # noqa: ASYNC110 - the other loop cannot set an event of this one
                await anyio.sleep(0.001)

    assert order == ["elsewhere"]


@pytest.mark.parametrize("active", [True, False])
async def test_long_work_rests_only_while_others_are_active(monkeypatch: pytest.MonkeyPatch, *, active: bool) -> None:
    rests: list[float] = []
    monkeypatch.setattr(lanes.time, "sleep", rests.append)
    monkeypatch.setattr(lanes, "_MIN_PIECE", -1.0)
    monkeypatch.setattr(lanes, "_BREATH", 42.0)
    shared = Lanes()
    shared.note("other" if active else "own")
    shared.note("own")

    await shared.run("own", LENGTH, lambda: None)

    assert rests
    assert (42.0 in rests) is not active  # alone, it only lets other threads run


class Watched:
    """A redactor that notes the threads it runs in."""

    def __init__(self) -> None:
        self.threads: set[str] = set()

    def redact(self, text: str) -> str:
        """Return the text."""
        self.threads.add(threading.current_thread().name)
        return text


@pytest.mark.parametrize("length", [SHORT // 2, LONG, 3 * LONG])
async def test_texts_are_redacted_outside_of_transactions(database: Database, length: int) -> None:
    """No other write waits for the redaction of a text: transactions run in threads of the database."""
    watched, text = Watched(), "word " * (length // 5)
    space = memory_on(database, redactor=watched).space("alice")
    session = await space.session(conversation_key("chat", "1"), metadata={"about": text})
    watched.threads.clear()
    await session.append([Message(role="user", content=text)])
    await space.files.add("a.txt", text=text)
    await space.documents.create(DocumentDraft(slug="a", title="a", body=text))

    assert watched.threads
    assert not [name for name in watched.threads if name.startswith("bethink-")]
