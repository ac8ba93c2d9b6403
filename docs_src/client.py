"""The same program with a file beside it, or with a server: only the address is different."""

import os

import anyio

import bethink


async def main() -> None:
    url = os.environ.get("MEMORY_URL", "memory.db")  # or https://…
    async with bethink.connect(url, key=os.environ.get("MEMORY_KEY", "")) as memory:
        alice = memory.space("alice")
        stored = await alice.remember("Anna plays the cello on Fridays")
        print(stored.refs[0])
        found = await alice.recall("Who plays the cello?")
        print(found.items[0].text)
        print((await alice.explain(found.items[0].ref)).origin)


anyio.run(main)
