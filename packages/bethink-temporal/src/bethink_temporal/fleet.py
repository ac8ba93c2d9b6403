"""A worker of a fleet: connects to Temporal, starts the relay and sweeps, and runs jobs."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import timedelta

import anyio
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleSpec,
)
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.envconfig import ClientConfig
from temporalio.service import RPCError
from temporalio.worker import Worker as Runner

from bethink.errors import DatabaseUnavailableError
from bethink.extensions.base import Settings
from bethink.extensions.jobs import Database, Worker
from bethink_temporal.activities import Activities
from bethink_temporal.names import Queues, RelayPlan, TemporalOptions, queues_from
from bethink_temporal.relay import Relay
from bethink_temporal.workflows import WORKFLOWS, RelayWorkflow, SweepWorkflow

_TAKE_OVER = 10.0
"""Maximum seconds without a heartbeat until another worker relays."""
_MAX_WORKFLOW_TASKS = 8
"""Maximum number of concurrent workflow tasks. With more, tasks on a busy machine would time out and start over."""


async def connect_client(options: TemporalOptions, *, identity: str | None = None) -> Client:
    """Connect to the cluster of the options. TEMPORAL_TLS, TEMPORAL_API_KEY and similar variables apply.

    Raises:
        DatabaseUnavailableError: if the cluster does not respond.
    """
    config = ClientConfig.load_client_connect_config()
    config["target_host"] = options.address
    config["namespace"] = options.namespace
    try:
        return await Client.connect(**config, identity=identity)
    except (RuntimeError, RPCError) as error:
        raise DatabaseUnavailableError(
            f"Temporal does not respond at {options.address}.",
            hint="Start Temporal, or pass --address HOST:PORT. 'bethink worker' works without Temporal.",
        ) from error


class Fleet:
    """A worker of a database. Any number can run, also together with plain workers."""

    def __init__(
        self, client: Client, database: Database, worker: Worker, *, settings: Settings, options: TemporalOptions
    ) -> None:
        self._client = client
        self._worker = worker
        self._drain = timedelta(seconds=options.drain)
        self._queues = queues_from(settings, options)
        relay = Relay(client, database, worker, self._queues)
        self._activities = Activities(worker, relay)

    async def run(self) -> None:
        """Run jobs until canceled, then finish running jobs and release those that take too long.

        Raises the error of a kind of job that cannot run here.
        """
        for error in (await self._worker.unavailable()).values():
            raise error
        async with self.running():
            await anyio.sleep_forever()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Run jobs during the block, and drain at its end."""
        plan = RelayPlan(lease=min(self._worker.options.lease, _TAKE_OVER))
        await _ensure_relay(self._client, self._queues, plan)
        await _ensure_sweeps(self._client, self._queues, plan, interval=self._worker.options.interval)
        async with AsyncExitStack() as stack:
            runners = [self._driver(), *(self._runner(queue) for queue in self._job_queues())]
            for runner in runners:
                await stack.enter_async_context(runner)
            try:
                yield
            finally:
                with anyio.CancelScope(shield=True):
                    async with anyio.create_task_group() as drains:
                        for runner in runners:
                            drains.start_soon(runner.shutdown)

    def _job_queues(self) -> list[str]:
        return sorted({self._queues.queue_for(kind) for kind in self._worker.kinds})

    def _driver(self) -> Runner:
        return Runner(
            self._client,
            task_queue=self._queues.main,
            workflows=WORKFLOWS,
            activities=[self._activities.relay, self._activities.sweep],
            max_concurrent_workflow_tasks=_MAX_WORKFLOW_TASKS,
            debug_mode=True,  # our workflows never block: a slow one means a busy machine, not a deadlock
            graceful_shutdown_timeout=self._drain,
        )

    def _runner(self, queue: str) -> Runner:
        return Runner(
            self._client,
            task_queue=queue,
            activities=[self._activities.run_job],
            max_concurrent_activities=self._worker.options.concurrency,
            max_task_queue_activities_per_second=self._queues.rate(queue),
            graceful_shutdown_timeout=self._drain,
        )


async def pause(client: Client, queues: Queues, *, resume: bool = False) -> None:
    """Pause or resume all workers of a database. Jobs that were relayed before still run."""
    await client.start_workflow(
        RelayWorkflow.run,
        RelayPlan(lease=_TAKE_OVER),
        id=queues.relay,
        task_queue=queues.main,
        start_signal="resume" if resume else "pause",
    )


async def _ensure_relay(client: Client, queues: Queues, plan: RelayPlan) -> None:
    await client.start_workflow(
        RelayWorkflow.run,
        plan,
        id=queues.relay,
        task_queue=queues.main,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
    )


async def _ensure_sweeps(client: Client, queues: Queues, plan: RelayPlan, *, interval: float) -> None:
    action = ScheduleActionStartWorkflow(SweepWorkflow.run, plan, id=queues.sweep, task_queue=queues.main)
    spec = ScheduleSpec(intervals=[ScheduleIntervalSpec(every=timedelta(seconds=interval))])
    with suppress(ScheduleAlreadyRunningError):
        await client.create_schedule(queues.sweep, Schedule(action=action, spec=spec))
