"""Checks of 'bethink doctor': the state of the database, and its last restore."""

from collections.abc import AsyncIterator

from bethink.api.connect import Memory
from bethink.cli.checks import Check
from bethink.config.settings import Settings
from bethink.features.backups.verify import verify_database
from bethink.store.restores import last

_FIX = "Stop writing to it, look closer with 'bethink data verify', and restore a backup."


async def checks(memory: Memory, settings: Settings) -> AsyncIterator[Check]:
    """Yield a quick check of the database. 'bethink data verify' reads all of it."""
    database = memory.backend.local().database
    async for finding in verify_database(settings, database, quick=True):
        yield Check(name=finding.name, ok=finding.ok, detail=finding.result, fix=_FIX)
    restored = await database.transact(last, read_only=True)
    if restored is not None:
        yield Check(name="restored", ok=True, detail=str(restored))
