"""The same program with a file beside it, or with a server: one line is different."""

import os

import anyio

import bethink


async def main() -> None:
    url = os.environ.get("MEMORY_URL")
    memory = bethink.Client(url, key=os.environ["MEMORY_KEY"]) if url else bethink.connect("memory.db")
    async with memory:
        stored = await memory.space("alice").remember("Anna plays the cello on Fridays")
        print(stored.refs[0])
        found = await memory.space("alice").recall("Who plays the cello?")
        print(found.items[0].text)
        print((await memory.space("alice").explain(found.items[0].ref)).origin)


anyio.run(main)
