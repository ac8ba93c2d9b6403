"""Move a space to another database, and bring two memories together; see docs/howto/archive.md."""

import anyio

import bethink


async def main() -> None:
    async with bethink.connect("home.db") as home, bethink.connect("laptop.db") as laptop:
        await home.space("mira").remember("I live in Oslo.")

        # Everything of a space in one file, which another memory reads back.
        manifest = await home.space("mira").export_archive("mira.zip")
        print(manifest.rows["messages"] > 0)
        loaded = await laptop.import_archive("mira.zip", space="mira-copy", dry_run=True)
        print(loaded.space, loaded.stored > 0)

        # Each says something of its own; then both have both.
        await laptop.space("mira").remember("My cat is called Pim.")
        await home.sync(laptop, "mira")
        found = await home.space("mira").recall("What is my cat called?")
        print(found.items[0].text)


anyio.run(main)
