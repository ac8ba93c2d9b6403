"""Reads the context log: memories injected into each session."""

from typing import Self

from bethink.errors import NotFoundError
from bethink.features.context_log import queries
from bethink.features.context_log.operations import LIST_CONTEXT_LOG, ListContextLogRequest
from bethink.features.context_log.records import ContextLogEntry
from bethink.memory.registry import Host, handles
from bethink.model.paging import Page
from bethink.store import sessions
from bethink.store.db import Database, Tx


class ContextLogService:
    """Reads the context logs of all spaces in one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def from_host(cls, host: Host) -> Self:
        """Build the service from an open memory."""
        return cls(host.database)

    @handles(LIST_CONTEXT_LOG)
    async def list_entries(self, space: str, request: ListContextLogRequest) -> Page[ContextLogEntry]:
        """List the context log of a space."""

        def body(tx: Tx) -> Page[ContextLogEntry]:
            session = request.session_id
            if session is not None and sessions.find(tx, space=space, session_id=session) is None:
                raise NotFoundError(f"No session {session!r} in space {space!r}.")
            return queries.page(
                tx,
                space=space,
                session_id=request.session_id,
                entry_id=request.entry_id,
                view=request.view,
                after=request.after,
                limit=request.limit,
            )

        return await self._database.transact(body, space=space, read_only=True)
