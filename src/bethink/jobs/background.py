"""Learns in the background of a process: when sessions are marked, and when a session is idle."""

import threading
import time
from collections.abc import Callable, Generator, Iterable, Set
from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio

from bethink.base.backoff import pause_after
from bethink.base.logs import logger
from bethink.errors import BethinkError, ConfigurationError, NotFoundError
from bethink.memory.log.succession import mark_pending
from bethink.model.jobs import JobKind, LearnReport
from bethink.model.records import Trigger
from bethink.store.db import Database, Tx

if TYPE_CHECKING:  # loaded when there is something to learn from
    from bethink.jobs.worker import Tally, Worker

_WATCH = 0.05
_MAX_SESSIONS = 10_000
"""Maximum number of watched sessions. Beyond that, the oldest are left to the scan of any worker."""
_MAX_UNFINISHED = 500
"""Maximum number of sessions that are marked when the memory is closed."""
_MAX_REPORTS = 1_000
_RETRY, _MAX_RETRY = 80.0, 6 * 3600.0
_log = logger("worker")

_SessionKey = tuple[str, str]
"""A space and the id of a session in it."""


class Background:
    """Owns a thread with its own event loop, so that it serves both blocking and async callers.

    The thread exists only while there is something to do or to wait for, and never keeps the process alive. Without a
    model, `learn_after_seconds` is None: then it runs once when a session opens, and does not wait for idle sessions.
    """

    def __init__(
        self,
        make: "Callable[[], Worker]",
        database: Database,
        *,
        kinds: Iterable[JobKind] = JobKind,
        learn_after_seconds: float | None = None,
    ) -> None:
        self.kinds = frozenset(kinds)
        """The kinds of jobs that can run here."""
        self._make = make
        self._database = database
        self._learn_after = learn_after_seconds
        self._state = threading.Condition()
        self._thread: threading.Thread | None = None
        self._is_requested = self._busy = self._closing = self._has_warned = self._has_caught_up = False
        self._holds = self._failures = 0
        self._retry_at: float | None = None
        self._last_activity: dict[_SessionKey, float] = {}
        self._reports: dict[str, LearnReport] = {}
        if learn_after_seconds is not None:
            database.on_work = self.wake

    @property
    def learns_at_once(self) -> bool:
        """True if marked sessions are learned from at once, because there is a model."""
        return self._learn_after is not None

    def open(self) -> None:
        """Allow runs, initially or again after `end`."""
        with self._state:
            self._closing = self._is_requested = self._has_caught_up = False
            self._retry_at = None

    def begin(self) -> None:
        """Start a run, unless one is about to start."""
        with self._state:
            self._has_caught_up = True
            self._request_run()

    def wake(self, queued: Set[JobKind]) -> None:
        """Start a run because jobs of some kinds were queued. Never blocks or raises."""
        if queued.isdisjoint(self.kinds):
            return
        with self._state:
            if (
                not self._has_warned
            ):  # learning failed and a warning was logged: the next session that opens tries again
                self._request_run()

    def note_activity(self, space: str, session_id: str) -> None:
        """Note activity in a session. The session is learned from once it is idle for long enough."""
        if self._learn_after is None:
            return
        with self._state:
            self._last_activity.pop((space, session_id), None)  # the first entry is always the longest idle
            self._last_activity[space, session_id] = time.monotonic()
            if len(self._last_activity) > _MAX_SESSIONS:
                del self._last_activity[next(iter(self._last_activity))]
            if not self._has_caught_up:  # an earlier process may have left jobs
                self._has_caught_up = self._is_requested = True
            self._start()

    @contextmanager
    def paused(self) -> Generator[None]:
        """Pause runs while the caller does the work instead. Call `wait` inside the block."""
        with self._state:
            self._holds += 1
        try:
            yield
        finally:
            with self._state:
                self._holds -= 1
                self._state.notify_all()

    def wait(self) -> None:
        """Wait for a run in progress."""
        with self._state:
            self._state.wait_for(lambda: not self._busy)

    def pop_report(self, space: str | None = None) -> LearnReport:
        """Return the report of the runs since the last call, in all spaces or in one, and clear it."""
        total = LearnReport()
        with self._state:
            for name in list(self._reports) if space is None else [space]:
                total.add(self._reports.pop(name, LearnReport()))
        return total

    def end(self) -> None:
        """Stop a run in progress and release its leases; the next process does the work."""
        with self._state:
            self._closing = True
            self._state.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join()

    async def queue_unfinished(self) -> None:
        """Mark the sessions that were not idle for long enough: this process adds no more messages to them."""
        with self._state:
            unfinished, self._last_activity = list(self._last_activity)[-_MAX_UNFINISHED:], {}
        try:
            await self._mark(unfinished)
        except BethinkError as error:
            _log.warning("could not queue open sessions; a later scan will: %s", type(error).__name__)

    def _request_run(self) -> None:
        self._is_requested = True
        self._start()

    def _start(self) -> None:
        if self._closing:
            return
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._serve, name="bethink-background", daemon=True)
            self._thread.start()
        else:
            self._state.notify_all()

    def _serve(self) -> None:
        while (quiet := self._next()) is not None:
            failed = False
            try:
                failed = anyio.run(self._run, quiet)
                self._has_warned = False
            except* ConfigurationError as errors:
                # The problem stays until someone fixes it: do not log it again for the next session.
                if not self._has_warned:
                    _log.warning("Sessions stay queued for learning: %s", errors.exceptions[0])
                self._has_warned = True
            except* Exception as errors:  # noqa: BLE001 - the loop of a worker: sessions stay marked
                failed = True
                _log.error("background learning failed: %s", type(errors.exceptions[0]).__name__)
            with self._state:
                self._busy = False
                self._failures = self._failures + 1 if failed else 0
                delay = pause_after(self._failures - 1, first=_RETRY, max_pause=_MAX_RETRY)
                self._retry_at = time.monotonic() + delay if failed and self.learns_at_once else None
                self._state.notify_all()

    def _next(self) -> list[_SessionKey] | None:
        """Wait for work and return the sessions that are idle; None if there is nothing to wait for."""
        with self._state:
            while not self._closing:
                now = time.monotonic()
                quiet = self._pop_idle(now)
                if not self._holds and (
                    quiet or self._is_requested or (self._retry_at is not None and self._retry_at <= now)
                ):
                    self._is_requested, self._busy = False, True
                    return quiet
                if not (self._holds or self._last_activity or self._retry_at is not None or self._is_requested):
                    break
                self._state.wait(None if self._holds else self._seconds_until_due(now))
            self._thread = None
            return None

    def _pop_idle(self, now: float) -> list[_SessionKey]:
        if self._holds or self._learn_after is None:
            return []
        idle: list[_SessionKey] = []
        for key, at in self._last_activity.items():
            if at + self._learn_after > now:
                break
            idle.append(key)
        for key in idle:
            del self._last_activity[key]
        return idle

    def _seconds_until_due(self, now: float) -> float:
        """Return the seconds until the next work is due."""
        times = [] if self._retry_at is None else [self._retry_at]
        times += [at + (self._learn_after or 0.0) for at in list(self._last_activity.values())[:1]]
        return max(0.0, min(times, default=now) - now)

    async def _run(self, quiet: list[_SessionKey]) -> bool:
        """Run due jobs until there are none, and return whether a failure is worth a retry."""
        failed = False
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, tasks.cancel_scope)
            await self._mark(quiet)
            worker = self._make()
            while not self._closing:
                tally = await worker.run_and_tally()
                self._store_reports(tally)
                done = tally.total()
                failed = failed or bool(done.outcomes["failed"]) or done.blocked == "model_unavailable"
                if not done.leased:
                    break
            await worker.finish_tasks()
            tasks.cancel_scope.cancel()
        return failed

    async def _mark(self, keys: list[_SessionKey]) -> None:
        for space, session_id in keys:

            def body(tx: Tx, space: str = space, session_id: str = session_id) -> None:
                try:
                    mark_pending(tx, space=space, session_id=session_id, trigger=Trigger.IDLE)
                except NotFoundError:
                    return  # deleted in the meantime

            await self._database.transact(body, space=space, repeatable=True)

    def _store_reports(self, tally: "Tally") -> None:
        with self._state:
            for space, report in tally.items():
                # Most programs never read the reports: beyond the maximum, only their sum is stored.
                has_entry = space in self._reports or len(self._reports) < _MAX_REPORTS
                self._reports.setdefault(space if has_entry else "", LearnReport()).add(report)

    async def _watch(self, scope: "anyio.CancelScope") -> None:
        while not self._closing:  # noqa: ASYNC110 - it is set by another thread
            await anyio.sleep(_WATCH)
        scope.cancel()
