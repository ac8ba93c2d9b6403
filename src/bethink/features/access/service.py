"""Reads the access log."""

from typing import Self

from bethink.features.access.operations import ACCESS, AccessRequest
from bethink.memory.registry import Host, handles
from bethink.model.access import AccessPage
from bethink.store import access_log
from bethink.store.db import Database


class AccessService:
    """Reads the access log of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def of(cls, host: Host) -> Self:
        """Make it from the parts of an open memory."""
        return cls(host.database)

    @handles(ACCESS)
    async def access(self, space: str, request: AccessRequest) -> AccessPage:
        """Return a page of the access log."""
        del space
        return await self._database.transact(
            lambda tx: access_log.page(
                tx,
                space=request.space,
                key=request.key,
                person=request.person,
                verb=request.verb,
                ref=request.ref,
                since=request.since,
                before=request.until,
                after=request.after,
                limit=request.limit,
            ),
            read=True,
        )
