"""Tells Temporal which jobs of the table are due. It owns nothing: any number may relay, and any may die."""

import time
from collections.abc import Callable

import anyio
from temporalio.client import Client

from bethink.extensions.jobs import Database, JobKind, Worker, due
from bethink_temporal.names import JobName, Queues
from bethink_temporal.workflows import JobWorkflow

_AHEAD = 200
"""How many jobs of a kind Temporal is told of before they are claimed: the others wait in the table."""
_AT_ONCE = 16
_GLANCE, _WAIT = 0.2, 1.0
_FORGET = 30.0
"""Seconds after which a job that is still due is told of again; its workflow ignores what it knew."""


class Relay:
    """Reads the jobs that are due, and starts or signals the workflow of each."""

    def __init__(self, client: Client, database: Database, worker: Worker, queues: Queues) -> None:
        self._client = client
        self._database = database
        self._worker = worker
        self._queues = queues
        self._told: dict[str, tuple[int, float]] = {}
        self._calls = anyio.CapacityLimiter(_AT_ONCE)

    async def run(self, *, seconds: float, beat: Callable[[], bool]) -> None:
        """Relay for some seconds, or until `beat`, called about every second, returns False."""
        until = time.monotonic() + seconds
        while beat() and time.monotonic() < until:
            since = await self._database.start_listening()
            full = await self.relay()
            if full:
                await anyio.sleep(_GLANCE)  # what is told of is being claimed, which makes room
            else:
                await self._database.wait_for_work(_WAIT, since=since)

    async def relay(self) -> bool:
        """Tell of what is due. Returns whether there may be more than could be told of."""
        now = time.monotonic()
        self._told = {name: told for name, told in self._told.items() if told[1] > now - _FORGET}
        full = False
        for kind in self._worker.kinds:
            if await self._worker.hindrance(kind) is not None:
                continue
            rows = await self._database.transact(lambda tx, kind=kind: due(tx, kind=kind, limit=_AHEAD), read=True)
            full = full or len(rows) == _AHEAD
            async with anyio.create_task_group() as calls:
                for space, key, token in rows:
                    if self._told.get(self._queues.job(kind, space, key), (-1, 0.0))[0] < token:
                        calls.start_soon(self._tell, kind, space, key, token)
        return full

    async def _tell(self, kind: JobKind, space: str, key: str, token: int) -> None:
        name = self._queues.job(kind, space, key)
        job = JobName(
            space=space, kind=kind, key=key, queue=self._queues.of(kind), lease=self._worker.options.lease
        )  # fmt: skip
        async with self._calls:
            # One call: a workflow that is about to end takes the signal and goes on, or ends and is started anew.
            await self._client.start_workflow(
                JobWorkflow.run,
                job,
                id=name,
                task_queue=self._queues.main,
                start_signal="due",
                start_signal_args=[token],
            )
        self._told[name] = (token, time.monotonic())
