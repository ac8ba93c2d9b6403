"""The notebook of the Pydantic AI harness, stored as documents of a space."""

import asyncio

from pydantic_ai import Agent, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai_harness.memory import Memory

import bethink
from bethink.integrations.pydantic_ai_harness import BethinkMemoryStore

steps = iter([ToolCallPart("write_memory", {"content": "- Mira likes green tea."}), TextPart("Noted.")])


async def main() -> None:
    async with bethink.connect("agents.db") as memory:
        mira = memory.space("mira")
        model = FunctionModel(lambda _messages, _info: ModelResponse(parts=[next(steps)]))  # use your model here
        agent = Agent(model, capabilities=[Memory(BethinkMemoryStore(mira))])
        await agent.run("I like green tea. Note that.")
        document = await mira.documents.find("~/notebook/main/MEMORY.md")
        if document:
            print(document.body, document.origin)


asyncio.run(main())
