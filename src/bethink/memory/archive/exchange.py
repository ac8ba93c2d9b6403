"""Syncs two whole memories, space by space."""

from collections.abc import Sequence
from typing import Protocol

from bethink.memory.access.record import AccessRecord
from bethink.memory.archive.sync import SyncReport, sync_space
from bethink.memory.deletion.replay import replay
from bethink.memory.deletion.retract import retract_as_of
from bethink.model.records import checked_name
from bethink.store import jobs
from bethink.store.db import Database

_PAGE = 1_000


class Syncable(Protocol):
    """A memory with a database in this process."""

    @property
    def database(self) -> Database:
        """The database."""
        ...

    def record(self) -> AccessRecord:
        """Return the access log."""
        ...


async def sync_memories(first: Syncable, second: Syncable, names: Sequence[str]) -> list[SyncReport]:
    """Sync the named spaces of two memories in both directions; without names, all spaces of either."""
    sides = first, second
    spaces = {checked_name(name, "a space") for name in names}
    for side in sides if not names else ():
        spaces |= await _spaces(side)
    return [
        await sync_space(
            *(side.database for side in sides),
            space=space,
            forget_again=lambda tx, space: replay(tx, space=space, back=False),
            retract=retract_as_of,
            records=[side.record().record_everything("memory.admin.sync") for side in sides],
        )
        for space in sorted(spaces)
    ]


async def _spaces(side: Syncable) -> set[str]:
    names: list[str] = []
    while True:
        after = names[-1] if names else ""
        page = await side.database.transact(
            lambda tx, after=after: jobs.spaces(tx, limit=_PAGE, after=after), read_only=True
        )
        names += page
        if len(page) < _PAGE:
            return set(names)
