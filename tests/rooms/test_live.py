import logging
from functools import partial
from pathlib import Path

import anyio
import pytest

from bethink import Memory, Message, Settings
from bethink.errors import CorruptDatabaseError, DatabaseUnavailableError, OutcomeUnknownError
from bethink.features.agent_databases.databases import AgentStores
from bethink.model.records import conversation_key
from bethink.types import History, LiveHistory, Record
from tests.conftest import KEY, Quiet, many


def texts(live: LiveHistory) -> list[str]:
    return [message.content for message in live.messages]


@pytest.fixture
def history(memory: Memory) -> History:
    return memory.backend.local().history("alice")


@pytest.mark.spec("S4.69", "S4.71", "S4.72")
async def test_a_new_session_begins_with_the_last_messages_of_its_conversation(history: History) -> None:
    for message in many(5):
        await history.append(KEY, message)

    async with LiveHistory(history, KEY, max_history_len=3) as live:
        assert texts(live) == ["message 3", "message 4", "message 5"]


@pytest.mark.spec("S4.68", "S4.73")
async def test_live_history_drops_the_oldest_but_the_log_keeps_it(history: History) -> None:
    async with LiveHistory(history, KEY, max_history_len=2) as live:
        for number, message in enumerate(many(4), 1):
            await live.append(message)
            assert len(live.messages) == min(number, 2)
        assert texts(live) == ["message 3", "message 4"]

    assert await history.length(KEY) == 4


@pytest.mark.spec("S4.67")
async def test_live_history_keeps_100_messages_by_default(memory: Memory) -> None:
    async with memory.space("alice").sessions.live(KEY) as live:
        for message in many(103):
            await live.append(message)
        assert len(live.messages) == 100
        assert texts(live)[0] == "message 4"


@pytest.mark.spec("S4.74", "S4.77")
async def test_live_messages_are_stored_in_order(history: History) -> None:
    async with LiveHistory(history, KEY) as live:
        for message in many(30):
            await live.append(message)

    stored = await history.all(KEY)
    assert [record.message.content for record in stored] == [message.content for message in many(30)]


class Failing(History):
    """A history whose database has gone away."""

    async def append(self, key: str, message: object) -> int:
        raise CorruptDatabaseError("gone.")

    async def recent(self, key: str, n: int) -> list[object]:  # pyright: ignore[reportIncompatibleMethodOverride]
        raise DatabaseUnavailableError("gone.")


@pytest.mark.spec("S4.75", "S4.77")
async def test_failing_store_is_logged_and_never_stops_the_agent(
    history: History, caplog: pytest.LogCaptureFixture
) -> None:
    failing = Failing(history._database, space="alice", agent="a", kind=history.kind, redactor=Quiet())

    async with LiveHistory(failing, KEY) as live:
        await live.append({"role": "user", "content": "a secret"})
        await live.append({"role": "assistant", "content": "another"})
        assert texts(live) == ["a secret", "another"]

    assert live.failures == 3  # the restore and two messages
    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 3
    assert "secret" not in caplog.text


async def test_an_agent_that_fails_still_has_its_users_message_stored(history: History) -> None:
    async def turn() -> None:
        async with LiveHistory(history, KEY) as live:
            await live.append({"role": "user", "content": "question"})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await turn()

    assert [record.message.content for record in await history.all(KEY)] == ["question"]


@pytest.mark.spec("S4.3", "S4.66")
async def test_live_history_works_without_a_store(tmp_path: Path) -> None:
    async with LiveHistory(None, KEY, max_history_len=2) as live:
        for message in many(3):
            await live.append(message)
        assert texts(live) == ["message 2", "message 3"]

    assert live.failures == 0


async def test_messages_of_a_canceled_agent_are_stored(history: History) -> None:
    async with anyio.create_task_group() as tasks:

        async def agent() -> None:
            async with LiveHistory(history, KEY) as live:
                for message in many(200):
                    await live.append(message)
                tasks.cancel_scope.cancel()
                await anyio.sleep_forever()

        tasks.start_soon(agent)

    assert await history.length(KEY) == 200


