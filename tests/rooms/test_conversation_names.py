"""Any text names a conversation, beside the keys that have parts."""

import pytest

import bethink
from bethink import Memory, conversation_key
from bethink.errors import Invalid, NotFound
from tests.conftest import said

NAMES = ["hello", "two:parts", "a:b:c:d", "100 % sure", "grüße, 你好", "x" * 2_402]


@pytest.mark.parametrize("name", NAMES)
async def test_a_conversation_goes_by_any_text_from_first_word_to_last(memory: Memory, name: str) -> None:
    session = await memory.space("alice").session(name)
    await session.append(said("The key is under the mat."))
    stored = await memory.space("alice").remember("It is the blue mat.", conversation=name)
    history = memory.local().history("alice")
    await history.append(name, said("Thanks.")[0])
    await history.set_summary(name, "a mat")

    assert stored.session.id == session.id
    assert [entry.conversation for entry in await memory.space("alice").sessions()] == [name]
    assert (await memory.space("alice").explain(stored.refs[0])).text == "It is the blue mat."
    assert [record.message.content for record in await history.all(name)][-1] == "Thanks."
    assert await history.get_summary(name) == "a mat"
    async with memory.space("alice").live(name) as live:
        assert [message.content for message in live.messages][-1] == "Thanks."
    assert (await memory.space("alice").forget(conversation=name)).messages == 3
    with pytest.raises(NotFound):
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
        memory.local().history("alice").all(name),
        memory.local().history("alice").append(name, said("x")[0]),
        memory.local().history("alice").set_summary(name, "x"),
        memory.space("alice").forget(conversation=name),
    ):
        with pytest.raises(Invalid, match="conversation must be 1 to 2,402 bytes"):
            await refused
    with pytest.raises(Invalid, match="conversation must be 1 to 2,402 bytes"):
        memory.space("alice").live(name)
    assert await memory.space("alice").sessions() == []


async def test_what_is_not_text_names_no_conversation(memory: Memory) -> None:
    with pytest.raises(Invalid, match=r"conversation must be str\. It was int"):
        await memory.space("alice").session(7)  # pyright: ignore[reportArgumentType]
    with pytest.raises(Invalid, match="a conversation must be text, not int"):
        await memory.local().history("alice").all(7)  # pyright: ignore[reportArgumentType]


async def test_a_memory_without_a_place_takes_any_text_as_well() -> None:
    async with bethink.connect(enabled=False) as nowhere:
        assert (await nowhere.space("alice").session("hello")).info.conversation_id == "hello"
