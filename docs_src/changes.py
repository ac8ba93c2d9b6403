"""Wait until a text was learnt from, then read what changed in the space."""

import anyio

import bethink


async def main() -> None:
    async with bethink.connect("memory.db") as memory:
        mira = memory.space("mira")
        stored = await mira.remember("I moved to Lisbon in May.")
        session = await mira.get_session(stored.session.id)

        learnt = await session.learnt(wait=30)
        print("learnt:", learnt.done, "new facts:", len(learnt.new))

        async for change in mira.follow(after=0):
            print(change.kind, change.ref.partition(":")[0])
            if change.kind == "session.learnt":
                break


anyio.run(main)