async def test_messages_not_stored_in_time_are_counted_as_failures(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Hanging(History):
        async def append(self, key: str, message: object) -> int:
            await anyio.sleep_forever()
            raise AssertionError

    monkeypatch.setattr("bethink.memory.log.live._CLOSE_TIMEOUT", 0.01)
    hanging = Hanging(history._database, space="alice", agent="a", kind=history.kind, redactor=Quiet())

    async with LiveHistory(hanging, KEY) as live:
        for message in many(5):
            await live.append(message)

    assert live.failures == 5


async def test_a_short_outage_loses_nothing(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    real, failures = History.append, [DatabaseUnavailableError("away."), OutcomeUnknownError("who knows.")]

    async def append(self: History, key: str, message: Message) -> int:
        if failures:
            raise failures.pop()
        return await real(self, key, message)

    monkeypatch.setattr(History, "append", append)
    async with LiveHistory(history, KEY) as live:
        for message in many(3):
            await live.append(message)

    assert live.failures == 0
    assert [record.message.content for record in await history.all(KEY)] == [each.content for each in many(3)]


async def test_append_canceled_before_handover_is_counted(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    class Hanging(History):
        async def append(self, key: str, message: object) -> int:
            await anyio.sleep_forever()
            raise AssertionError

    monkeypatch.setattr("bethink.memory.log.live._CLOSE_TIMEOUT", 0.01)
    monkeypatch.setattr("bethink.memory.log.live._BUFFER", 1)
    hanging = Hanging(history._database, space="alice", agent="a", kind=history.kind, redactor=Quiet())

    async with LiveHistory(hanging, KEY) as live:
        with anyio.move_on_after(0.1):
            for message in many(5):
                await live.append(message)
        shown = len(live.messages)

    assert live.failures == shown


async def test_a_redactor_that_raises_never_stops_the_agent(memory: Memory, history: History) -> None:
    class Broken:
        def redact(self, text: str) -> str:
            raise ZeroDivisionError

    broken = History(history._database, space="alice", agent="a", kind=history.kind, redactor=Broken())

    async with LiveHistory(broken, KEY) as live:
        await live.append({"role": "user", "content": "x"})

    assert live.failures == 2  # the name of the conversation is redacted, too, before it is looked up


async def test_overlong_name_rejects_only_its_own_message(history: History) -> None:
    name = "".join(chr(0x4E00 + place) for place in range(4_000))

    async with LiveHistory(history, KEY) as live:
        await live.append({"role": "tool", "name": name, "content": "1"})
        await live.append({"role": "tool", "name": name[:256], "content": "2"})

    assert live.failures == 1
    assert [record.message.content for record in await history.all(KEY)] == ["2"]


async def test_a_live_history_that_is_not_open_says_so_and_opens_afresh(history: History) -> None:
    live = LiveHistory(history, KEY)
    with pytest.raises(DatabaseUnavailableError, match="not open"):
        await live.append({"role": "user", "content": "x"})

    for expected in (1, 2):
        async with live:
            await live.append({"role": "user", "content": "x"})
            assert len(live.messages) == expected


class Host:
    """What an agent's host does with it: think, and send."""

    def __init__(self) -> None:
        self.seen: list[list[str]] = []
        self.stored: list[list[str]] = []
        self.sent: list[str] = []
        self.broken = False
        self.history: History | None = None

    async def think(self, messages: list[Message]) -> str:
        self.seen.append([message.content for message in messages])
        return f"answer {len(self.seen)}"

    async def send(self, answer: str) -> None:
        if self.broken:
            raise ConnectionError(answer)
        self.sent.append(answer)


@pytest.mark.spec("S4.69", "S4.70", "S4.71", "S4.72", "S4.73", "S4.74", "S4.76", "S4.77", "S4.78")
async def test_agent_turn_stores_and_restores_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(data_dir=str(tmp_path), max_history_len=3)
    host = Host()
    asked: list[tuple[str, int]] = []
    real = History.recent

    async def recent(self: History, key: str, n: int) -> list[Record]:
        asked.append((self.agent, n))
        return await real(self, key, n)

    monkeypatch.setattr(History, "recent", recent)
    first = AgentStores(settings, redactor=Quiet())
    await first.turn("assistant", KEY, "one", think=host.think, send=host.send)
    await first.turn("assistant", KEY, "two", think=host.think, send=host.send)
    assert asked == [("assistant", 3)]  # restored once, when the conversation was new here

    host.broken = True
    with pytest.raises(ConnectionError):
        await first.turn("assistant", KEY, "three", think=host.think, send=host.send)
    host.broken = False
    await first.close()
    restarted = AgentStores(settings, redactor=Quiet())
    await restarted.turn("assistant", KEY, "four", think=host.think, send=host.send)

    assert asked == [("assistant", 3)] * 2
    assert host.seen == [
        ["one"],
        ["one", "answer 1", "two"],
        ["two", "answer 2", "three"],
        ["answer 2", "three", "four"],
    ]
    assert host.sent == ["answer 1", "answer 2", "answer 4"]
    history = await restarted.resolve_history("assistant")
    assert history is not None
    stored = [record.message.content for record in await history.all(KEY)]
    assert stored == ["one", "answer 1", "two", "answer 2", "three", "four", "answer 4"]
    await restarted.close()


async def test_turns_of_one_conversation_come_one_after_the_other(tmp_path: Path) -> None:
    stores = AgentStores(Settings(data_dir=str(tmp_path)), redactor=Quiet())
    host = Host()

    async with anyio.create_task_group() as tasks:
        for text in ("one", "two", "three"):
            tasks.start_soon(partial(stores.turn, "assistant", KEY, text, think=host.think, send=host.send))

    assert [len(seen) for seen in host.seen] == [1, 3, 5]
    await stores.close()


@pytest.mark.spec("S4.75")
async def test_agent_without_its_file_answers_and_stores_again_later(tmp_path: Path) -> None:
    settings, host = Settings(data_dir=str(tmp_path)), Host()
    path = tmp_path / "agents" / "assistant" / "memory.db"
    before = AgentStores(settings, redactor=Quiet())
    await before.turn("assistant", KEY, "long ago", think=host.think, send=host.send)
    await before.close()
    kept = path.read_bytes()
    path.write_bytes(b"no database at all" * 99)
    stores = AgentStores(settings, redactor=Quiet())

    for text in ("one", "two"):
        await stores.turn("assistant", KEY, text, think=host.think, send=host.send)
    path.write_bytes(kept)
    await stores.turn("assistant", KEY, "three", think=host.think, send=host.send)

    assert host.seen[1:] == [["one"], ["one", "answer 2", "two"], ["long ago", "answer 1", "three"]]
    history = await stores.resolve_history("assistant")
    assert history is not None
    stored = [record.message.content for record in await history.all(KEY)]
    assert stored == ["long ago", "answer 1", "three", "answer 4"]
    await stores.close()


async def test_unused_conversation_is_evicted_and_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bethink.features.agent_databases.databases._MAX_CACHED", 1)
    stores = AgentStores(Settings(data_dir=str(tmp_path)), redactor=Quiet())
    host = Host()
    other = conversation_key(channel="cli", chat="other")

    for key in (KEY, other, KEY):
        await stores.turn("assistant", key, "x", think=host.think, send=host.send)

    assert [len(seen) for seen in host.seen] == [1, 1, 3]
    assert len(stores._recent) == 1
    await stores.close()


@pytest.mark.spec("S4.3", "S4.75", "S4.78")
async def test_an_agent_without_memory_still_takes_its_turns(tmp_path: Path) -> None:
    stores = AgentStores(Settings(), redactor=Quiet())
    host = Host()

    for text in ("one", "two"):
        await stores.turn("assistant", KEY, text, think=host.think, send=host.send)

    assert host.seen == [["one"], ["one", "answer 1", "two"]]
    await stores.close()
