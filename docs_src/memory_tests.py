"""Keep what was put right: a question, and what must and must not come back."""

import anyio

import bethink


async def main() -> None:
    async with bethink.connect(":memory:") as memory:
        ida = memory.space("ida")
        session = await ida.session("home")
        for day, text in [("2026-01-05", "I live in Oslo."), ("2026-05-20", "I live in Bergen now.")]:
            await session.append([{"role": "user", "content": text, "said_at": day}])

        await ida.tests.add(
            "Where do I live?", must=["Oslo"], must_not=["Bergen"], as_of="2026-03-01", test_id="spring"
        )
        await ida.tests.add("Where do I live?", must=["bergen"], must_not=["Oslo"], test_id="today")

        for result in await ida.tests.run():
            print(result.test.id, "passed" if result.passed else f"failed: {result.unwanted} came back")


anyio.run(main)
