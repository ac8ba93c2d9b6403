"""Handles the operations that read changes and wait for them."""

import time
from collections.abc import Awaitable, Callable
from typing import Self, TypeVar

from bethink.base.backoff import with_jitter
from bethink.memory.log.succession import get_session, mark_pending
from bethink.memory.registry import Host, handles
from bethink.model.changes import Change, ChangeKind, LearnedSession
from bethink.model.jobs import JobKind, JobStatus
from bethink.model.operations.changes import (
    LIST_CHANGES,
    WAIT_UNTIL_LEARNED,
    ListChangesRequest,
    WaitUntilLearnedRequest,
)
from bethink.model.paging import Page
from bethink.model.records import Trigger
from bethink.store import changes, jobs, messages
from bethink.store.db import Database, Tx

T = TypeVar("T")

_POLL = 1.0
"""Seconds, on average, between polls of a waiting reader: a notification may be lost."""


class ChangeService:
    """The changes of every space in one database."""

    def __init__(self, database: Database, *, start_learning: Callable[[], None] = lambda: None) -> None:
        self._database = database
        self._start_learning = start_learning

    @classmethod
    def from_host(cls, host: Host) -> Self:
        """Create the service from an open memory."""
        return cls(host.database, start_learning=host.start_learning)

    @handles(LIST_CHANGES)
    async def changes(self, space: str, request: ListChangesRequest) -> Page[Change]:
        """List changes, and wait for the next one if there is none."""

        def body(tx: Tx) -> list[Change]:
            if request.after is None:
                return changes.newest(tx, space=space, limit=request.limit)
            return changes.after(tx, space=space, number=request.after, limit=request.limit)

        async def poll() -> list[Change]:
            return await self._database.transact(body, space=space, read_only=True)

        items = tuple(await self._poll_until(poll, bool, request.wait))
        return Page(items=items, next=str(items[-1].number) if len(items) == request.limit else "")

    @handles(WAIT_UNTIL_LEARNED)
    async def wait_until_learned(self, space: str, request: WaitUntilLearnedRequest) -> LearnedSession:
        """Wait until the messages of a session are learned from."""
        session_id = request.session_id

        def ask(tx: Tx) -> int:
            mark_pending(tx, space=space, session_id=session_id, trigger=Trigger.IDLE)
            return messages.max_number(tx, space=space, session_id=session_id) or 0

        target = await self._database.transact(ask, space=space, repeatable=True)

        async def look() -> tuple[LearnedSession, bool]:
            session, status = await self._database.transact(
                lambda tx: _learning_state(tx, space=space, session_id=session_id, target=target),
                space=space,
                read_only=True,
            )
            if status is JobStatus.QUEUED:
                self._start_learning()
            return session, session.done or status is JobStatus.ABANDONED

        session, _ = await self._poll_until(look, lambda result: result[1], request.timeout)
        return session

    async def _poll_until(self, poll: Callable[[], Awaitable[T]], is_enough: Callable[[T], bool], wait: float) -> T:
        until = time.monotonic() + wait
        while True:
            # Listen before the poll, so that no commit after it is missed.
            since = await self._database.start_listening() if wait else 0
            result = await poll()
            remaining = until - time.monotonic()
            if remaining <= 0 or is_enough(result):
                return result
            await self._database.wait_for_work(min(remaining, with_jitter(_POLL)), since=since)


def _learning_state(tx: Tx, *, space: str, session_id: str, target: int) -> tuple[LearnedSession, JobStatus | None]:
    session = get_session(tx, space=space, session_id=session_id)
    job = jobs.find(tx, space=space, kind=JobKind.EXTRACT, key=session_id)
    session_changes = changes.of_session(tx, space=space, session_id=session_id)
    until = session.processed_until or 0
    done = not session.is_learned_from or until >= target

    def refs(kind: ChangeKind) -> tuple[str, ...]:
        return tuple(change.ref for change in session_changes if change.kind is kind)

    state = LearnedSession(
        session_id=session_id,
        done=done,
        until=until,
        new=changes.still_stored(tx, refs(ChangeKind.FACT_ADDED), space=space),
        pending=refs(ChangeKind.REVIEW_PENDING),
        rejected=refs(ChangeKind.REVIEW_REFUSED),
        error=None if done or job is None else job.last_error,
    )
    return state, None if job is None else job.status
