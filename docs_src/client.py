"""The same program with a file beside it, or with a server: one line is different."""

import os

import anyio

import bethink


async def main() -> None:
    url = os.environ.get("MEMORY_URL")
    memory = bethink.Client(url, key=os.environ["MEMORY_KEY"]) if url else bethink.connect("memory.db")
    async with memory:
        stored = await memory.remember("Anna plays the cello on Fridays", space="alice")
        print(stored.refs[0])
        found = await memory.recall("Who plays the cello?", space="alice")
        print(found.items[0].text)
        print((await memory.explain(found.items[0].ref, space="alice")).origin)


anyio.run(main)
