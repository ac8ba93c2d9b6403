"""Temporal activities: the same fenced functions that a plain worker runs. They receive ids and return outcomes."""

from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

import anyio
from temporalio import activity
from temporalio.exceptions import ApplicationError

from bethink.extensions.base import logger
from bethink.extensions.jobs import JobKind, LearnReport, Worker
from bethink_temporal.names import JobName, RunResult
from bethink_temporal.relay import Relay
from bethink_temporal.workflows import RELAY, RUN_JOB, SWEEP

T = TypeVar("T")
_RELAY_SECONDS = 600.0
"""Seconds that a worker relays without a break."""
_log = logger("worker")


class Activities:
    """The activities of one process."""

    def __init__(self, worker: Worker, relay: Relay) -> None:
        self._worker = worker
        self._relay = relay

    @activity.defn(name=RUN_JOB)
    async def run_job(self, job: JobName) -> RunResult:
        """Run a job if it is due. A second run has no effect."""
        report, token = await self._with_heartbeat(
            lambda: self._worker.run_job(space=job.space, kind=JobKind(job.kind), key=job.key), beat=job.lease / 4
        )
        return RunResult(outcome=_outcome(report), token=token)

    @activity.defn(name=RELAY)
    async def relay(self) -> None:
        """Relay for a while, or until this worker drains and another one takes over."""

        def beat() -> bool:
            activity.heartbeat()
            return not activity.is_worker_shutdown()

        await _without_content(lambda: self._relay.run(seconds=_RELAY_SECONDS, beat=beat))

    @activity.defn(name=SWEEP)
    async def sweep(self) -> int:
        """Mark idle sessions and clean up."""
        return await self._with_heartbeat(self._worker.sweep, beat=self._worker.options.lease / 4)

    async def _with_heartbeat(self, work: Callable[[], Awaitable[T]], *, beat: float) -> T:
        """Run work while sending heartbeats to Temporal."""

        async def send_heartbeats() -> None:
            while True:
                await anyio.sleep(beat)  # first, because most jobs end before, and a heartbeat is a remote call
                activity.heartbeat()

        async def run_with_heartbeats() -> T:
            done: list[T] = []
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(send_heartbeats)
                done.append(await work())
                tasks.cancel_scope.cancel()
            return done[0]

        return await _without_content(run_with_heartbeats)


async def _without_content(work: Callable[[], Awaitable[T]]) -> T:
    """Replace an error by its type name, because its text may quote a message."""
    try:
        return await work()
    except Exception as error:  # noqa: BLE001 - the last point before it is stored in a history
        name = _name_of(error)
    _log.error("Activity failed: %s", name)
    raise ApplicationError(name, type=name)


def _name_of(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return type(error).__name__


def _outcome(report: LearnReport) -> str:
    if report.blocked:
        return f"held: {report.blocked}"
    if not report.leased:
        return "nothing due"
    return next(iter(report.outcomes), "lost" if report.leases_lost else "given up")
