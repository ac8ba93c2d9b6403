"""What a worker does for changes: it sends them to webhooks, and removes those that are old."""

import time
from contextlib import suppress
from datetime import timedelta

import anyio

from bethink.base.backoff import jittered
from bethink.base.logs import logger
from bethink.errors import Moved, StoreError
from bethink.features.webhooks import queries as webhooks
from bethink.features.webhooks.deliver import Deliverer
from bethink.store import changes, jobs
from bethink.store.db import Database, Tx

_LOOK = 1.0
"""Seconds, about, after which it looks for a delivery to repeat."""
_ROUND = 30.0
"""Seconds between two rounds of removing, each through some of the spaces."""
_SPACES = 100
_log = logger("worker")


class Teller:
    """Runs beside the jobs of a worker."""

    def __init__(self, database: Database, deliverer: Deliverer, *, keep_days: int = 30) -> None:
        self._database = database
        self._deliverer = deliverer
        self._keep = timedelta(days=keep_days)
        self._after = ""

    async def run(self) -> None:
        """Send and remove until cancelled."""
        prune_at = time.monotonic() + jittered(_ROUND, spread=1.0)
        async with anyio.create_task_group() as tasks:
            while True:
                try:
                    since = await self._database.start_listening()
                    await self._deliverer.start(tasks)
                    if time.monotonic() >= prune_at:
                        prune_at = time.monotonic() + _ROUND
                        await self.prune()
                    await self._database.wait_for_work(jittered(_LOOK), since=since)
                except StoreError as error:
                    _log.error("the database is unavailable: %s", type(error).__name__)
                    await anyio.sleep(_LOOK)

    async def tell(self) -> None:
        """Send every change that is due."""
        while await self._deliverer.run_once():
            pass

    async def prune(self) -> int:
        """Remove old changes of the next spaces in turn, and old deliveries. Returns how many changes went."""
        page = self._after
        names = await self._database.transact(lambda tx: jobs.spaces(tx, limit=_SPACES, after=page), read=True)
        gone = 0
        for name in names:
            with suppress(Moved):  # the others do not wait for it
                gone += await self._database.transact(
                    lambda tx, name=name: changes.prune(tx, space=name, before=tx.now - self._keep),
                    space=name,
                    repeatable=True,
                )
        self._after = names[-1] if len(names) == _SPACES else ""

        def old(tx: Tx) -> None:
            webhooks.prune(tx, before=tx.now - self._keep)

        await self._database.transact(old, repeatable=True)
        return gone
