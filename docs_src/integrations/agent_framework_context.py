"""An agent of the Microsoft Agent Framework that knows on Tuesday what it was told on Monday."""

import asyncio
from collections.abc import Sequence

from agent_framework import Agent, BaseChatClient, ChatResponse, InMemoryHistoryProvider, Message

import bethink
from bethink.integrations.agent_framework import BethinkContextProvider


class Scripted(BaseChatClient):  # yours is a real one
    async def _inner_get_response(self, *, messages: Sequence[Message], **_: object) -> ChatResponse:
        print("what the model was shown:", [message.text for message in messages])
        return ChatResponse(messages=[Message("assistant", ["Noted."])])


async def main() -> None:
    async with bethink.connect("agents.db") as memory:
        known = BethinkContextProvider(memory.space("mira"))
        agent = Agent(client=Scripted(), context_providers=[InMemoryHistoryProvider(), known])
        for day, text in (("monday", "I am allergic to peanuts."), ("tuesday", "What am I allergic to?")):
            await agent.run(text, session=agent.create_session(session_id=day))


asyncio.run(main())
