"""Parts of a worker: handlers, options, cooldowns and reports."""

import time
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from bethink.base.frozen import frozen
from bethink.errors import ModelUnavailableError
from bethink.model.jobs import JobKind, JobResult, JobStatus, LearnReport, Lease
from bethink.store.db import Tx


class Handler(Protocol):
    """Runs one kind of job. `process` ends the lease itself, in the transaction that stores the result."""

    async def process(self, lease: Lease) -> JobResult:
        """Run the job. Any exception except `LeaseLostError` is a failed attempt."""
        ...

    async def fail(
        self, lease: Lease, *, status: JobStatus, delay: timedelta, attempts: int | None, error: str
    ) -> None:
        """End a failed lease if it is still valid, and retry after `delay`."""
        ...

    def look(self, tx: Tx, *, space: str, key: str) -> bool:
        """Check a session that has no queued job, and return whether it has work."""
        ...


@frozen
class WorkerOptions:
    """The options of a worker. Times are seconds; the daily budget is in millionths of a dollar, None for no limit."""

    interval: float = 30.0
    batch: int = 10
    concurrency: int = 8
    lease: float = 60.0
    max_attempts: int = 5
    retry_first: float = 60.0
    retry_longest: float = 6 * 3600.0
    scan_limit: int = 5_000
    scan_claims: int = 16
    daily_cap: int | None = 5_000_000


@dataclass(slots=True)
class Cooldown:
    """Cooldown after a model or embedder was unavailable. Workers of one process may share it."""

    until: dict[bool, float] = field(default_factory=dict[bool, float])

    def is_paused(self, kind: JobKind) -> bool:
        """Return whether jobs of a kind are paused now."""
        return time.monotonic() < self.until.get(kind is JobKind.INDEX, 0.0)

    def begin(self, kind: JobKind, seconds: float) -> None:
        """Pause jobs of a kind: an unavailable embedder does not stop learning, nor the reverse."""
        embeds = kind is JobKind.INDEX
        self.until[embeds] = max(self.until.get(embeds, 0.0), time.monotonic() + seconds)


class Tally(dict[str, LearnReport]):
    """Reports of a run, by space. The empty name has the counts that belong to no single space."""

    def __init__(self, only: str | None = None) -> None:
        super().__init__()
        self.only = only
        self.anywhere = self[""]

    def __missing__(self, space: str) -> LearnReport:
        self[space] = report = LearnReport()
        return report

    def total(self) -> LearnReport:
        """Return the report of the whole run."""
        report = LearnReport()
        for part in self.values():
            report.add(part)
        report.blocked = self.anywhere.blocked
        return report


def requested_wait(error: Exception) -> float:
    """Return the seconds that an unavailable model asked to wait; 0 for any other error."""
    wait = error.retry_after if isinstance(error, ModelUnavailableError) else None
    # The maximum is a day, and NaN counts as 0.
    return min(wait, 86_400.0) if wait is not None and wait > 0 else 0.0
