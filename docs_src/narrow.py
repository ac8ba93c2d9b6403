"""Narrow a search by your own labels, and ask several spaces together."""

import anyio

import bethink


async def main() -> None:
    async with bethink.connect("memory.db") as memory:
        mira, team = memory.space("mira"), memory.space("team")
        await mira.remember("The green tea is on the shelf.", tags=["kitchen"], metadata={"rank": 1})
        await mira.remember("The black tea is in the tin.", tags=["kitchen"], metadata={"rank": 3, "brand": "Assam"})
        await mira.remember("Tea time is at four.", metadata={"rank": 5})
        await team.remember("The tea fund is empty.", tags=["money"])

        found = await mira.recall("tea", tags=["kitchen"], where={"rank": {"gte": 3}})
        print([item.text for item in found.items])
        found = await mira.recall("tea", where={"rank": [1, 3], "brand": {"ne": "Assam"}}, since="2020-01-01")
        print([item.text for item in found.items])

        both = await memory.spaces("mira", "team").recall("the tea fund", tags=["money"])
        print([(item.space, item.text) for item in both.items])

        gone = await mira.forget(where={"rank": {"lt": 3}})
        print(gone.messages > 0)


anyio.run(main)
