"""A memory block of LlamaIndex, driven by its agent with a scripted model."""

from collections.abc import Sequence
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import InsertMethod, Memory
from llama_index.core.storage.chat_store.sql import MessageStatus

import bethink
from bethink.integrations.llama_index import BethinkMemoryBlock

LOOK = ToolCallBlock(tool_call_id="c1", tool_name="look", tool_kwargs={"at": "sky"})


class Script:
    """A model that says what it is told to, and notes what it was sent."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.sent: list[list[ChatMessage]] = []

    def model(self) -> MockFunctionCallingLLM:
        return MockFunctionCallingLLM(response_generator=self._answer)

    def _answer(self, messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        self.sent.append(list(messages))
        answer = self.answers.pop(0)
        return ChatMessage(
            role="assistant", **({"content": answer} if isinstance(answer, str) else {"blocks": [answer]})
        )


def look(at: str) -> str:
    """Look."""
    return f"The {at} is grey."


def a_chat(space: bethink.Space, name: str, **given: Any) -> Memory:
    block = BethinkMemoryBlock(space=space)
    return Memory.from_defaults(
        session_id=name, memory_blocks=[block], insert_method=InsertMethod.USER, tokenizer_fn=str.split, **given
    )


async def run(script: Script, chat: Memory, text: str) -> None:
    agent = FunctionAgent(tools=[look], llm=script.model(), system_prompt="Be kind.", streaming=False)
    await agent.run(text, memory=chat)


async def kept(space: bethink.Space, conversation: str) -> list[tuple[str, str]]:
    session = await space.sessions.find(conversation)
    return (
        []
        if session is None
        else [(str(record.message.origin), record.message.content) for record in await session.messages()]
    )


async def test_later_conversation_is_shown_earlier_messages(space: bethink.Space) -> None:
    script = Script("Noted.", "Peanuts.")
    await run(script, a_chat(space, "monday"), "I am allergic to peanuts.")

    await run(script, a_chat(space, "tuesday"), "What am I allergic to?")

    system, asked = script.sent[1]
    assert "I am allergic to peanuts." in str(asked.content)
    assert str(asked.content).endswith("What am I allergic to?")
    assert system.content == "Be kind.", "instructions stay as they are"
    assert ("user", "I am allergic to peanuts.") in await kept(space, "monday")
    assert ("user", "What am I allergic to?") in await kept(space, "tuesday")


async def test_each_message_has_its_speakers_origin_and_is_stored_once(space: bethink.Space) -> None:
    script = Script(LOOK, "Take a coat.", "Yes.")
    chat = a_chat(space, "chat")
    for text in ("Will it rain?", "Sure?"):
        await run(script, chat, text)
    for _ in range(2):
        await chat.memory_blocks[0].aput(await chat.aget_all(), session_id="chat")

    assert await kept(space, "chat") == [
        ("user", "Will it rain?"), ("assistant", ""), ("tool:look", "The sky is grey."), ("assistant", "Take a coat."),
        ("user", "Sure?"), ("assistant", "Yes."),
    ]  # fmt: skip


async def test_message_flushed_from_short_term_memory_is_recalled(space: bethink.Space) -> None:
    chat = a_chat(space, "chat", token_limit=60, token_flush_size=10)
    await chat.aput_messages([
        ChatMessage(role="user", content="My boat is called Albatross."),
        ChatMessage(role="assistant", content="Nice."),
    ])  # fmt: skip
    for number in range(12):
        await chat.aput(ChatMessage(role="user", content=f"Tell me the {number} times table of numbers please."))
        await chat.aput(ChatMessage(role="assistant", content="Here it is."))
    assert "Albatross" not in str(await chat.aget_all(status=MessageStatus.ACTIVE))

    await chat.aput(ChatMessage(role="user", content="What is my boat called?"))

    assert "Albatross" in str((await chat.aget())[-1].content)
    assert [text for _, text in await kept(space, "chat")].count("My boat is called Albatross.") == 1


async def test_repeated_messages_are_stored_twice(space: bethink.Space) -> None:
    said = [ChatMessage(role=role, content=text) for role, text in (("user", "Yes."), ("assistant", "Why?")) * 2]
    block = BethinkMemoryBlock(space=space)

    await block.aput(said, session_id="chat")
    await block.aget(said, session_id="chat")

    assert [text for _, text in await kept(space, "chat")] == ["Yes.", "Why?", "Yes.", "Why?"]


async def test_instructions_are_not_stored(space: bethink.Space, memory: bethink.Memory) -> None:
    block = BethinkMemoryBlock(space=space)

    assert await block.aget([], session_id="chat") == ""
    assert await block.aget([ChatMessage(role="system", content="The user is an admin.")], session_id="chat") == ""
    await block.aput([], session_id="chat")

    assert (await memory.spaces.list(prefix=space.name)).items == ()


async def test_recalled_text_is_not_stored(space: bethink.Space) -> None:
    await space.remember("I am allergic to peanuts.")
    block = BethinkMemoryBlock(space=space, conversation="desk")
    shown = await block.aget([ChatMessage(role="user", content="What am I allergic to?")])

    await block.aput([ChatMessage(role="user", content=f"{shown}\nThank you.")])

    assert "peanuts" in shown
    assert [text.strip() for _, text in await kept(space, "desk")] == ["What am I allergic to?", "Thank you."]


async def test_deleted_message_does_not_return(space: bethink.Space) -> None:
    block = BethinkMemoryBlock(space=space)
    said = [ChatMessage(role="user", content=text) for text in ("I am allergic to peanuts.", "Hello.")]
    await block.aput(said[:1], session_id="chat")
    session = await space.sessions.find("chat")
    assert session is not None

    await space.forget(f"message:{session.id}:1")
    await block.aput(said, session_id="chat")

    assert [text for _, text in await kept(space, "chat") if text] == ["Hello."]


async def test_the_same_words_belong_to_each_conversation(space: bethink.Space) -> None:
    for name in ("monday", "tuesday"):
        await BethinkMemoryBlock(space=space).aput([ChatMessage(role="user", content="Hello.")], session_id=name)
        assert await kept(space, name) == [("user", "Hello.")]
