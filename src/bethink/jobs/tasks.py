"""Tasks that a worker runs next to its jobs. A feature declares its own as `task` in a module `worker.py`."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

import anyio

from bethink.base.backoff import with_jitter
from bethink.base.features import modules_named
from bethink.base.frozen import frozen
from bethink.base.logs import logger
from bethink.config.settings import Settings
from bethink.errors import DatabaseError, SpaceMovedError
from bethink.extend import Redactor
from bethink.memory.deletion.settling import finish_open
from bethink.store import changes, jobs
from bethink.store.db import Database

_ROUND = 30.0
"""Seconds between two rounds of pruning, each through some of the spaces."""
_SPACES = 100
_log = logger("worker")


@frozen
class TaskParts:
    """The parts that a task is created from."""

    database: Database
    settings: Settings
    redactor: Redactor


class WorkerTask:
    """Base class that does nothing: a task overrides the methods it needs."""

    async def run(self) -> None:
        """Run alongside the jobs until canceled."""

    async def between_jobs(self) -> None:
        """Work a little after each turn of jobs. Must not raise."""

    async def finish(self) -> None:
        """Finish the work that is due now. The caller of `learn` waits for it."""


class _FinishDeletions(WorkerTask):
    """Finishes deletions that were interrupted."""

    def __init__(self, parts: TaskParts) -> None:
        self._database = parts.database

    async def between_jobs(self) -> None:
        """Finish the deletions that another process left open."""
        await finish_open(self._database)


class PruneChanges(WorkerTask):
    """Removes old entries of the change feed, some spaces at a time."""

    def __init__(self, parts: TaskParts) -> None:
        self._database = parts.database
        self._keep = timedelta(days=parts.settings.changes.keep_days)
        self._after = ""

    async def run(self) -> None:
        """Prune some spaces every half minute: next to the jobs, so that a busy worker prunes as well."""
        await anyio.sleep(with_jitter(_ROUND, spread=1.0))  # workers that start together must not prune together
        while True:
            try:
                await self.prune()
            except DatabaseError as error:
                _log.error("the database is unavailable: %s", type(error).__name__)
            await anyio.sleep(_ROUND)

    async def prune(self) -> int:
        """Remove old changes of the next spaces in turn. Return the number of removed changes."""
        after, count = self._after, 0
        names = await self._database.transact(lambda tx: jobs.spaces(tx, limit=_SPACES, after=after), read_only=True)
        for name in names:
            with suppress(SpaceMovedError):  # the other spaces continue
                count += await self._database.transact(
                    lambda tx, name=name: changes.prune(tx, space=name, before=tx.now - self._keep),
                    space=name,
                    repeatable=True,
                )
        self._after = names[-1] if len(names) == _SPACES else ""
        return count


def all_tasks(parts: TaskParts) -> Sequence[WorkerTask]:
    """Return the tasks of the core and of every feature."""
    return (_FinishDeletions(parts), PruneChanges(parts), *(module.task(parts) for module in modules_named("worker")))
