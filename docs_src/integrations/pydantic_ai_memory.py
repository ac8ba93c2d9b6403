"""Pydantic AI with memory: each run sees relevant memories and is stored."""

import asyncio

from pydantic_ai import Agent, ModelMessage, ModelResponse, SystemPromptPart, TextPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import bethink
from bethink.integrations.pydantic_ai import BethinkMemory


def model(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:  # use your model here
    part = messages[-1].parts[0]
    if isinstance(part, SystemPromptPart | UserPromptPart):
        print(part.content)
    return ModelResponse(parts=[TextPart("Noted.")])


async def main() -> None:
    async with bethink.connect("agents.db") as memory:
        agent = Agent(FunctionModel(model), capabilities=[BethinkMemory(memory.space("mira"))])
        await agent.run("I am allergic to peanuts.", conversation_id="monday")
        await agent.run("What am I allergic to?", conversation_id="tuesday")


asyncio.run(main())
