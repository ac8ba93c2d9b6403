"""Sends changes to webhooks, next to the jobs of a worker."""

import time
from datetime import timedelta

import anyio

from bethink.base.backoff import with_jitter
from bethink.base.logs import logger
from bethink.errors import DatabaseError
from bethink.features.webhooks import queries as webhooks
from bethink.features.webhooks.deliver import Deliverer, DeliveryOptions
from bethink.jobs.tasks import TaskParts, WorkerTask
from bethink.store.db import Database

_POLL_INTERVAL = 1.0
"""Approximate seconds between checks for deliveries to retry."""
_PRUNE_INTERVAL = 30.0
"""Seconds between prunings."""
_log = logger("worker")


class Notifier(WorkerTask):
    """Sends changes to webhooks."""

    def __init__(self, database: Database, deliverer: Deliverer, *, keep_days: int = 30) -> None:
        self._database = database
        self._deliverer = deliverer
        self._keep = timedelta(days=keep_days)

    async def run(self) -> None:
        """Send changes and prune old deliveries until canceled."""
        prune_at = time.monotonic() + with_jitter(_PRUNE_INTERVAL, spread=1.0)
        async with anyio.create_task_group() as tasks:
            while True:
                try:
                    since = await self._database.start_listening()
                    await self._deliverer.start(tasks)
                    if time.monotonic() >= prune_at:
                        prune_at = time.monotonic() + _PRUNE_INTERVAL
                        await self.prune()
                    await self._database.wait_for_work(with_jitter(_POLL_INTERVAL), since=since)
                except DatabaseError as error:
                    _log.error("The database is unavailable: %s", type(error).__name__)
                    await anyio.sleep(_POLL_INTERVAL)

    async def finish(self) -> None:
        """Send every change that is due."""
        while await self._deliverer.run_once():
            pass

    async def prune(self) -> None:
        """Remove old entries from the delivery log."""
        await self._database.transact(lambda tx: webhooks.prune(tx, before=tx.now - self._keep), repeatable=True)


def task(parts: TaskParts) -> Notifier:
    """Return the task that sends changes, configured by the settings."""
    options = parts.settings.webhooks
    deliverer = Deliverer(
        parts.database,
        DeliveryOptions(
            allow_private=options.allow_private, timeout=options.timeout, give_up_days=options.give_up_days
        ),
    )
    return Notifier(parts.database, deliverer, keep_days=parts.settings.changes.keep_days)
