"""Reads the context log: which memories were injected where."""

from typing import Self

from bethink.errors import NotFound
from bethink.features.context_log import queries
from bethink.features.context_log.operations import PAGE_SHOWN, PageShownRequest
from bethink.features.context_log.records import ShownPage
from bethink.memory.registry import Host, handles
from bethink.store import sessions
from bethink.store.db import Database, Tx


class ContextLogService:
    """Reads the context logs of all spaces in one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def of(cls, host: Host) -> Self:
        """Make it from the parts of an open memory."""
        return cls(host.database)

    @handles(PAGE_SHOWN)
    async def shown(self, space: str, request: PageShownRequest) -> ShownPage:
        """List what was shown to whom in a space."""

        def body(tx: Tx) -> ShownPage:
            session = request.session_id
            if session is not None and sessions.find(tx, space=space, session_id=session) is None:
                raise NotFound(f"no session {session!r} in space {space!r}.")
            return queries.page(
                tx,
                space=space,
                session_id=request.session_id,
                showing_id=request.showing_id,
                as_of=request.as_of,
                after=request.after,
                limit=request.limit,
            )

        return await self._database.transact(body, space=space, read=True)
