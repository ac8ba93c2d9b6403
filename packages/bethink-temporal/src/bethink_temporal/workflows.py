"""Temporal workflows for jobs, the relay and sweeps. The jobs table remains authoritative.

Temporal replays these functions from their histories, so they must be deterministic: no clocks, no I/O.
"""

from contextlib import suppress
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, is_cancelled_exception

from bethink_temporal.names import JobName, RelayPlan, RunResult

RUN_JOB, RELAY, SWEEP = "bethink.run_job", "bethink.relay", "bethink.sweep"
_START_RETRIES = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_attempts=3)
"""Retries for workers that do not respond, because they may have stopped before they leased the job.

Only the database counts attempts. A job that failed, or whose worker stopped, becomes due later and is relayed again.
"""
_MAX_RUN_TIME = timedelta(hours=6)
_MAX_QUEUE_TIME = timedelta(minutes=10)
"""After this time, probably no worker serves the queue, for example after a change of provider."""


@workflow.defn(name="bethink.job", sandboxed=False)
class JobWorkflow:
    """Runs a job, and repeats while it is due with a newer token."""

    def __init__(self) -> None:
        self._token = 0

    @workflow.signal
    def due(self, token: int) -> None:
        """Note that the job is due, with its last token."""
        self._token = max(self._token, token)

    @workflow.run
    async def run(self, job: JobName) -> str:
        """Run the job until there is no newer token, and return its outcome."""
        while True:
            known_token = self._token
            result = await self._try(job)
            if self._token <= max(known_token, result.token - 1):
                return result.outcome
            if workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(job)

    async def _try(self, job: JobName) -> RunResult:
        try:
            return await workflow.execute_activity(
                RUN_JOB,
                job,
                result_type=RunResult,
                task_queue=job.queue,
                start_to_close_timeout=_MAX_RUN_TIME,
                schedule_to_start_timeout=_MAX_QUEUE_TIME,
                heartbeat_timeout=timedelta(seconds=job.lease),
                retry_policy=_START_RETRIES,
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            return RunResult(outcome="lost")


@workflow.defn(name="bethink.relay", sandboxed=False)
class RelayWorkflow:
    """Lets one worker at a time relay. Each database has one such workflow."""

    @workflow.init
    def __init__(self, plan: RelayPlan) -> None:
        self._paused = plan.paused

    @workflow.signal
    def pause(self) -> None:
        """Stop relaying. Jobs that were relayed before still run."""
        self._paused = True

    @workflow.signal
    def resume(self) -> None:
        """Relay again."""
        self._paused = False

    @workflow.query
    def paused(self) -> bool:
        """Return whether relaying is paused."""
        return self._paused

    @workflow.run
    async def run(self, plan: RelayPlan) -> None:
        """Relay until canceled."""
        while not workflow.info().is_continue_as_new_suggested():
            await workflow.wait_condition(lambda: not self._paused)
            watch = workflow.start_activity(
                RELAY,
                start_to_close_timeout=_MAX_RUN_TIME,
                heartbeat_timeout=timedelta(seconds=plan.lease),
                cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
                retry_policy=RetryPolicy(initial_interval=timedelta(seconds=1), backoff_coefficient=1.0),
            )
            await workflow.wait_condition(lambda watch=watch: self._paused or watch.done())
            if not watch.done():
                watch.cancel()
            with suppress(ActivityError):
                await watch
        workflow.continue_as_new(RelayPlan(lease=plan.lease, paused=self._paused))


@workflow.defn(name="bethink.sweep", sandboxed=False)
class SweepWorkflow:
    """Marks idle sessions and cleans up. A schedule starts it."""

    @workflow.run
    async def run(self, plan: RelayPlan) -> int:
        """Sweep once, and return the number of marked sessions."""
        return await workflow.execute_activity(
            SWEEP,
            result_type=int,
            start_to_close_timeout=_MAX_RUN_TIME,
            heartbeat_timeout=timedelta(seconds=plan.lease),
            retry_policy=RetryPolicy(maximum_attempts=1),
        )


WORKFLOWS = (JobWorkflow, RelayWorkflow, SweepWorkflow)
