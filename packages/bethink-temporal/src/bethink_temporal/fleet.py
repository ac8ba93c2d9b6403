"""A worker of a fleet: connects to Temporal, sees that relay and sweeps are there, and runs what it is given."""

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

from bethink.errors import Unavailable
from bethink.extensions.base import Settings
from bethink.extensions.jobs import Database, Worker
from bethink_temporal.activities import Activities
from bethink_temporal.names import Queues, RelayPlan, TemporalOptions, queues_from
from bethink_temporal.relay import Relay
from bethink_temporal.workflows import WORKFLOWS, RelayWorkflow, SweepWorkflow

_TAKE_OVER = 10.0
"""Seconds of silence at most, after which another worker relays."""
_DECISIONS = 8
"""Workflows that decide at once. With many on a busy machine each would outlast its time, and all would begin again."""


async def connected(options: TemporalOptions, *, identity: str | None = None) -> Client:
    """Connect to the cluster that the options name. TEMPORAL_TLS, TEMPORAL_API_KEY and so on say how.

    Raises:
        Unavailable: if it does not answer.
    """
    known = ClientConfig.load_client_connect_config()
    known["target_host"] = options.address
    known["namespace"] = options.namespace
    try:
        return await Client.connect(**known, identity=identity)
    except (RuntimeError, RPCError) as error:
        raise Unavailable(
            f"Temporal does not answer at {options.address}.",
            hint="Start it, or pass --address HOST:PORT. 'bethink worker' needs no Temporal.",
        ) from error


class Fleet:
    """One worker of those that share the jobs of a database. Any number may run, beside plain workers too."""

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
        """Work until cancelled; then take nothing more, finish what runs, and release what takes too long.

        Raises the reason if some kind of job cannot be done here.
        """
        for why in (await self._worker.unfit()).values():
            raise why
        async with self.working():
            await anyio.sleep_forever()

    @asynccontextmanager
    async def working(self) -> AsyncGenerator[None]:
        """Work while the block runs, and drain at its end."""
        plan = RelayPlan(lease=min(self._worker.options.lease, _TAKE_OVER))
        await _see_to_relay(self._client, self._queues, plan)
        await _see_to_sweeps(self._client, self._queues, plan, every=self._worker.options.interval)
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
        return sorted({self._queues.of(kind) for kind in self._worker.kinds})

    def _driver(self) -> Runner:
        return Runner(
            self._client,
            task_queue=self._queues.main,
            workflows=WORKFLOWS,
            activities=[self._activities.relay, self._activities.sweep],
            max_concurrent_workflow_tasks=_DECISIONS,
            debug_mode=True,  # ours cannot block, so one that is slow has found a busy machine, and must not be cut off
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
    """Pause all workers of a database, or resume them. Jobs that were relayed before still run."""
    await client.start_workflow(
        RelayWorkflow.run,
        RelayPlan(lease=_TAKE_OVER),
        id=queues.relay,
        task_queue=queues.main,
        start_signal="resume" if resume else "pause",
    )


async def _see_to_relay(client: Client, queues: Queues, plan: RelayPlan) -> None:
    await client.start_workflow(
        RelayWorkflow.run,
        plan,
        id=queues.relay,
        task_queue=queues.main,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
    )


async def _see_to_sweeps(client: Client, queues: Queues, plan: RelayPlan, *, every: float) -> None:
    action = ScheduleActionStartWorkflow(SweepWorkflow.run, plan, id=queues.sweep, task_queue=queues.main)
    spec = ScheduleSpec(intervals=[ScheduleIntervalSpec(every=timedelta(seconds=every))])
    with suppress(ScheduleAlreadyRunningError):
        await client.create_schedule(queues.sweep, Schedule(action=action, spec=spec))
