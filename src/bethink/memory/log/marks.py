"""The learning marks of sessions, for programs with their own learning: find, set, and clear them."""

from collections.abc import Callable
from itertools import groupby
from typing import TypeVar

from bethink.memory.log import sessions
from bethink.model.records import SessionInfo
from bethink.store import jobs, messages
from bethink.store import sessions as session_store
from bethink.store.db import Database, Tx

T = TypeVar("T")


class Marks:
    """Finds sessions to learn from, and records the progress of each. `Memory.learn` handles both."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_invalidated(self, limit: int = 10) -> list[SessionInfo]:
        """Return up to `limit` marked sessions of all spaces, the oldest mark first."""
        marked_ids = await self._database.transact(lambda tx: jobs.marked_sessions(tx, limit=limit), read_only=True)
        positions = {ids: index for index, ids in enumerate(marked_ids)}
        marked: list[SessionInfo] = []
        for space, ids in groupby(sorted(marked_ids), key=lambda pair: pair[0]):
            session_ids = [session_id for _, session_id in ids]
            marked += await self._database.transact(
                lambda tx, space=space, session_ids=session_ids: session_store.still_marked(
                    tx, space=space, ids=session_ids
                ),
                space=space,
                read_only=True,
            )
        return sorted(marked, key=lambda session: positions[session.space, session.id])

    async def invalidate(self, session: SessionInfo, number: int) -> bool:
        """Set or raise the mark of a session. Returns False if it is already there or higher. It is never lowered."""
        return await self._mark(session, lambda tx: sessions.invalidate(tx, session, number=number))

    async def mark_processed(self, session: SessionInfo, *, until: int, expected: int) -> bool:
        """Clear the mark and set `processed_until` if the mark is still `expected`; otherwise change nothing."""
        return await self._mark(
            session, lambda tx: sessions.mark_processed(tx, session, until=until, expected=expected)
        )

    async def count_since(self, session: SessionInfo, number: int) -> int:
        """Count the messages of a session after a number."""
        return await self._query(
            session, lambda tx: messages.count_since(tx, space=session.space, session_id=session.id, number=number)
        )

    async def max_number(self, session: SessionInfo) -> int | None:
        """Return the number of the last message of a session, or None if it has none."""
        return await self._query(
            session, lambda tx: messages.max_number(tx, space=session.space, session_id=session.id)
        )

    async def _mark(self, session: SessionInfo, body: Callable[[Tx], bool]) -> bool:
        return await self._database.transact(body, space=session.space)

    async def _query(self, session: SessionInfo, body: Callable[[Tx], T]) -> T:
        return await self._database.transact(body, space=session.space, read_only=True)
