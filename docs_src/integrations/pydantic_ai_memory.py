"""A Pydantic AI agent that knows on Tuesday what it was told on Monday."""

import asyncio

from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import bethink
from bethink.integrations.pydantic_ai import BethinkMemory

shown = []


def scripted(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:  # yours is a real model
    shown.append(messages[-1].parts[0].content)
    return ModelResponse(parts=[TextPart("Noted.")])


async def main() -> None:
    async with bethink.connect("agents.db") as memory:
        mira = memory.space("mira")
        agent = Agent(FunctionModel(scripted), capabilities=[BethinkMemory(mira)])
        await agent.run("I am allergic to peanuts.", conversation_id="monday")
        await agent.run("What am I allergic to?", conversation_id="tuesday")
    print("what the model was shown:", shown[-1])


asyncio.run(main())
