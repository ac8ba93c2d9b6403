"""The Microsoft Agent Framework with memory: a context provider that recalls before a run and stores it."""

import asyncio
from collections.abc import Sequence

from agent_framework import Agent, BaseChatClient, ChatResponse, InMemoryHistoryProvider, Message

import bethink
from bethink.integrations.agent_framework import BethinkContextProvider


class Scripted(BaseChatClient):  # use your client here
    async def _inner_get_response(self, *, messages: Sequence[Message], **_: object) -> ChatResponse:
        print(messages[0].text)
        return ChatResponse(messages=[Message("assistant", ["Noted."])])


async def main() -> None:
    async with bethink.connect("agents.db") as memory:
        providers = [InMemoryHistoryProvider(), BethinkContextProvider(memory.space("mira"))]
        agent = Agent(client=Scripted(), context_providers=providers)
        await agent.run("I am allergic to peanuts.", session=agent.create_session(session_id="monday"))
        await agent.run("What am I allergic to?", session=agent.create_session(session_id="tuesday"))


asyncio.run(main())
