"""Reads the access log."""

from typing import Self

from bethink.features.access.operations import LIST_ACCESS, ListAccessRequest
from bethink.memory.registry import Host, handles
from bethink.model.access import AccessEntry
from bethink.model.paging import Page
from bethink.store import access_log
from bethink.store.db import Database


class AccessService:
    """Reads the access log of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def from_host(cls, host: Host) -> Self:
        """Build the service from an open memory."""
        return cls(host.database)

    @handles(LIST_ACCESS)
    async def access(self, space: str, request: ListAccessRequest) -> Page[AccessEntry]:
        """Return a page of the access log."""
        del space
        return await self._database.transact(
            lambda tx: access_log.page(
                tx,
                space=request.space,
                key=request.key,
                person=request.person,
                operation=request.operation,
                ref=request.ref,
                since=request.since,
                before=request.until,
                after=request.after,
                limit=request.limit,
            ),
            read_only=True,
        )
