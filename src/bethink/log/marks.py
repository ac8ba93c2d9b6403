"""The marks of sessions, for whoever learns from them by hand: found, raised, and cleared only as they were found."""

from collections.abc import Callable
from itertools import groupby
from typing import TypeVar

from bethink.log import sessions
from bethink.model.records import Session
from bethink.store import jobs, messages
from bethink.store import sessions as session_store
from bethink.store.db import Database, Tx, ask

T = TypeVar("T")


class Marks:
    """Which sessions have something to learn, and how far each was learnt from; `Memory.learn` sees to both."""

    def __init__(self, database: Database | None) -> None:
        self._database = database

    async def find_invalidated(self, limit: int = 10) -> list[Session]:
        """Return marked sessions of all spaces, at most `limit`, the oldest mark first."""
        found = await ask(
            self._database,
            lambda tx: jobs.marked(tx, limit=limit),
            empty=list[tuple[str, str]](),
            read=True,
        )
        place = {ids: index for index, ids in enumerate(found)}
        marked: list[Session] = []
        for space, ids in groupby(sorted(found), key=lambda pair: pair[0]):
            wanted = [session_id for _, session_id in ids]
            marked += await ask(
                self._database,
                lambda tx, space=space, wanted=wanted: session_store.still_marked(tx, space=space, ids=wanted),
                space=space,
                empty=[],
                read=True,
            )
        return sorted(marked, key=lambda session: place[session.space, session.id])

    async def invalidate(self, session: Session, number: int) -> bool:
        """Set or raise a session's mark to a number; false if it stands there or above. It is never lowered."""
        return await self._mark(session, lambda tx: sessions.invalidate(tx, session, number=number))

    async def mark_processed(self, session: Session, *, until: int, expected: int) -> bool:
        """Clear the mark and set `processed_until`, only if the mark is still `expected`; else change nothing."""
        return await self._mark(
            session, lambda tx: sessions.mark_processed(tx, session, until=until, expected=expected)
        )

    async def count_since(self, session: Session, number: int) -> int:
        """Count the messages of a session that follow a number."""
        return await self._read(
            session,
            lambda tx: messages.count_since(tx, space=session.space, session_id=session.id, number=number),
            empty=0,
        )

    async def max_number(self, session: Session) -> int | None:
        """Return the number of the last message of a session, or None if it holds none."""
        return await self._read(
            session, lambda tx: messages.max_number(tx, space=session.space, session_id=session.id), empty=None
        )

    async def _mark(self, session: Session, body: Callable[[Tx], bool]) -> bool:
        return await ask(self._database, body, space=session.space, empty=False)

    async def _read(self, session: Session, body: Callable[[Tx], T], *, empty: T) -> T:
        return await ask(self._database, body, space=session.space, empty=empty, read=True)
