import pytest

from bethink import Fact, Memory, Message
from bethink.errors import NotFoundError
from bethink.model.records import conversation_key
from bethink.types import History
from tests.conftest import KEY, many, said


@pytest.fixture
def history(memory: Memory) -> History:
    return memory.backend.local().history("alice")


async def texts(history: History, n: int, key: str = KEY) -> list[str]:
    return [record.message.content for record in await history.recent(key, n)]


@pytest.mark.spec("S4.6", "S4.12", "S4.8")
async def test_appending_opens_a_session_by_itself(history: History) -> None:
    assert [await history.append(KEY, message) for message in many(3)] == [1, 2, 3]

    assert await history.length(KEY) == 3
    assert [record.message.content for record in await history.all(KEY)] == ["message 1", "message 2", "message 3"]


@pytest.mark.spec("S4.7")
async def test_recent_messages_are_in_order(history: History) -> None:
    for message in many(5):
        await history.append(KEY, message)

    assert await texts(history, 2) == ["message 4", "message 5"]
    assert await texts(history, 99) == [f"message {number}" for number in range(1, 6)]
    assert await texts(history, 0) == []
    assert await texts(history, -3) == []


@pytest.mark.spec("S4.5", "S4.7", "S4.8", "S4.12")
async def test_history_spans_the_sessions_of_a_conversation(memory: Memory, history: History) -> None:
    for part in ("a", "b", "c"):
        session = await memory.space("alice").session(KEY)
        await session.append(said(f"{part}1", f"{part}2"))
        await session.restart()

    assert await texts(history, 3) == ["b2", "c1", "c2"]
    assert [record.message.content for record in await history.all(KEY)] == ["a1", "a2", "b1", "b2", "c1", "c2"]
    assert await history.length(KEY) == 6


async def test_unknown_conversation_is_empty_and_cannot_be_deleted(memory: Memory, history: History) -> None:
    assert await history.recent(KEY, 5) == []
    assert await history.all(KEY) == []
    assert await history.length(KEY) == 0
    assert await history.get_summary(KEY) == ""
    with pytest.raises(NotFoundError):
        await memory.space("alice").forget(conversation=KEY)


@pytest.mark.spec("S4.9", "S4.10", "S4.51")
async def test_a_summary_replaces_the_one_before(history: History) -> None:
    assert await history.get_summary(KEY) == ""

    await history.set_summary(KEY, "first")
    await history.set_summary(KEY, "second")

    assert await history.get_summary(KEY) == "second"
    other = conversation_key(channel="cli", chat="other")
    assert await history.get_summary(other) == ""


@pytest.mark.spec("S4.11")
async def test_forget_deletes_history_and_summary_of_one_conversation(memory: Memory, history: History) -> None:
    other = conversation_key(channel="cli", chat="other")
    for key in (KEY, other):
        await history.append(key, Message(role="user", content="x"))
        await history.set_summary(key, "s")
    session = await memory.space("alice").session(KEY)
    following = await session.restart()
    await following.append(many(2))

    assert (await memory.space("alice").forget(conversation=KEY)).messages == 3

    assert await history.length(KEY) == 0
    assert await history.get_summary(KEY) == ""
    assert await history.length(other) == 1
    assert await history.get_summary(other) == "s"


async def test_message_numbers_are_not_reused_after_deletion(memory: Memory, history: History) -> None:
    await history.append(KEY, Message(role="user", content="gone"))
    await memory.space("alice").forget(conversation=KEY)

    assert await history.append(KEY, Message(role="user", content="new")) == 2


async def test_forget_clears_the_mark_and_restarts_the_count(memory: Memory, history: History) -> None:
    session = await memory.space("alice").session(KEY)
    await session.append(many(7))
    await memory.space("alice").forget(conversation=KEY)
    assert await memory.backend.local().marks().find_invalidated() == []
    assert await memory.backend.local().marks().mark_processed(session.info, until=7, expected=7) is False

    await session.append(many(5))
    assert await memory.backend.local().marks().find_invalidated() == []

    await session.append(many(1))
    assert [found.invalidated_at for found in await memory.backend.local().marks().find_invalidated()] == [13]


async def test_histories_of_two_agents_are_separate(memory: Memory, history: History) -> None:
    await history.append(KEY, Message(role="user", content="to one"))

    assert await memory.backend.local().history("alice", agent="other").all(KEY) == []
    assert await memory.backend.local().history("bob").all(KEY) == []


@pytest.mark.spec("S4.1")
async def test_history_and_facts_share_one_memory(memory: Memory) -> None:
    await memory.backend.local().history("alice").append(KEY, Message(role="user", content="I like tea"))
    await memory.space("alice").facts.save(Fact(id="f1", text="Alice likes tea"))

    assert await memory.backend.local().history("alice").length(KEY) == 1
    assert await memory.space("alice").facts.count() == 1
    assert [fact.id for fact in await memory.space("alice").facts.search("tea", limit=5)] == ["f1"]
