"""What a worker is made with, and what it counts: handlers, options, pauses, reports."""

import time
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from bethink.base.frozen import frozen
from bethink.errors import ModelUnavailable
from bethink.model.jobs import Claim, JobKind, JobStatus, Learnt, RunReport
from bethink.store.db import Tx


class Handler(Protocol):
    """Does one kind of job. `process` ends the claim itself, in the transaction that stores the result."""

    async def process(self, claim: Claim) -> Learnt:
        """Do the job. Any exception except `LostClaim` is a failed attempt."""
        ...

    async def fail(
        self, claim: Claim, *, status: JobStatus, delay: timedelta, attempts: int | None, error: str
    ) -> None:
        """End a failed claim if it is still valid, and retry after `delay`."""
        ...

    def look(self, tx: Tx, *, space: str, key: str) -> bool:
        """Check a session that has no queued job, and return whether there is work after all."""
        ...


@frozen
class WorkerOptions:
    """The options of a worker. Times are seconds; the spend cap is in millionths of a dollar, None for no cap."""

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
class Rest:
    """Until when an unavailable model or embedder is not called; workers of one process may share it."""

    until: dict[bool, float] = field(default_factory=dict[bool, float])

    def rests(self, kind: JobKind) -> bool:
        """Return whether jobs of a kind are paused now."""
        return time.monotonic() < self.until.get(kind is JobKind.INDEX, 0.0)

    def begin(self, kind: JobKind, seconds: float) -> None:
        """Pause jobs of a kind: an unavailable embedder does not stop learning, and the other way round."""
        embeds = kind is JobKind.INDEX
        self.until[embeds] = max(self.until.get(embeds, 0.0), time.monotonic() + seconds)


class Tally(dict[str, RunReport]):
    """What a run did, by space. The empty name has what concerns no single space."""

    def __init__(self, only: str | None = None) -> None:
        super().__init__()
        self.only = only
        self.anywhere = self[""]

    def __missing__(self, space: str) -> RunReport:
        self[space] = made = RunReport()
        return made

    def total(self) -> RunReport:
        """Return the report of the whole run."""
        report = RunReport()
        for each in self.values():
            report.add(each)
        report.held = self.anywhere.held
        return report


def asked_to_wait(error: Exception) -> float:
    """Return how many seconds an unavailable model asked to wait; 0 for any other error."""
    wait = error.retry_after if isinstance(error, ModelUnavailable) else None
    # Whatever a model asks for, a day is the maximum, and NaN counts as nothing.
    return min(wait, 86_400.0) if wait is not None and wait > 0 else 0.0
