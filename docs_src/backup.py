"""Back up a database in use, delete a conversation, restore, and see that it stays deleted."""

from datetime import UTC, datetime
from pathlib import Path

import anyio

import bethink
from bethink.features.backups.make import back_up
from bethink.features.backups.restore import restore


async def main() -> None:
    settings = bethink.Settings.load(sqlite_path="memory.db")
    file = Path(f"{datetime.now(UTC):%Y-%m-%d-%H%M%S%f}.backup")
    async with bethink.connect(settings=settings) as memory:
        ida = memory.space("ida")
        await ida.remember("The door code of the flat is 4711.", conversation="flat")
        await ida.remember("I moved to Oslo.", conversation="home")
        manifest = await back_up(settings, file)
        print(manifest.counts.messages, "messages in the backup")
        await ida.forget(conversation="flat")
    report = await restore(settings, file)
    print(report.erased, "deleted again")


anyio.run(main)
