"""What Temporal remembers: that a job is due, that someone relays, that it is time to sweep. The truth is elsewhere.

These functions run again from their histories, so they must decide the same each time: no clocks, no I/O.
"""

from contextlib import suppress
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, is_cancelled_exception

from bethink_temporal.names import JobName, Ran, RelayPlan

RUN_JOB, RELAY, SWEEP = "bethink.run_job", "bethink.relay", "bethink.sweep"
_HANDED = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_attempts=3)
"""How often a job is handed to workers that never answer: they may have died before they claimed it.

The database alone counts attempts. What failed there, or was claimed by one who died, is due later, and told of again.
"""
_LONGEST = timedelta(hours=6)
_UNTAKEN = timedelta(minutes=10)
"""After this, perhaps no worker serves the queue any more, as after a change of provider."""


@workflow.defn(name="bethink.job", sandboxed=False)
class JobWorkflow:
    """Runs one job, and again for as long as it was found due with a newer token."""

    def __init__(self) -> None:
        self._token = 0

    @workflow.signal
    def due(self, token: int) -> None:
        """Say that the job was found due, and its last token."""
        self._token = max(self._token, token)

    @workflow.run
    async def run(self, job: JobName) -> str:
        """Run the job until nothing newer is known, and return how it ended."""
        while True:
            asked = self._token
            ran = await self._try(job)
            if self._token <= max(asked, ran.token - 1):
                return ran.outcome
            if workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(job)

    async def _try(self, job: JobName) -> Ran:
        try:
            return await workflow.execute_activity(
                RUN_JOB,
                job,
                result_type=Ran,
                task_queue=job.queue,
                start_to_close_timeout=_LONGEST,
                schedule_to_start_timeout=_UNTAKEN,
                heartbeat_timeout=timedelta(seconds=job.lease),
                retry_policy=_HANDED,
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            return Ran(outcome="lost")


@workflow.defn(name="bethink.relay", sandboxed=False)
class RelayWorkflow:
    """Lets one worker at a time relay; there is one such workflow for each database."""

    @workflow.init
    def __init__(self, plan: RelayPlan) -> None:
        self._paused = plan.paused

    @workflow.signal
    def pause(self) -> None:
        """Relay nothing more. What Temporal knows of already is still run."""
        self._paused = True

    @workflow.signal
    def resume(self) -> None:
        """Relay again."""
        self._paused = False

    @workflow.query
    def paused(self) -> bool:
        """Whether it rests."""
        return self._paused

    @workflow.run
    async def run(self, plan: RelayPlan) -> None:
        """Relay until cancelled."""
        while not workflow.info().is_continue_as_new_suggested():
            await workflow.wait_condition(lambda: not self._paused)
            watch = workflow.start_activity(
                RELAY,
                start_to_close_timeout=_LONGEST,
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
    """Marks sessions that went quiet, and tidies up. A schedule starts it."""

    @workflow.run
    async def run(self, plan: RelayPlan) -> int:
        """Sweep once, and return how many sessions were marked."""
        return await workflow.execute_activity(
            SWEEP,
            result_type=int,
            start_to_close_timeout=_LONGEST,
            heartbeat_timeout=timedelta(seconds=plan.lease),
            retry_policy=RetryPolicy(maximum_attempts=1),
        )


WORKFLOWS = (JobWorkflow, RelayWorkflow, SweepWorkflow)
