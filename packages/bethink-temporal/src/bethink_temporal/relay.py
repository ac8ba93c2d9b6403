"""Relays due jobs from the table to Temporal. Stateless: any number of workers can relay, and any can stop."""

import time
from collections.abc import Callable

import anyio
from temporalio.client import Client

from bethink.extensions.jobs import Database, JobKind, Worker, due
from bethink_temporal.names import JobName, Queues
from bethink_temporal.workflows import JobWorkflow

_AHEAD = 200
"""Maximum number of jobs of a kind to relay ahead. Others wait in the table."""
_MAX_CALLS = 16
_SHORT_WAIT, _LONG_WAIT = 0.2, 1.0
_RELAY_AGAIN = 30.0
"""Seconds until a job that is still due is relayed again. Its workflow ignores duplicates."""


class Relay:
    """Reads due jobs, and starts or signals their workflows."""

    def __init__(self, client: Client, database: Database, worker: Worker, queues: Queues) -> None:
        self._client = client
        self._database = database
        self._worker = worker
        self._queues = queues
        self._relayed: dict[str, tuple[int, float]] = {}
        self._calls = anyio.CapacityLimiter(_MAX_CALLS)

    async def run(self, *, seconds: float, beat: Callable[[], bool]) -> None:
        """Relay for some seconds, or until `beat`, called about every second, returns False."""
        until = time.monotonic() + seconds
        while beat() and time.monotonic() < until:
            since = await self._database.start_listening()
            full = await self.relay()
            if full:
                await anyio.sleep(_SHORT_WAIT)  # workers lease relayed jobs, which makes room
            else:
                await self._database.wait_for_work(_LONG_WAIT, since=since)

    async def relay(self) -> bool:
        """Relay due jobs. Returns whether there may be more."""
        now = time.monotonic()
        self._relayed = {name: entry for name, entry in self._relayed.items() if entry[1] > now - _RELAY_AGAIN}
        full = False
        for kind in self._worker.kinds:
            if await self._worker.blocked_reason(kind) is not None:
                continue
            rows = await self._database.transact(lambda tx, kind=kind: due(tx, kind=kind, limit=_AHEAD), read_only=True)
            full = full or len(rows) == _AHEAD
            async with anyio.create_task_group() as calls:
                for space, key, token in rows:
                    if self._relayed.get(self._queues.job(kind, space, key), (-1, 0.0))[0] < token:
                        calls.start_soon(self._start_workflow, kind, space, key, token)
        return full

    async def _start_workflow(self, kind: JobKind, space: str, key: str, token: int) -> None:
        name = self._queues.job(kind, space, key)
        job = JobName(
            space=space, kind=kind, key=key, queue=self._queues.queue_for(kind), lease=self._worker.options.lease
        )  # fmt: skip
        async with self._calls:
            # One call: a workflow that is about to end either continues with the signal, or ends and is restarted.
            await self._client.start_workflow(
                JobWorkflow.run,
                job,
                id=name,
                task_queue=self._queues.main,
                start_signal="due",
                start_signal_args=[token],
            )
        self._relayed[name] = (token, time.monotonic())
