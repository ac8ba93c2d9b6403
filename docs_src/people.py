"""Somebody asks what is known of them, and to be forgotten, wherever it is."""

import anyio

import bethink


async def main() -> None:
    async with bethink.connect("memory.db") as memory:
        kari = bethink.Message(role="user", name="Kari Moe", content="I am allergic to nuts.")
        await memory.space("team").remember([kari, bethink.Message(role="user", content="So is Kari's son.")])
        await memory.space("kitchen").remember("No nuts on Fridays: K. Moe is here.")

        found = await memory.find_person("Kari Moe", aliases=["Kari", "K. Moe"])
        for each in found.spaces:
            print(each.space, each.messages, "messages:", each.speaker, "as speaker,", each.words, "by words")
        page = await memory.export_person("Kari Moe", aliases=["Kari", "K. Moe"])
        print(page.items[0].space, "-", page.items[0].text)

        gone = await memory.forget_person("Kari Moe", aliases=["Kari", "K. Moe"], reason="request 12")
        for erased in gone.spaces:
            print(erased.space, erased.went.messages, "messages are gone,", "receipt:", bool(erased.went.receipt))
        print("not claimed:", gone.not_claimed[0])


anyio.run(main)
