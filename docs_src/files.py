"""Add a file, change it, and follow what was found to its place in it."""

import anyio

import bethink

HANDBOOK = """# Handbook

## Tea

Tea is served at four in the orangery.

## Cats

Two cats live in the house.
"""


async def main() -> None:
    async with bethink.connect(":memory:") as memory:
        house = memory.space("house")

        added = await house.add_file("handbook.md", text=HANDBOOK)
        print(added.added, "passages of", added.sha256[:8])

        best = (await house.recall("When is tea served?")).items[0]
        place = best.metadata
        print(place["file"], place["headings"], best.origin)
        print(HANDBOOK[place["start"] : place["end"]] == best.text)
        print((await house.explain(best.ref)).metadata == place)

        newer = HANDBOOK.replace("at four", "at five")
        changed = await house.add_file("handbook.md", data=newer.encode())
        print(changed.added, "added,", changed.kept, "kept,", changed.retracted, "taken back")
        print((await house.add_file("handbook.md", text=newer)).added, "added the next time")

        listed = await house.sessions(conversation_prefix="file:")
        print([entry.session.metadata["file"] for entry in listed])
        print((await house.forget(session_id=added.session.id)).messages, "messages forgotten")


anyio.run(main)
