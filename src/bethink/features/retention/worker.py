"""Applies retention rules between the jobs of a worker."""

from bethink.features.retention.service import RetentionService
from bethink.jobs.tasks import TaskParts, WorkerTask


class Sweeper(WorkerTask):
    """Sweeps a few spaces after each batch of jobs."""

    def __init__(self, service: RetentionService) -> None:
        self._service = service

    async def between_jobs(self) -> None:
        """Sweep the next spaces, if it is time for them."""
        await self._service.sweep_if_due()


def task(parts: TaskParts) -> Sweeper:
    """Return the task that applies retention rules."""
    return Sweeper(RetentionService.from_settings(parts.database, parts.settings, redactor=parts.redactor))
