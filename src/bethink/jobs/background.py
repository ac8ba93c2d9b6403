"""Learns in the background of a process: when something is marked, and when a session has gone quiet."""

import threading
import time
from collections.abc import Callable, Generator, Iterable, Set
from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio

from bethink.base.backoff import pause_after
from bethink.base.logs import logger
from bethink.errors import BethinkError, Misconfigured, NotFound
from bethink.memory.log.succession import mark_pending
from bethink.model.jobs import JobKind, RunReport
from bethink.model.records import Trigger
from bethink.store.db import Database, Tx

if TYPE_CHECKING:  # loaded when there is something to learn from
    from bethink.jobs.worker import Tally, Worker

_WATCH = 0.05
_MOST_SESSIONS = 10_000
"""How many sessions are watched at most. Beyond that the oldest are left to the scan of any worker."""
_MOST_LEFT = 500
"""How many sessions are marked when the memory is closed."""
_MOST_REPORTS = 1_000
_RETRY, _LONGEST = 80.0, 6 * 3600.0
_log = logger("worker")

_Place = tuple[str, str]
"""A space and the id of a session in it."""


class Background:
    """Owns a thread with its own event loop, so that it serves blocking and async callers alike.

    The thread exists only while there is something to do or to wait for, and never keeps the process alive. Without a
    model, `learn_after` is None: then it runs once when a session opens, and waits for nothing.
    """

    def __init__(
        self,
        make: "Callable[[], Worker]",
        database: Database,
        *,
        kinds: Iterable[JobKind] = JobKind,
        learn_after: float | None = None,
    ) -> None:
        self.kinds = frozenset(kinds)
        """The jobs that can be done here."""
        self._make = make
        self._database = database
        self._learn_after = learn_after
        self._state = threading.Condition()
        self._thread: threading.Thread | None = None
        self._asked = self._busy = self._closing = self._told = self._caught_up = False
        self._holds = self._failures = 0
        self._again: float | None = None
        self._heard: dict[_Place, float] = {}
        self._reports: dict[str, RunReport] = {}
        if learn_after is not None:
            database.on_work = self.wake

    @property
    def follows(self) -> bool:
        """Whether what is marked is learnt from at once, because there is a model."""
        return self._learn_after is not None

    def open(self) -> None:
        """Be ready to run, at first or after an end."""
        with self._state:
            self._closing = self._asked = self._caught_up = False
            self._again = None

    def begin(self) -> None:
        """Start a run, unless one is about to start."""
        with self._state:
            self._caught_up = True
            self._ask()

    def wake(self, queued: Set[JobKind]) -> None:
        """Start a run because jobs of some kinds were queued. It neither blocks nor fails."""
        if queued.isdisjoint(self.kinds):
            return
        with self._state:
            if not self._told:  # it cannot learn, and has said so: the next session that opens tries again
                self._ask()

    def heard(self, space: str, session_id: str) -> None:
        """Note that something was said in a session: it is learnt from once it has been quiet for long enough."""
        if self._learn_after is None:
            return
        with self._state:
            self._heard.pop((space, session_id), None)  # the first one is always the longest quiet
            self._heard[space, session_id] = time.monotonic()
            if len(self._heard) > _MOST_SESSIONS:
                del self._heard[next(iter(self._heard))]
            if not self._caught_up:  # the process before this one may have left something
                self._caught_up = self._asked = True
            self._start()

    @contextmanager
    def held(self) -> Generator[None]:
        """Let no run start, so that a caller can do the work instead. Call `wait` inside of it."""
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

    def take(self, space: str | None = None) -> RunReport:
        """Return what was done here since it was last asked, in all spaces or in one."""
        total = RunReport()
        with self._state:
            for name in list(self._reports) if space is None else [space]:
                total.add(self._reports.pop(name, RunReport()))
        return total

    def end(self) -> None:
        """Stop a run in progress and release its claims; the next process does the work."""
        with self._state:
            self._closing = True
            self._state.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join()

    async def mark_left(self) -> None:
        """Mark the sessions that were not quiet for long enough: no more is said in them by this process."""
        with self._state:
            left, self._heard = list(self._heard)[-_MOST_LEFT:], {}
        try:
            await self._mark(left)
        except BethinkError as error:
            _log.warning("open sessions were not marked, and wait for a scan: %s", type(error).__name__)

    def _ask(self) -> None:
        self._asked = True
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
                self._told = False
            except* Misconfigured as errors:
                # It stays this way until someone fixes it: do not log it again for the next session.
                if not self._told:
                    _log.warning("marked sessions are not learnt from: %s", errors.exceptions[0])
                self._told = True
            except* Exception as errors:  # noqa: BLE001 - the loop of a worker: what was said stays marked
                failed = True
                _log.error("learning in the background failed: %s", type(errors.exceptions[0]).__name__)
            with self._state:
                self._busy = False
                self._failures = self._failures + 1 if failed else 0
                delay = pause_after(self._failures - 1, first=_RETRY, max_pause=_LONGEST)
                self._again = time.monotonic() + delay if failed and self.follows else None
                self._state.notify_all()

    def _next(self) -> list[_Place] | None:
        """Wait for something to do and return the sessions that went quiet; None if there is nothing to wait for."""
        with self._state:
            while not self._closing:
                now = time.monotonic()
                quiet = self._take_quiet(now)
                if not self._holds and (quiet or self._asked or (self._again is not None and self._again <= now)):
                    self._asked, self._busy = False, True
                    return quiet
                if not (self._holds or self._heard or self._again is not None or self._asked):
                    break
                self._state.wait(None if self._holds else self._left(now))
            self._thread = None
            return None

    def _take_quiet(self, now: float) -> list[_Place]:
        if self._holds or self._learn_after is None:
            return []
        found: list[_Place] = []
        for place, at in self._heard.items():
            if at + self._learn_after > now:
                break
            found.append(place)
        for place in found:
            del self._heard[place]
        return found

    def _left(self, now: float) -> float:
        """Return the seconds until there is something to do."""
        times = [] if self._again is None else [self._again]
        times += [at + (self._learn_after or 0.0) for at in list(self._heard.values())[:1]]
        return max(0.0, min(times, default=now) - now)

    async def _run(self, quiet: list[_Place]) -> bool:
        """Do what is due until nothing is, and return whether something failed that is worth another try."""
        failed = False
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, tasks.cancel_scope)
            await self._mark(quiet)
            worker = self._make()
            while not self._closing:
                tally = await worker.run_and_tally()
                self._keep(tally)
                done = tally.total()
                failed = failed or bool(done.outcomes["failed"]) or done.held == "model_unavailable"
                if not done.claimed:
                    break
            await worker.finish_tasks()
            tasks.cancel_scope.cancel()
        return failed

    async def _mark(self, places: list[_Place]) -> None:
        for space, session_id in places:

            def body(tx: Tx, space: str = space, session_id: str = session_id) -> None:
                try:
                    mark_pending(tx, space=space, session_id=session_id, trigger=Trigger.IDLE)
                except NotFound:
                    return  # forgotten meanwhile

            await self._database.transact(body, space=space, repeatable=True)

    def _keep(self, tally: "Tally") -> None:
        with self._state:
            for space, report in tally.items():
                # Most programs never ask for the reports: beyond so many spaces, only their sum is kept.
                known = space in self._reports or len(self._reports) < _MOST_REPORTS
                self._reports.setdefault(space if known else "", RunReport()).add(report)

    async def _watch(self, scope: "anyio.CancelScope") -> None:
        while not self._closing:  # noqa: ASYNC110 - it is set by another thread
            await anyio.sleep(_WATCH)
        scope.cancel()
