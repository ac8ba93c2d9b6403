"""Working memory, one step at a time."""

import anyio

import bethink


async def main() -> None:
    async with bethink.connect("memory.db") as memory:
        threads = memory.space("alice").threads
        await threads.open("thread_roof", mode=bethink.Mode.STEPPING)
        await threads.dispatch("thread_roof", bethink.Event(type="USER_MESSAGE", payload={"text": "Mend the roof."}))
        await threads.step("thread_roof")

        for state in await threads.states("thread_roof"):
            print(state.number, state.source, state.event_type)
        print((await threads.prompt("thread_roof", budget=500)).to_openai()[-1])


anyio.run(main)
