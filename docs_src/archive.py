"""Move a space to another database, and sync two databases; see docs/howto/archive.md."""

import anyio

import bethink


async def main() -> None:
    async with bethink.connect("home.db") as home, bethink.connect("laptop.db") as laptop:
        mira = home.space("mira")
        await mira.remember("I live in Oslo.")
        await mira.admin.export_archive("mira.zip")
        report = await laptop.admin.import_archive("mira.zip", space="mira-copy", dry_run=True)
        print(report.stored > 0, report.space)

        await laptop.space("mira").remember("My cat is called Pim.")
        await home.admin.sync(laptop, "mira")  # afterwards both have both messages
        print((await mira.recall("What is my cat called?")).items[0].text)


anyio.run(main)
