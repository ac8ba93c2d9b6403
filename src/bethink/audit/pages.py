"""Carries out the verbs of pages."""

from bethink.model.timeline import TimelinePage
from bethink.model.verbs.pages import TimelineRequest
from bethink.store import timeline
from bethink.store.db import Database


class PageService:
    """Lists of what is stored, for every space in one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def timeline(self, space: str, request: TimelineRequest) -> TimelinePage:
        """List what happened to the memory of a space."""
        return await self._database.transact(
            lambda tx: timeline.page(
                tx,
                space=space,
                kinds=request.kinds,
                as_of=request.as_of,
                after=request.after,
                limit=request.limit,
            ),
            space=space,
            read=True,
        )
