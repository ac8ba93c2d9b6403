"""Health of a memory and its spaces: failed jobs and pending items."""

from collections.abc import Mapping
from datetime import datetime

from bethink.base.frozen import frozen
from bethink.model.jobs import JobKind, JobStatus


@frozen
class SpaceInfo:
    """Health of a space. `failed` and `pending` are counted up to 100."""

    name: str
    queued_at: datetime | None = None
    """When a job was last queued for the space, at the latest after the last message."""
    failed: int = 0
    """Failed and abandoned jobs."""
    pending: int = 0
    """Items that need review: claims and document changes."""


@frozen
class Health:
    """Pending work in all spaces. `jobs` has the number of unfinished jobs by kind and status."""

    jobs: Mapping[JobKind, Mapping[JobStatus, int]]
    pending: int
    """Items that need review, counted up to 1,000."""

    def jobs_in(self, *statuses: JobStatus) -> int:
        """Count the jobs of all kinds in some states."""
        return sum(counts.get(status, 0) for counts in self.jobs.values() for status in statuses)
