"""Working memory, stepped."""

import anyio

import bethink
from bethink.model.working import Event, EventType, Mode


async def main() -> None:
    async with bethink.connect("memory.db") as memory:
        desk = memory.local().working("alice")
        await desk.open_thread("thread_roof", mode=Mode.STEPPING)
        await desk.dispatch("thread_roof", Event(type=EventType.USER_MESSAGE, payload={"text": "Mend the roof."}))
        await desk.step("thread_roof")

        for state in await desk.history("thread_roof"):
            print(state.number, state.source, state.event_type)
        print((await desk.prompt("thread_roof", budget=500)).to_openai()[-1])


anyio.run(main)
