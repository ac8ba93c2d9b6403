"""A context provider of the Microsoft Agent Framework, driven by its agent with a scripted model."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    ContextProvider,
    FunctionInvocationLayer,
    InMemoryHistoryProvider,
    Message,
    ResponseStream,
)

import bethink
from bethink.integrations.agent_framework import BethinkContextProvider

LOOK = Content.from_function_call("c1", "look", arguments={"at": "sky"})


class Scripted(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """A model that says what it is told to, and notes what it was sent."""

    def __init__(self, *answers: Any) -> None:
        super().__init__()
        self.answers = list(answers)
        self.sent: list[list[str]] = []

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **_: Any
    ) -> Any:
        self.sent.append([f"{message.role}: {message.text}" for message in messages])
        parts = [self.answers.pop(0)]

        async def answer() -> ChatResponse:
            return ChatResponse(messages=[Message("assistant", parts)])

        async def pieces() -> AsyncIterator[ChatResponseUpdate]:
            yield ChatResponseUpdate(role="assistant", contents=[Content.from_text(parts[0])])

        return ResponseStream(pieces(), finalizer=ChatResponse.from_updates) if stream else answer()


class Reminder(ContextProvider):
    """Adds to the prompt in the role of the user, as other providers do."""

    async def before_run(self, *, agent: Any, session: Any, context: Any, state: Any) -> None:
        context.extend_messages(self, [Message("user", ["The user is a pilot."])])


def look(at: str) -> str:
    """Look."""
    return f"The {at} is grey."


def an_agent(client: Scripted, *providers: ContextProvider, **given: Any) -> Agent[Any]:
    return Agent(client=client, context_providers=[InMemoryHistoryProvider(), *providers], tools=[look], **given)


async def kept(space: bethink.Space, conversation: str) -> list[tuple[str, str]]:
    session = await space.sessions.find(conversation)
    return (
        []
        if session is None
        else [(str(record.message.origin), record.message.content) for record in await session.messages()]
    )


async def test_later_session_is_shown_earlier_messages(space: bethink.Space) -> None:
    client = Scripted("Noted.", "Peanuts.")
    agent = an_agent(client, BethinkContextProvider(space))
    await agent.run("I am allergic to peanuts.", session=agent.create_session(session_id="monday"))

    await agent.run("What am I allergic to?", session=agent.create_session(session_id="tuesday"))

    block, question = client.sent[1]
    assert "I am allergic to peanuts." in block
    assert question == "user: What am I allergic to?"
    assert await kept(space, "monday") == [("user", "I am allergic to peanuts."), ("assistant", "Noted.")]
    assert await kept(space, "tuesday") == [("user", "What am I allergic to?"), ("assistant", "Peanuts.")]


async def test_memory_block_follows_the_history_and_is_not_stored(space: bethink.Space) -> None:
    await space.remember("I live in Bergen.")
    client = Scripted("Hello.", "Yes.", "Bye.")
    agent = an_agent(client, BethinkContextProvider(space, conversation="chat"))
    session = agent.create_session()
    for text in ("Good morning.", "Do I live in Bergen?", "Good night."):
        await agent.run(text, session=session)

    assert client.sent[1][:2] == ["user: Good morning.", "assistant: Hello."]
    assert "I live in Bergen." in client.sent[1][2]
    assert client.sent[1][3:] == ["user: Do I live in Bergen?"]
    assert client.sent[2][:4] == [
        "user: Good morning.", "assistant: Hello.", "user: Do I live in Bergen?", "assistant: Yes.",
    ]  # fmt: skip
    assert [text for _, text in await kept(space, "chat")] == [
        "Good morning.", "Hello.", "Do I live in Bergen?", "Yes.", "Good night.", "Bye.",
    ]  # fmt: skip


async def test_only_what_the_caller_passes_is_the_users_word(space: bethink.Space) -> None:
    agent = an_agent(
        Scripted(LOOK, "Take a coat."), Reminder("reminder"), BethinkContextProvider(space, conversation="chat"),
        instructions="Be kind.",
    )  # fmt: skip

    await agent.run("Will it rain?")

    assert await kept(space, "chat") == [
        ("user", "Will it rain?"), ("assistant", ""), ("tool:look", "The sky is grey."), ("assistant", "Take a coat."),
    ]  # fmt: skip


async def test_message_from_another_agent_is_not_from_the_user(space: bethink.Space) -> None:
    provider = BethinkContextProvider(space, conversation="help", prompted_by_user=False)

    await an_agent(Scripted("Yes."), provider).run("The user wants to delete everything.")

    assert [origin for origin, _ in await kept(space, "help")] == ["assistant", "assistant"]


async def test_only_new_messages_of_a_full_history_are_stored(space: bethink.Space) -> None:
    history = [Message("user", ["I live in Bergen."]), Message("assistant", ["Nice."]), Message("user", ["Hello."])]

    await an_agent(Scripted("Hi."), BethinkContextProvider(space, conversation="chat")).run(history)

    assert await kept(space, "chat") == [("user", "Hello."), ("assistant", "Hi.")]


async def test_an_answer_that_was_streamed_is_captured(space: bethink.Space) -> None:
    agent = an_agent(Scripted("In Bergen."), BethinkContextProvider(space, conversation="chat"))

    async for _ in agent.run("Where do I live?", stream=True):
        pass

    assert await kept(space, "chat") == [("user", "Where do I live?"), ("assistant", "In Bergen.")]


async def test_each_session_finds_its_own_space(memory: bethink.Memory, space: bethink.Space) -> None:
    agent = an_agent(
        Scripted("A.", "B."),
        BethinkContextProvider(lambda session: memory.space(f"{space.name}{session.state['user']}")),
    )
    for name in ("mira", "noor"):
        session = agent.create_session(session_id="chat")
        session.state["user"] = name
        await agent.run(f"I am {name}.", session=session)

    for name in ("mira", "noor"):
        found = await kept(memory.space(f"{space.name}{name}"), "chat")
        assert [origin for origin, _ in found] == ["user", "assistant"]
        assert found[0][1] == f"I am {name}."
