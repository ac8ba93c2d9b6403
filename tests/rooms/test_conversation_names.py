"""Any text can name a conversation, in addition to structured keys."""

import pytest

import bethink
from bethink import Memory
from bethink.errors import InvalidRequestError, NotFoundError
from bethink.model.records import conversation_key
from tests.conftest import said

NAMES = ["hello", "two:parts", "a:b:c:d", "100 % sure", "grüße, 你好", "x" * 2_402]


@pytest.mark.parametrize("name", NAMES)
async def test_conversation_name_can_be_any_text(memory: Memory, name: str) -> None:
    session = await memory.space("alice").session(name)
    await session.append(said("The key is under the mat."))
    stored = await memory.space("alice").remember("It is the blue mat.", conversation=name)
    history = memory.backend.local().history("alice")
    await history.append(name, said("Thanks.")[0])
    await history.set_summary(name, "a mat")

    assert stored.session.id == session.id
    assert [entry.conversation for entry in await memory.space("alice").sessions.list()] == [name]
    assert (await memory.space("alice").explain(stored.refs[0])).text == "It is the blue mat."
    assert [record.message.content for record in await history.all(name)][-1] == "Thanks."
    assert await history.get_summary(name) == "a mat"
    async with memory.space("alice").sessions.live(name) as live:
        assert [message.content for message in live.messages][-1] == "Thanks."
    assert (await memory.space("alice").forget(conversation=name)).messages == 3
    with pytest.raises(NotFoundError):
        await memory.space("alice").forget(conversation="another")


async def test_the_text_of_a_key_names_the_same_conversation(memory: Memory) -> None:
    key = conversation_key(channel="a:b", chat="50 %", thread="line\nbreak")

    by_key = await memory.space("alice").session(key)
    by_text = await memory.space("alice").session(key)

    assert by_text.id == by_key.id


@pytest.mark.parametrize("name", ["", "a\0b", "\ud800", "x" * 2_403, "你" * 801])
async def test_a_text_that_cannot_be_stored_names_no_conversation(memory: Memory, name: str) -> None:
    for refused in (
        memory.space("alice").session(name),
        memory.space("alice").remember("x", conversation=name),
        memory.backend.local().history("alice").all(name),
        memory.backend.local().history("alice").append(name, said("x")[0]),
        memory.backend.local().history("alice").set_summary(name, "x"),
        memory.space("alice").forget(conversation=name),
    ):
        with pytest.raises(InvalidRequestError, match="conversation must be 1 to 2,402 bytes"):
            await refused
    with pytest.raises(InvalidRequestError, match="conversation must be 1 to 2,402 bytes"):
        memory.space("alice").sessions.live(name)
    assert await memory.space("alice").sessions.list() == []


async def test_non_string_conversation_is_rejected(memory: Memory) -> None:
    with pytest.raises(InvalidRequestError, match=r"conversation must be str, not int"):
        await memory.space("alice").session(7)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidRequestError, match="a conversation must be text, not int"):
        await memory.backend.local().history("alice").all(7)  # pyright: ignore[reportArgumentType]


async def test_disabled_memory_accepts_any_conversation_name() -> None:
    async with bethink.connect(enabled=False) as nowhere:
        assert (await nowhere.space("alice").session("hello")).info.conversation_id == "hello"
