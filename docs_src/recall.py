"""Ask what was said, and begin a prompt with what is known."""

import anyio

import bethink


async def main() -> None:
    async with bethink.connect("memory.db") as memory:
        alice = memory.space("alice")
        session = await alice.session("trip")
        await session.append(
            [
                {"role": "user", "content": "My sister went to Oslo for a job at the opera."},
                {"role": "assistant", "content": "When does she start?"},
                {"role": "user", "content": "On the first of August."},
            ],
        )

        found = await alice.recall("When does my sister begin to work?", budget=500)
        for item in found.items:
            level = item.certainty.level if item.certainty else ""
            print(level, item.ref.kind, item.text)
        print((await alice.recall("What is my blood type?")).missing)

        block = await session.context("Where does my sister work?")
        print(block.tokens, "tokens, shown to", len(await alice.shown()), "session")


anyio.run(main)
