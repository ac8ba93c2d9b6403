"""Runs queued jobs: claims them, renews their leases, and contains their failures."""

import os
import socket
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta

import anyio

from bethink.base.backoff import jittered, pause_after
from bethink.base.logs import logger
from bethink.errors import BethinkError, LostClaim, ModelError, ModelTimeout, ModelUnavailable, Moved, StoreError
from bethink.jobs.options import Handler, Rest, Tally, WorkerOptions, asked_to_wait
from bethink.jobs.tasks import WorkerTask
from bethink.memory.learning.learner import LEARNING, Learner, start_over
from bethink.model.ids import new_id
from bethink.model.jobs import Audit, Claim, JobKind, JobStatus, RunReport
from bethink.store import jobs
from bethink.store.db import Database, Tx

_AHEAD = 2
_TURNS = 4
_Held = dict[Claim, anyio.CancelScope]
_log = logger("worker")


class Worker:
    """Any number of workers may run, in any number of processes: claims keep them apart."""

    def __init__(
        self,
        database: Database,
        handlers: Mapping[JobKind, Handler],
        options: WorkerOptions | None = None,
        *,
        name: str | None = None,
        rest: Rest | None = None,
        unfit: Mapping[JobKind, BethinkError] | None = None,
        tasks: Sequence[WorkerTask] = (),
        learner: Learner | None = None,
    ) -> None:
        self.noted: Callable[[RunReport], None] | None = None
        """What is told of each run that did something."""
        self.name = name or f"{socket.gethostname()}:{os.getpid()}:{new_id('wrk')[-6:]}"
        self.options = options or WorkerOptions()
        self._database = database
        self._handlers = handlers
        self._cap = anyio.CapacityLimiter(self.options.concurrency)
        self._stopped = False
        self.rest = rest or Rest()
        self._unfit = unfit or {}
        self._tasks = tasks
        self._learner = learner
        self._answered = 0.0
        self._turn = 0
        self._capped_on: int | None = None

    async def run(self, work: Callable[[], Awaitable[None]] | None = None) -> None:
        """Work until stopped or cancelled: about every 30 seconds, and at once when a job is queued.

        With `work`, something else says which jobs to run when; tasks run either way.
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
            except StoreError as error:
                _log.error("the database is unavailable: %s", type(error).__name__)
                await anyio.sleep(jittered(min(self.options.interval, 5.0)))

    async def _drain(self) -> None:
        # Two at a time: one claims while the other waits for its last jobs. They share the cap.
        try:
            while not self._stopped and self._has_more(await self.run_once()):
                pass
        except StoreError as error:
            _log.error("the database is unavailable: %s", type(error).__name__)

    def _has_more(self, report: RunReport) -> bool:
        if report.claimed:
            _log.info("jobs ended", extra={"fields": {"claimed": report.claimed, **report.outcomes}})
            if self.noted is not None:
                self.noted(report)
        return report.claimed > 0

    def stop(self) -> None:
        """Finish what is running and claim nothing more, for good. May be called from any thread."""
        self._stopped = True

    @property
    def has_model(self) -> bool:
        """Return whether sessions are learnt from with a model, and not only quoted."""
        return getattr(self._handlers.get(JobKind.EXTRACT), "model", None) is not None

    def handler(self, kind: JobKind) -> Handler | None:
        """Return what does a kind of job, if anything does. Raises why it cannot be done here."""
        if kind in self._unfit:
            raise self._unfit[kind]
        return self._handlers.get(kind)

    async def run_once(self, *, only: Collection[JobKind] | None = None, space: str | None = None) -> RunReport:
        """Claim and do what is due, in all spaces or in one: marked sessions, idle ones, then consolidations.

        If one kind of job cannot run, raises the reason once the others are done.
        """
        return (await self.run_and_tally(only=only, space=space)).total()

    async def run_and_tally(self, *, only: Collection[JobKind] | None = None, space: str | None = None) -> Tally:
        """Do the same, and return a report for each space."""
        tally = Tally(space)
        unfit = await self.unfit()
        asked = [kind for kind in JobKind if only is None or kind in only]
        for kind in asked:
            handler = self._handlers.get(kind)
            if handler is None or self._stopped or kind in unfit:
                continue
            if kind is JobKind.EXTRACT and self.has_model:
                tally.anywhere.marked += await start_over(self._database, space=space)
            claimed = await self._batch(kind, handler, tally, limit=self.options.batch)
            full = claimed is None or claimed >= self.options.batch
            if not full and await self._scan(kind, handler, tally):
                await self._batch(kind, handler, tally, limit=self.options.scan_claims)
        for kind in asked:
            if kind in unfit:
                raise unfit[kind]
        return tally

    async def run_job(self, *, space: str, kind: JobKind, key: str) -> tuple[RunReport, int]:
        """Claim one job and do it if it is due: it may be done or claimed already. Return its token, or 0 if it is not.

        Where something prevents it, nothing is claimed and `held` says what.
        """
        tally = Tally(space)
        held = await self.hindrance(kind)
        if held is not None:
            tally.anywhere.held = held
            return tally.total(), 0
        claims = await self._claimed(
            lambda tx, lease: jobs.claim_one(tx, space=space, kind=kind, key=key, worker=self.name, lease=lease)
        )
        await self._do(self._handlers[kind], claims, tally)
        report = tally.total()
        self._has_more(report)
        return report, max((claim.token for claim in claims), default=0)

    async def sweep(self) -> int:
        """Mark the sessions that went quiet or were only quoted, and tidy up. Returns how many were marked."""
        tally = Tally()
        unfit = await self.unfit()
        for kind, handler in self._handlers.items():
            if kind in unfit:
                continue
            if kind is JobKind.EXTRACT and self.has_model:
                tally.anywhere.marked += await start_over(self._database)
            while await self._scan(kind, handler, tally):
                pass
        await self.tidy()
        return tally.anywhere.marked

    @property
    def kinds(self) -> tuple[JobKind, ...]:
        """The kinds of jobs that are done here."""
        return tuple(self._handlers)

    async def hindrance(self, kind: JobKind) -> str | None:
        """Say in a word why jobs of a kind cannot be done now, if they cannot."""
        if kind not in self._handlers or kind in await self.unfit():
            return "unfit"
        return await self._hindrance(kind)

    async def unfit(self) -> Mapping[JobKind, BethinkError]:
        """Return why some kinds of jobs cannot be done here."""
        why = None if self._learner is None else await self._learner.hindrance()
        return {**self._unfit, **({} if why is None else dict.fromkeys(LEARNING, why))}

    async def tidy(self) -> None:
        """Let each task work a little: it never fails."""
        for task in self._tasks:
            await task.between_jobs()

    async def finish_tasks(self) -> None:
        """Let each task do what is due now, such as sending changes to webhooks."""
        for task in self._tasks:
            await task.finish()

    async def audit(self, *, spaces: int = 20) -> Audit:
        """Count overdue and dead jobs, and violations of invariants in a sample of spaces."""
        from bethink.jobs.audit import audit  # noqa: PLC0415 - most workers never count

        return await audit(self._database, self._handlers, self.options, spaces=spaces)

    async def _batch(self, kind: JobKind, handler: Handler, tally: Tally, *, limit: int) -> int | None:
        """Claim some jobs and do them. Returns how many there were, or None if something prevents it."""
        held = await self._hindrance(kind)
        if held is not None:
            tally.anywhere.held = held
            return None
        self._turn += 1
        tried = self._turn % _TURNS == 0  # retries must not wait forever behind new jobs
        claims = await self._claimed(
            lambda tx, lease: jobs.claim(
                tx, kind=kind, worker=self.name, lease=lease, limit=limit, tried_first=tried, space=tally.only
            )
        )
        await self._do(handler, claims, tally)
        return len(claims)

    async def _claimed(self, claim: Callable[[Tx, timedelta], list[Claim]]) -> list[Claim]:
        lease = timedelta(seconds=self.options.lease)
        claims: list[Claim] = []
        with anyio.CancelScope(shield=True):  # when cancelled here, the claims must still be known to be released
            claims += await self._database.transact(lambda tx: claim(tx, lease))
        return claims

    async def _do(self, handler: Handler, claims: list[Claim], tally: Tally) -> None:
        if not claims:
            return
        held = {claim: anyio.CancelScope() for claim in claims}
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._beat, held)
                async with anyio.create_task_group() as work:
                    for claim in claims:
                        work.start_soon(self._attempt, handler, claim, tally[claim.space], held)
                tasks.cancel_scope.cancel()
        finally:
            await self._release(list(held))

    async def _attempt(self, handler: Handler, claim: Claim, report: RunReport, held: _Held) -> None:
        scope = held[claim]
        report.claimed += 1
        async with self._cap:
            started = time.monotonic()
            try:
                with scope:
                    if claim.attempts > self.options.max_attempts:
                        await self._bury(handler, claim)
                    else:
                        learnt = await handler.process(claim)
                        self._answered = time.monotonic()
                        report.outcomes[learnt.outcome] += 1
                        report.settled += learnt.settled
                        report.for_review += learnt.for_review
                        report.refused += learnt.refused
                if scope.cancelled_caught:
                    report.lost += 1
            except LostClaim:
                report.lost += 1
            except Moved:  # its failure cannot be recorded in its space, and it did not fail
                report.lost += 1
                await self._release([claim], delay=jittered(self.options.retry_first))
            except Exception as error:  # noqa: BLE001 - the worker's loop: one job must not stop the others
                report.outcomes["failed"] += 1
                await self._failed(handler, claim, error, started)
        held.pop(claim, None)

    async def _failed(self, handler: Handler, claim: Claim, error: Exception, started: float) -> None:
        status, attempts = JobStatus.FAILED, None
        is_away = isinstance(error, StoreError) or self._is_away(error, started)
        delay = pause_after(
            0 if is_away else claim.attempts - 1,
            first=self.options.retry_first,
            max_pause=self.options.retry_longest,
            at_least=asked_to_wait(error),
        )
        if is_away:
            # Not the fault of this session: it keeps its attempts, and all calls to the model are paused.
            attempts = claim.attempts - 1
            if isinstance(error, ModelError):
                self.rest.begin(claim.kind, min(delay, 300.0))
        elif claim.attempts >= self.options.max_attempts:
            status = JobStatus.DEAD
        reason = f"{type(error).__name__}: {error}" if isinstance(error, ModelError) else type(error).__name__
        _log.warning("job %s of %s failed (%s), attempt %s", claim.kind, claim.key, reason[:200], claim.attempts)
        await self._give_up(
            handler, claim, status=status, delay=timedelta(seconds=delay), attempts=attempts, error=reason
        )

    def _is_away(self, error: Exception, started: float) -> bool:
        # A model that answers other calls and only lets this one time out is not unavailable.
        slow = isinstance(error, ModelTimeout) and self._answered < started
        return isinstance(error, ModelUnavailable) or slow

    async def _give_up(
        self, handler: Handler, claim: Claim, *, status: JobStatus, delay: timedelta, attempts: int | None, error: str
    ) -> None:
        try:
            await handler.fail(claim, status=status, delay=delay, attempts=attempts, error=error)
        except Exception as second:  # noqa: BLE001 - the worker's loop: the lease will end
            _log.error("could not record the failure of %s: %s", claim.key, type(second).__name__)

    async def _bury(self, handler: Handler, claim: Claim) -> None:
        # It was claimed as often as allowed and never ended: its workers probably crashed on it.
        await self._give_up(handler, claim, status=JobStatus.DEAD, delay=timedelta(), attempts=None, error="crashed")

    async def _beat(self, held: _Held) -> None:
        lease = timedelta(seconds=self.options.lease)
        while True:
            await anyio.sleep(self.options.lease / 3)
            claims = list(held)
            try:
                alive = await self._database.transact(
                    lambda tx, claims=claims: [jobs.beat(tx, claim, lease=lease) for claim in claims], repeatable=True
                )
            except StoreError as error:
                _log.warning("a heartbeat failed: %s", type(error).__name__)
                continue
            for claim, ours in zip(claims, alive, strict=True):
                if not ours and claim in held:
                    held[claim].cancel()

    async def _release(self, left: list[Claim], *, delay: float = 0.0) -> None:
        """Release claims that were not ended, as when the worker is stopped. This does not count as a failure."""
        if not left:
            return

        def body(tx: Tx) -> None:
            due = tx.now + timedelta(seconds=delay)
            for claim in left:
                jobs.finish(tx, claim, status=JobStatus.QUEUED, outcome=None, due=due, attempts=claim.attempts - 1)

        with anyio.CancelScope(shield=True):
            try:
                await self._database.transact(body, repeatable=True)
            except StoreError as error:
                _log.warning("could not release claims, which will expire: %s", type(error).__name__)

    async def _scan(self, kind: JobKind, handler: Handler, tally: Tally) -> int:
        due = await self._database.transact(
            lambda tx: jobs.quiet(tx, kind=kind, limit=self.options.scan_limit, space=tally.only), read=True
        )
        report = tally.anywhere
        found = 0
        for space, key in due:
            if found >= self.options.scan_claims or self._stopped:
                break
            report.scanned += 1
            with suppress(Moved):  # the others do not wait for it
                found += await self._database.transact(
                    lambda tx, space=space, key=key: handler.look(tx, space=space, key=key),
                    space=space,
                    repeatable=True,
                )
        report.marked += found
        return found

    async def _hindrance(self, kind: JobKind) -> str | None:
        if self.rest.rests(kind):
            return "model_unavailable"
        cap = self.options.daily_cap
        if cap is None or kind is JobKind.INDEX:
            return None
        spent, day = await self._database.transact(lambda tx: (jobs.spent(tx), jobs.day_of(tx.now)), read=True)
        if spent.cost < cap:
            self._capped_on = None
            return None
        if self._capped_on != day:
            self._capped_on = day
            _log.warning("the daily spend cap of $%.2f is reached: learning continues after midnight UTC", cap / 1e6)
        return "spend_cap"

    async def _pause(self) -> None:
        until = time.monotonic() + jittered(self.options.interval)
        since = await self._database.start_listening()
        if await self._any_due():  # queued while this worker was busy
            return
        while not self._stopped and (left := until - time.monotonic()) > 0:
            if await self._database.wait_for_work(min(left, 1.0), since=since):
                since = await self._database.start_listening()
                if await self._any_due():
                    return

    async def _any_due(self) -> bool:
        def body(tx: Tx) -> bool:
            capped = self._capped_on == jobs.day_of(tx.now)
            free = [kind for kind in self._handlers if not self.rest.rests(kind)]
            return any(jobs.any_due(tx, kind=kind) for kind in free if not capped or kind is JobKind.INDEX)

        return await self._database.transact(body, read=True)
