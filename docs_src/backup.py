"""Back up a memory that is in use, forget something, restore, and see that it stays forgotten."""

from datetime import UTC, datetime
from pathlib import Path

import anyio

import bethink
from bethink.config.settings import load_settings
from bethink.features.backups.make import back_up
from bethink.features.backups.restore import restore
from bethink.features.backups.verify import verify_backup


async def main() -> None:
    settings = load_settings(None, sqlite_path="memory.db")
    file = Path(f"{datetime.now(UTC):%Y-%m-%d-%H%M%S%f}.backup")
    async with bethink.connect(settings=settings) as memory:
        ida = memory.space("ida")
        await ida.remember("The door code of the flat is 4711.", conversation="flat")
        await ida.remember("I moved to Oslo.", conversation="home")
        made = await back_up(settings, file)
        print(made.counts.messages, "messages in the backup")
        await ida.forget(conversation="flat")

    async for finding in verify_backup(settings, file):
        print(finding.name, "ok" if finding.ok else finding.found)
    done = await restore(settings, file)
    print(done.erased, "erased again")

    async with bethink.connect(settings=settings) as memory:
        ida = memory.space("ida")
        print([item.text for item in (await ida.recall("Where is the flat, and what is its code?")).items])
        print([item.text for item in (await ida.recall("Where did I move?")).items])


anyio.run(main)
