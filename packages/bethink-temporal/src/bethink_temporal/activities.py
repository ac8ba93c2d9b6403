"""What Temporal's workers run: the same fenced functions that a plain worker runs, with ids in and outcomes out."""

from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

import anyio
from temporalio import activity
from temporalio.exceptions import ApplicationError

from bethink.extensions.base import logger
from bethink.extensions.jobs import JobKind, RunReport, Worker
from bethink_temporal.names import JobName, Ran
from bethink_temporal.relay import Relay
from bethink_temporal.workflows import RELAY, RUN_JOB, SWEEP

T = TypeVar("T")
_TURN = 600.0
"""Seconds that a worker relays in one go."""
_log = logger("worker")


class Activities:
    """The activities of one process."""

    def __init__(self, worker: Worker, relay: Relay) -> None:
        self._worker = worker
        self._relay = relay

    @activity.defn(name=RUN_JOB)
    async def run_job(self, job: JobName) -> Ran:
        """Run a job if it is due: a second run finds it done."""
        report, token = await self._heard(
            lambda: self._worker.run_job(space=job.space, kind=JobKind(job.kind), key=job.key), beat=job.lease / 4
        )
        return Ran(outcome=_outcome(report), token=token)

    @activity.defn(name=RELAY)
    async def relay(self) -> None:
        """Relay for a while, or until this worker drains: then another one does."""

        def beat() -> bool:
            activity.heartbeat()
            return not activity.is_worker_shutdown()

        await _without_content(lambda: self._relay.run(seconds=_TURN, beat=beat))

    @activity.defn(name=SWEEP)
    async def sweep(self) -> int:
        """Mark sessions that went quiet, and tidy up."""
        return await self._heard(self._worker.sweep, beat=self._worker.options.lease / 4)

    async def _heard(self, work: Callable[[], Awaitable[T]], *, beat: float) -> T:
        """Do something and tell Temporal now and then that this process lives."""

        async def beating() -> None:
            while True:
                await anyio.sleep(beat)  # first: most jobs end before, and a heartbeat is a call
                activity.heartbeat()

        async def both() -> T:
            done: list[T] = []
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(beating)
                done.append(await work())
                tasks.cancel_scope.cancel()
            return done[0]

        return await _without_content(both)


async def _without_content(work: Callable[[], Awaitable[T]]) -> T:
    """Let an error leave this process by its name only: its text may quote a message."""
    try:
        return await work()
    except Exception as error:  # noqa: BLE001 - the last place before it is kept in a history
        name = _name_of(error)
    _log.error("an activity failed: %s", name)
    raise ApplicationError(name, type=name)


def _name_of(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return type(error).__name__


def _outcome(report: RunReport) -> str:
    if report.held:
        return f"held: {report.held}"
    if not report.claimed:
        return "nothing due"
    return next(iter(report.outcomes), "lost" if report.lost else "given up")
