"""The notebook of the Pydantic AI harness, with its files kept in a space."""

import asyncio

from pydantic_ai import Agent, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai_harness.memory import Memory

import bethink
from bethink.integrations.pydantic_ai_harness import BethinkMemoryStore

steps = iter([ToolCallPart("write_memory", {"content": "- Mira likes green tea."}), TextPart("Noted.")])


def scripted(*_: object) -> ModelResponse:  # yours is a real model
    return ModelResponse(parts=[next(steps)])


async def main() -> None:
    async with bethink.connect("agents.db") as memory:
        mira = memory.space("mira")
        agent = Agent(FunctionModel(scripted), capabilities=[Memory(BethinkMemoryStore(mira))])
        await agent.run("I like green tea. Note that.")
        print((await mira.documents.find("~/notebook/main/MEMORY.md")).body)
        print((await mira.recall("Who likes green tea?")).items[0].origin)


asyncio.run(main())
