"""Carries out the verbs of pages."""

from typing import Self

from bethink.errors import NotFound
from bethink.model.showings import ShownPage
from bethink.model.timeline import TimelinePage
from bethink.model.verbs.pages import PAGE_SHOWN, TIMELINE, PageShownRequest, TimelineRequest
from bethink.registry import Host, handles
from bethink.store import sessions, showings, timeline
from bethink.store.db import Database, Tx


class PageService:
    """Lists of what is stored, for every space in one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def of(cls, host: Host) -> Self:
        """Make it from the parts of an open memory."""
        return cls(host.parts.database)

    @handles(TIMELINE)
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

    @handles(PAGE_SHOWN)
    async def shown(self, space: str, request: PageShownRequest) -> ShownPage:
        """List what was shown to whom in a space."""

        def body(tx: Tx) -> ShownPage:
            session = request.session_id
            if session is not None and sessions.find(tx, space=space, session_id=session) is None:
                raise NotFound(f"no session {session!r} in space {space!r}.")
            return showings.page(
                tx,
                space=space,
                session_id=request.session_id,
                showing_id=request.showing_id,
                as_of=request.as_of,
                after=request.after,
                limit=request.limit,
            )

        return await self._database.transact(body, space=space, read=True)
