"""Short answers about a whole memory: how its spaces stand, and what waits in all of them."""

from collections.abc import Mapping
from datetime import datetime

from bethink.base.frozen import frozen
from bethink.model.jobs import JobKind, JobStatus


@frozen
class SpaceSummary:
    """How a space stands. `failed` and `held` are counted up to 100."""

    name: str
    queued_at: datetime | None = None
    """When work was last queued for it: at the latest when something was last said."""
    failed: int = 0
    """Jobs that failed or were given up."""
    held: int = 0
    """What waits for a person: claims under review, and changes of documents."""


@frozen
class SpacePage:
    """A page of spaces, by name."""

    items: tuple[SpaceSummary, ...] = ()
    next: str | None = None
    """Pass it as `after` for the next page; None on the last one."""


@frozen
class Counters:
    """What waits in all spaces. `jobs` has those of each kind by status, except those that are done."""

    jobs: Mapping[JobKind, Mapping[JobStatus, int]]
    held: int
    """What waits for a person, up to 1,000."""

    def jobs_in(self, *statuses: JobStatus) -> int:
        """Count the jobs of all kinds in some states."""
        return sum(each.get(status, 0) for each in self.jobs.values() for status in statuses)
