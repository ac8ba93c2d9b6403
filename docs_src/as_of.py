"""Look at what was known on another day."""

import anyio

import bethink


async def main() -> None:
    async with bethink.connect(":memory:") as memory:
        ida = memory.space("ida")
        session = await ida.session("home")
        for day, text in [("2026-01-05", "I live in Oslo."), ("2026-05-20", "I live in Bergen now.")]:
            await session.append([{"role": "user", "content": text, "said_at": day}])

        for day in ("2026-03-01", "2026-06-01"):
            found = await ida.recall("Where do I live?", as_of=day)
            print(day, [item.text for item in found.items])


anyio.run(main)
