"""Runs queued jobs: leases them, renews the leases, and isolates failures."""

import os
import socket
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta

import anyio

from bethink.base.backoff import pause_after, with_jitter
from bethink.base.logs import logger
from bethink.errors import (
    BethinkError,
    DatabaseError,
    LeaseLostError,
    ModelError,
    ModelTimeoutError,
    ModelUnavailableError,
    SpaceMovedError,
)
from bethink.jobs.options import Cooldown, Handler, Tally, WorkerOptions, requested_wait
from bethink.jobs.tasks import WorkerTask
from bethink.memory.learning.learner import LEARNING, Learner, start_over
from bethink.model.ids import new_id
from bethink.model.jobs import Audit, JobKind, JobStatus, LearnReport, Lease
from bethink.store import jobs
from bethink.store.db import Database, Tx

_AHEAD = 2
_TURNS = 4
_Scopes = dict[Lease, anyio.CancelScope]
_log = logger("worker")


class Worker:
    """Any number of workers may run, in any number of processes: leases keep them from running the same job."""

    def __init__(
        self,
        database: Database,
        handlers: Mapping[JobKind, Handler],
        options: WorkerOptions | None = None,
        *,
        name: str | None = None,
        cooldown: Cooldown | None = None,
        unavailable: Mapping[JobKind, BethinkError] | None = None,
        tasks: Sequence[WorkerTask] = (),
        learner: Learner | None = None,
    ) -> None:
        self.on_report: Callable[[LearnReport], None] | None = None
        """Called with the report of each run that did something."""
        self.name = name or f"{socket.gethostname()}:{os.getpid()}:{new_id('wrk')[-6:]}"
        self.options = options or WorkerOptions()
        self._database = database
        self._handlers = handlers
        self._cap = anyio.CapacityLimiter(self.options.concurrency)
        self._stopped = False
        self.cooldown = cooldown or Cooldown()
        self._unavailable = unavailable or {}
        self._tasks = tasks
        self._learner = learner
        self._last_answer = 0.0
        self._turn = 0
        self._capped_on: int | None = None

    async def run(self, work: Callable[[], Awaitable[None]] | None = None) -> None:
        """Run until stopped or canceled: about every 30 seconds, and at once when a job is queued.

        With `work`, the caller decides which jobs to run and when; tasks run either way.
        """
        failed: BethinkError | None = None
        async with anyio.create_task_group() as tasks:
            for task in self._tasks:
                tasks.start_soon(task.run)
            try:
                await (work or self._run_jobs)()
            except BethinkError as error:  # raised below, where no group wraps it
                failed = error
            tasks.cancel_scope.cancel()
        if failed is not None:
            raise failed

    async def _run_jobs(self) -> None:
        while not self._stopped:
            try:
                if self._has_more(await self.run_once()):
                    async with anyio.create_task_group() as drains:
                        for _ in range(_AHEAD):
                            drains.start_soon(self._drain)
                await self.tidy()
                await self._pause()
            except DatabaseError as error:
                _log.error("the database is unavailable: %s", type(error).__name__)
                await anyio.sleep(with_jitter(min(self.options.interval, 5.0)))

    async def _drain(self) -> None:
        # Two at a time: one leases jobs while the other waits for its last jobs. They share the cap.
        try:
            while not self._stopped and self._has_more(await self.run_once()):
                pass
        except DatabaseError as error:
            _log.error("the database is unavailable: %s", type(error).__name__)

    def _has_more(self, report: LearnReport) -> bool:
        if report.leased:
            _log.info("jobs finished", extra={"fields": {"leased": report.leased, **report.outcomes}})
            if self.on_report is not None:
                self.on_report(report)
        return report.leased > 0

    def stop(self) -> None:
        """Finish running jobs and lease no more. May be called from any thread."""
        self._stopped = True

    @property
    def has_model(self) -> bool:
        """True if sessions are learned from with a model, not only quoted."""
        return getattr(self._handlers.get(JobKind.EXTRACT), "model", None) is not None

    def handler(self, kind: JobKind) -> Handler | None:
        """Return the handler of a kind of job, or None. Raises the error that makes the kind unavailable here."""
        if kind in self._unavailable:
            raise self._unavailable[kind]
        return self._handlers.get(kind)

    async def run_once(self, *, only: Collection[JobKind] | None = None, space: str | None = None) -> LearnReport:
        """Run the jobs that are due, in all spaces or in one: marked sessions, idle ones, then consolidations.

        If one kind of job cannot run, raises the reason once the others are done.
        """
        return (await self.run_and_tally(only=only, space=space)).total()

    async def run_and_tally(self, *, only: Collection[JobKind] | None = None, space: str | None = None) -> Tally:
        """Run the jobs that are due, and return a report for each space."""
        tally = Tally(space)
        unavailable = await self.unavailable()
        selected = [kind for kind in JobKind if only is None or kind in only]
        runnable = [kind for kind in selected if kind in self._handlers and kind not in unavailable]
        if JobKind.EXTRACT in runnable and self.has_model and not self._stopped:
            tally.anywhere.queued += await start_over(self._database, space=space)
        due: Mapping[JobKind, bool] | None = None
        for position, kind in enumerate(runnable):
            if self._stopped:
                break
            if due is None:
                due = await self._due_kinds(runnable[position:], tally)
            if kind not in due:
                tally.anywhere.blocked = await self._paused_reason(kind) or tally.anywhere.blocked
            elif await self._run_kind(kind, tally, idle=due[kind]):
                due = None  # the jobs that ran may have queued others
        for kind in selected:
            if kind in unavailable:
                raise unavailable[kind]
        return tally

    async def _due_kinds(self, kinds: Sequence[JobKind], tally: Tally) -> Mapping[JobKind, bool]:
        return await self._database.transact(
            lambda tx: jobs.due_kinds(tx, kinds, space=tally.only), read_only=True
        )  # fmt: skip

    async def _run_kind(self, kind: JobKind, tally: Tally, *, idle: bool) -> bool:
        """Run the jobs of a kind that are due, then those that an idle check queues. Return whether any ran."""
        handler = self._handlers[kind]
        claimed = await self._batch(kind, handler, tally, limit=self.options.batch)
        full = claimed is None or claimed >= self.options.batch
        if not full and idle and await self._scan(kind, handler, tally):
            claimed = await self._batch(kind, handler, tally, limit=self.options.scan_claims)
        return bool(claimed)

    async def run_job(self, *, space: str, kind: JobKind, key: str) -> tuple[LearnReport, int]:
        """Run one job if it is due: it may be done or leased already. Return the report, and the token or 0.

        If the kind is blocked, nothing is leased and `blocked` in the report has the reason.
        """
        tally = Tally(space)
        reason = await self.blocked_reason(kind)
        if reason is not None:
            tally.anywhere.blocked = reason
            return tally.total(), 0
        leases = await self._acquire(
            lambda tx, duration: jobs.lease_job(
                tx, space=space, kind=kind, key=key, worker=self.name, duration=duration
            )
        )
        await self._run_leases(self._handlers[kind], leases, tally)
        report = tally.total()
        self._has_more(report)
        return report, max((lease.token for lease in leases), default=0)

    async def sweep(self) -> int:
        """Mark the sessions that are idle or were only quoted, and tidy up. Return the number of marked sessions."""
        tally = Tally()
        unavailable = await self.unavailable()
        for kind, handler in self._handlers.items():
            if kind in unavailable:
                continue
            if kind is JobKind.EXTRACT and self.has_model:
                tally.anywhere.queued += await start_over(self._database)
            while await self._scan(kind, handler, tally):
                pass
        await self.tidy()
        return tally.anywhere.queued

    @property
    def kinds(self) -> tuple[JobKind, ...]:
        """The kinds of jobs that this worker runs."""
        return tuple(self._handlers)

    async def blocked_reason(self, kind: JobKind) -> str | None:
        """Return why jobs of this kind are blocked, or None."""
        if kind not in self._handlers or kind in await self.unavailable():
            return "unfit"
        return await self._paused_reason(kind)

    async def unavailable(self) -> Mapping[JobKind, BethinkError]:
        """Return the kinds of jobs that cannot run here, each with the error."""
        error = None if self._learner is None else await self._learner.blocked_reason()
        return {**self._unavailable, **({} if error is None else dict.fromkeys(LEARNING, error))}

    async def tidy(self) -> None:
        """Run a short step of each task. Never raises."""
        for task in self._tasks:
            await task.between_jobs()

    async def finish_tasks(self) -> None:
        """Let each task finish its due work, such as sending changes to webhooks."""
        for task in self._tasks:
            await task.finish()

    async def audit(self, *, spaces: int = 20) -> Audit:
        """Count overdue and abandoned jobs, and violations of invariants in a sample of spaces."""
        from bethink.jobs.audit import audit  # noqa: PLC0415 - most workers never count

        return await audit(self._database, self._handlers, self.options, spaces=spaces)

    async def _batch(self, kind: JobKind, handler: Handler, tally: Tally, *, limit: int) -> int | None:
        """Lease jobs and run them, up to a limit. Return their number, or None if the kind is blocked.

        The sessions of a space are leased one after the other, in the order they were said.
        """
        total = 0
        while total < limit and not self._stopped:
            count = await self._round(kind, handler, tally, limit=limit - total)
            if count is None:
                return None
            total += count
            if not count or kind is not JobKind.EXTRACT:
                break
        return total

    async def _round(self, kind: JobKind, handler: Handler, tally: Tally, *, limit: int) -> int | None:
        """Lease some jobs at once and run them. Return their number, or None if the kind is blocked."""
        reason = await self._paused_reason(kind)
        if reason is not None:
            tally.anywhere.blocked = reason
            return None
        self._turn += 1
        tried = self._turn % _TURNS == 0  # retries must not wait forever behind new jobs
        leases = await self._acquire(
            lambda tx, duration: jobs.lease_jobs(
                tx, kind=kind, worker=self.name, duration=duration, limit=limit, tried_first=tried, space=tally.only
            )
        )
        await self._run_leases(handler, leases, tally)
        return len(leases)

    async def _acquire(self, acquire: Callable[[Tx, timedelta], list[Lease]]) -> list[Lease]:
        duration = timedelta(seconds=self.options.lease)
        leases: list[Lease] = []
        with anyio.CancelScope(shield=True):  # if canceled here, the leases must still be released
            leases += await self._database.transact(lambda tx: acquire(tx, duration))
        return leases

    async def _run_leases(self, handler: Handler, leases: list[Lease], tally: Tally) -> None:
        if not leases:
            return
        scopes = {lease: anyio.CancelScope() for lease in leases}
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._renew_leases, scopes)
                async with anyio.create_task_group() as work:
                    for lease in leases:
                        work.start_soon(self._attempt, handler, lease, tally[lease.space], scopes)
                tasks.cancel_scope.cancel()
        finally:
            await self._release(list(scopes))

    async def _attempt(self, handler: Handler, lease: Lease, report: LearnReport, scopes: _Scopes) -> None:
        scope = scopes[lease]
        report.leased += 1
        async with self._cap:
            started = time.monotonic()
            try:
                with scope:
                    if lease.attempts > self.options.max_attempts:
                        await self._abandon(handler, lease)
                    else:
                        result = await handler.process(lease)
                        self._last_answer = time.monotonic()
                        report.count(
                            result.outcome,
                            settled=result.settled, for_review=result.for_review, refused=result.refused,
                        )  # fmt: skip
                if scope.cancelled_caught:
                    report.leases_lost += 1
            except LeaseLostError:
                report.leases_lost += 1
            except SpaceMovedError:  # the space moved: the failure cannot be recorded there, and the job did not fail
                report.leases_lost += 1
                await self._release([lease], delay=with_jitter(self.options.retry_first))
            except Exception as error:  # noqa: BLE001 - the worker's loop: one job must not stop the others
                report.outcomes["failed"] += 1
                await self._handle_failure(handler, lease, error, started)
        scopes.pop(lease, None)

    async def _handle_failure(self, handler: Handler, lease: Lease, error: Exception, started: float) -> None:
        status, attempts = JobStatus.FAILED, None
        is_unavailable = isinstance(error, DatabaseError) or self._is_unavailable(error, started)
        delay = pause_after(
            0 if is_unavailable else lease.attempts - 1,
            first=self.options.retry_first,
            max_pause=self.options.retry_longest,
            at_least=requested_wait(error),
        )
        if is_unavailable:
            # Not the fault of this session: it keeps its attempts, and calls to the model are paused.
            attempts = lease.attempts - 1
            if isinstance(error, ModelError):
                self.cooldown.begin(lease.kind, min(delay, 300.0))
        elif lease.attempts >= self.options.max_attempts:
            status = JobStatus.ABANDONED
        reason = f"{type(error).__name__}: {error}" if isinstance(error, ModelError) else type(error).__name__
        _log.warning("job %s of %s failed (%s), attempt %s", lease.kind, lease.key, reason[:200], lease.attempts)
        await self._record_failure(
            handler, lease, status=status, delay=timedelta(seconds=delay), attempts=attempts, error=reason
        )

    def _is_unavailable(self, error: Exception, started: float) -> bool:
        # A model that answers other calls is available, even if this call times out.
        slow = isinstance(error, ModelTimeoutError) and self._last_answer < started
        return isinstance(error, ModelUnavailableError) or slow

    async def _record_failure(
        self, handler: Handler, lease: Lease, *, status: JobStatus, delay: timedelta, attempts: int | None, error: str
    ) -> None:
        try:
            await handler.fail(lease, status=status, delay=delay, attempts=attempts, error=error)
        except Exception as second:  # noqa: BLE001 - the worker's loop: the lease will end
            _log.error("could not record the failure of %s: %s", lease.key, type(second).__name__)

    async def _abandon(self, handler: Handler, lease: Lease) -> None:
        # The job was leased as often as allowed and never ended: its workers probably crashed.
        await self._record_failure(
            handler, lease, status=JobStatus.ABANDONED, delay=timedelta(), attempts=None, error="crashed"
        )

    async def _renew_leases(self, scopes: _Scopes) -> None:
        duration = timedelta(seconds=self.options.lease)
        while True:
            await anyio.sleep(self.options.lease / 3)
            leases = list(scopes)
            try:
                alive = await self._database.transact(
                    lambda tx, leases=leases: [jobs.renew_lease(tx, lease, duration=duration) for lease in leases],
                    repeatable=True,
                )
            except DatabaseError as error:
                _log.warning("a heartbeat failed: %s", type(error).__name__)
                continue
            for lease, ours in zip(leases, alive, strict=True):
                if not ours and lease in scopes:
                    scopes[lease].cancel()

    async def _release(self, leases: list[Lease], *, delay: float = 0.0) -> None:
        """Release unfinished leases, as when the worker is stopped. This does not count as a failure."""
        if not leases:
            return

        def body(tx: Tx) -> None:
            due = tx.now + timedelta(seconds=delay)
            for lease in leases:
                jobs.finish(tx, lease, status=JobStatus.QUEUED, outcome=None, due=due, attempts=lease.attempts - 1)

        with anyio.CancelScope(shield=True):
            try:
                await self._database.transact(body, repeatable=True)
            except DatabaseError as error:
                _log.warning("could not release leases, which will expire: %s", type(error).__name__)

    async def _scan(self, kind: JobKind, handler: Handler, tally: Tally) -> int:
        due = await self._database.transact(
            lambda tx: jobs.idle_sessions(tx, kind=kind, limit=self.options.scan_limit, space=tally.only),
            read_only=True,
        )
        report = tally.anywhere
        marked = 0
        for space, key in due:
            if marked >= self.options.scan_claims or self._stopped:
                break
            report.scanned += 1
            with suppress(SpaceMovedError):  # the other spaces continue
                marked += await self._database.transact(
                    lambda tx, space=space, key=key: handler.look(tx, space=space, key=key),
                    space=space,
                    repeatable=True,
                )
        report.queued += marked
        return marked

    async def _paused_reason(self, kind: JobKind) -> str | None:
        if self.cooldown.is_paused(kind):
            return "model_unavailable"
        cap = self.options.daily_cap
        if cap is None or kind is JobKind.INDEX:
            return None
        spent, day = await self._database.transact(lambda tx: (jobs.spent(tx), jobs.day_of(tx.now)), read_only=True)
        if spent.cost < cap:
            self._capped_on = None
            return None
        if self._capped_on != day:
            self._capped_on = day
            _log.warning("the daily budget of $%.2f is spent: learning continues after midnight UTC", cap / 1e6)
        return "daily_budget"

    async def _pause(self) -> None:
        until = time.monotonic() + with_jitter(self.options.interval)
        since = await self._database.start_listening()
        if await self._any_due():  # queued while this worker was busy
            return
        while not self._stopped and (remaining := until - time.monotonic()) > 0:
            if await self._database.wait_for_work(min(remaining, 1.0), since=since):
                since = await self._database.start_listening()
                if await self._any_due():
                    return

    async def _any_due(self) -> bool:
        def body(tx: Tx) -> bool:
            capped = self._capped_on == jobs.day_of(tx.now)
            free = [kind for kind in self._handlers if not self.cooldown.is_paused(kind)]
            return any(jobs.any_due(tx, kind=kind) for kind in free if not capped or kind is JobKind.INDEX)

        return await self._database.transact(body, read_only=True)
