import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from bethink import AgentStores, ConversationKey, History, LiveHistory, Memory, Message, Settings
from bethink.errors import Unavailable
from tests.conftest import KEY, Quiet, many


def texts(live: LiveHistory) -> list[str]:
    return [message.content for message in live.messages]


@pytest.fixture
def history(memory: Memory) -> History:
    return memory.history(space="alice")


@pytest.mark.spec("S4.69", "S4.71", "S4.72")
async def test_a_new_session_begins_with_the_last_messages_of_its_conversation(history: History) -> None:
    for message in many(5):
        await history.append(KEY, message)

    async with LiveHistory(history, KEY, max_history_len=3) as live:
        assert texts(live) == ["message 3", "message 4", "message 5"]


@pytest.mark.spec("S4.68", "S4.73")
async def test_the_oldest_message_goes_after_each_append_and_stays_in_the_log(history: History) -> None:
    async with LiveHistory(history, KEY, max_history_len=2) as live:
        for number, message in enumerate(many(4), 1):
            await live.append(message)
            assert len(live.messages) == min(number, 2)
        assert texts(live) == ["message 3", "message 4"]

    assert await history.length(KEY) == 4


@pytest.mark.spec("S4.67")
async def test_a_hundred_messages_are_held_unless_told_otherwise(memory: Memory) -> None:
    async with memory.live(KEY, space="alice") as live:
        for message in many(103):
            await live.append(message)
        assert len(live.messages) == 100
        assert texts(live)[0] == "message 4"


@pytest.mark.spec("S4.74", "S4.77")
async def test_what_was_appended_is_stored_in_order_under_the_conversation_key(history: History) -> None:
    async with LiveHistory(history, KEY) as live:
        for message in many(30):
            await live.append(message)

    stored = await history.all(KEY)
    assert [record.message.content for record in stored] == [message.content for message in many(30)]


class Failing(History):
    """A history whose database has gone away."""

    async def append(self, key: ConversationKey, message: object) -> int | None:
        raise Unavailable("gone.")

    async def recent(self, key: ConversationKey, n: int) -> list[object]:  # pyright: ignore[reportIncompatibleMethodOverride]
        raise Unavailable("gone.")


@pytest.mark.spec("S4.75", "S4.77")
async def test_a_store_that_fails_is_logged_and_counted_and_never_stops_the_agent(
    history: History, caplog: pytest.LogCaptureFixture
) -> None:
    failing = Failing(None, space="alice", agent="a", kind=history.kind, redactor=Quiet())

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
async def test_without_a_history_an_agent_still_remembers_what_it_holds(tmp_path: Path) -> None:
    async with LiveHistory(None, KEY, max_history_len=2) as live:
        for message in many(3):
            await live.append(message)
        assert texts(live) == ["message 2", "message 3"]

    assert live.failures == 0


async def handle(
    stores: AgentStores,
    text: str,
    *,
    think: Callable[[list[Message]], str],
    send: Callable[[str], None],
    steps: list[str],
) -> None:
    """A router's way of one message, as far as memory is concerned."""
    history = await stores.resolve_history("assistant")
    steps.append("7b restore")
    async with LiveHistory(history, KEY) as live:
        steps.append("8 user message")
        await live.append({"role": "user", "content": text})
        steps.append("12 think and send")
        answer = think(live.messages)
        send(answer)
        steps.append("13 assistant message")
        await live.append({"role": "assistant", "content": answer})


@pytest.mark.spec("S4.69", "S4.70", "S4.72", "S4.73", "S4.74", "S4.76", "S4.77", "S4.78")
async def test_memory_takes_its_places_in_the_way_of_a_message(tmp_path: Path) -> None:
    stores = AgentStores(Settings(data_dir=str(tmp_path)), redactor=Quiet())
    seen: list[list[str]] = []
    steps: list[str] = []

    def think(messages: list[Message]) -> str:
        seen.append([message.content for message in messages])
        return f"answer {len(seen)}"

    def fail(answer: str) -> None:
        raise ConnectionError(answer)

    await handle(stores, "one", think=think, send=lambda _: None, steps=steps)
    with pytest.raises(ConnectionError):
        await handle(stores, "two", think=think, send=fail, steps=[])
    await handle(stores, "three", think=think, send=lambda _: None, steps=[])

    assert steps == ["7b restore", "8 user message", "12 think and send", "13 assistant message"]
    assert seen == [["one"], ["one", "answer 1", "two"], ["one", "answer 1", "two", "three"]]
    history = await stores.resolve_history("assistant")
    assert history is not None
    stored = [record.message.content for record in await history.all(KEY)]
    assert stored == ["one", "answer 1", "two", "three", "answer 3"]
    await stores.close()
