"""Who saw a line: the access record."""

import anyio

import bethink


async def main() -> None:
    async with bethink.connect("memory.db") as memory:
        stored = await memory.space("alice").remember("Anna plays the cello on Fridays")
        with bethink.acting_for("kari"):  # whom this program serves, if it serves several people
            await memory.space("alice").recall("Who plays the cello?")
        page = await memory.access(ref=stored.refs[0])
        for entry in page.items:
            print(entry.verb, "kari" if entry.person == "kari" else "this user", len(entry.refs))


anyio.run(main)
