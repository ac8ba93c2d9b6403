"""Anthropic's memory tool with files that are documents of a space."""

import asyncio

import bethink
from bethink.integrations.anthropic import BethinkMemoryTool


async def main() -> None:
    async with bethink.connect("claude.db") as memory:
        mira = memory.space("mira")
        tool = BethinkMemoryTool(mira)  # client.beta.messages.tool_runner(model=…, messages=…, tools=[tool])
        await tool.clear_all_memory()  # so that the example can run again

        # Claude's calls:
        text = "Allergic to peanuts.\nLikes green tea.\n"
        print(await tool.call({"command": "create", "path": "/memories/mira.md", "file_text": text}))
        print(await tool.call({"command": "view", "path": "/memories/mira.md"}))
        print((await mira.recall("What is Mira allergic to?")).items[0].origin)


asyncio.run(main())
