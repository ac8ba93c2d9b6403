"""Reads the timeline of a space."""

from typing import Self

from bethink.memory.registry import Host, handles
from bethink.model.operations.timeline import TIMELINE, TimelineRequest
from bethink.model.paging import Page
from bethink.model.timeline import TimelineEntry
from bethink.store import timeline
from bethink.store.db import Database


class TimelineService:
    """Reads the timelines of all spaces in one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def from_host(cls, host: Host) -> Self:
        """Create the service from an open memory."""
        return cls(host.database)

    @handles(TIMELINE)
    async def timeline(self, space: str, request: TimelineRequest) -> Page[TimelineEntry]:
        """List the timeline entries of a space."""
        return await self._database.transact(
            lambda tx: timeline.page(
                tx,
                space=space,
                kinds=request.kinds,
                view=request.view,
                after=request.after,
                limit=request.limit,
            ),
            space=space,
            read_only=True,
        )
