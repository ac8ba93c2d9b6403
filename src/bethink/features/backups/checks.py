"""Checks of 'bethink doctor': whether the database is intact, and when it was last restored."""

from collections.abc import AsyncIterator

from bethink.api.connect import Memory
from bethink.cli.checks import Check
from bethink.config.settings import Settings
from bethink.features.backups.verify import verify_database
from bethink.store.restores import last

_FIX = "Stop writing to it, look closer with 'bethink verify', and restore a backup."


async def checks(memory: Memory, settings: Settings) -> AsyncIterator[Check]:
    """Yield a quick check of the database. 'bethink verify' reads all of it."""
    database = memory.local().database
    async for finding in verify_database(settings, database, quick=True):
        yield Check(name=finding.name, ok=finding.ok, found=finding.found, fix=_FIX)
    restored = await database.transact(last, read=True)
    if restored is not None:
        yield Check(name="restored", ok=True, found=str(restored))
