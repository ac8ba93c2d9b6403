"""Carries out the verbs that read changes and wait for them."""

import time
from collections.abc import Awaitable, Callable
from typing import Self, TypeVar

from bethink.base.backoff import jittered
from bethink.memory.log.succession import get_session, mark_pending
from bethink.memory.registry import Host, handles
from bethink.model.changes import ChangeKind, MemoryChange, SessionLearnt
from bethink.model.jobs import JobKind, JobStatus
from bethink.model.operations.changes import CHANGES, LEARNT, ChangesRequest, LearntRequest
from bethink.model.records import Trigger
from bethink.store import changes, jobs, messages
from bethink.store.db import Database, Tx

T = TypeVar("T")

_POLL = 1.0
"""Seconds, about, after which a waiting reader looks by itself: a notification may be lost."""


class ChangeService:
    """The changes of every space in one database."""

    def __init__(self, database: Database, *, start_learning: Callable[[], None] = lambda: None) -> None:
        self._database = database
        self._start_learning = start_learning

    @classmethod
    def of(cls, host: Host) -> Self:
        """Make it from the parts of an open memory."""
        return cls(host.database, start_learning=host.start_learning)

    @handles(CHANGES)
    async def changes(self, space: str, request: ChangesRequest) -> list[MemoryChange]:
        """List changes, and wait for one if there is none."""

        def body(tx: Tx) -> list[MemoryChange]:
            if request.after is None:
                return changes.newest(tx, space=space, limit=request.limit)
            return changes.after(tx, space=space, number=request.after, limit=request.limit)

        async def look() -> list[MemoryChange]:
            return await self._database.transact(body, space=space, read=True)

        return await self._until(look, bool, request.wait)

    @handles(LEARNT)
    async def learnt(self, space: str, request: LearntRequest) -> SessionLearnt:
        """Wait until what was said in a session was learnt from."""
        session_id = request.session_id

        def ask(tx: Tx) -> int:
            mark_pending(tx, space=space, session_id=session_id, trigger=Trigger.IDLE)
            return messages.max_number(tx, space=space, session_id=session_id) or 0

        asked = await self._database.transact(ask, space=space, repeatable=True)

        async def look() -> tuple[SessionLearnt, bool]:
            found, status = await self._database.transact(
                lambda tx: _state(tx, space=space, session_id=session_id, asked=asked), space=space, read=True
            )
            if status is JobStatus.QUEUED:
                self._start_learning()
            return found, found.done or status is JobStatus.DEAD

        found, _ = await self._until(look, lambda each: each[1], request.wait)
        return found

    async def _until(self, look: Callable[[], Awaitable[T]], is_enough: Callable[[T], bool], wait: float) -> T:
        until = time.monotonic() + wait
        while True:
            # Before the look: what is committed after it is then heard of.
            since = await self._database.start_listening() if wait else 0
            found = await look()
            left = until - time.monotonic()
            if left <= 0 or is_enough(found):
                return found
            await self._database.wait_for_work(min(left, jittered(_POLL)), since=since)


def _state(tx: Tx, *, space: str, session_id: str, asked: int) -> tuple[SessionLearnt, JobStatus | None]:
    session = get_session(tx, space=space, session_id=session_id)
    job = jobs.find(tx, space=space, kind=JobKind.EXTRACT, key=session_id)
    told = changes.of_session(tx, space=space, session_id=session_id)
    until = session.processed_until or 0
    done = not session.learns or until >= asked

    def refs(kind: ChangeKind) -> tuple[str, ...]:
        return tuple(each.ref for each in told if each.kind is kind)

    found = SessionLearnt(
        session_id=session_id,
        done=done,
        until=until,
        new=changes.not_forgotten(tx, refs(ChangeKind.FACT_ADDED), space=space),
        held=refs(ChangeKind.REVIEW_HELD),
        refused=refs(ChangeKind.REVIEW_REFUSED),
        error=None if done or job is None else job.last_error,
    )
    return found, None if job is None else job.status
