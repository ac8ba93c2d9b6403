"""Background jobs: status, leases, outcomes and costs."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum

from bethink.base.frozen import frozen
from bethink.model.enums import OpenEnum
from bethink.model.plural import plural


class JobKind(OpenEnum):
    """Kind of a job: learn from a session, write a transcript into documents, consolidate what a space has learned, or
    index its content.
    """

    EXTRACT = "extract"
    WRITE = "write"
    CONSOLIDATE = "consolidate"
    INDEX = "index"


class JobStatus(OpenEnum):
    """The status of a job. `waiting` checks its session later, `failed` is retried, and `abandoned` is not."""

    WAITING = "waiting"
    QUEUED = "queued"
    RUNNING = "running"
    FAILED = "failed"
    DONE = "done"
    ABANDONED = "abandoned"


class Outcome(StrEnum):
    """Outcome of an attempt. An attempt that learns nothing is a success."""

    SUCCEEDED = "succeeded"
    SUCCEEDED_NO_OUTPUT = "succeeded_no_output"
    FAILED = "failed"


@frozen
class JobResult:
    """Result of a job: counts of facts by effect, and of claims for review and rejected claims by reason."""

    outcome: Outcome
    settled: Counter[str] = field(default_factory=Counter[str])
    for_review: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])


@frozen
class Lease:
    """A lease on a job. Every write carries its token, and only the newest token is accepted."""

    space: str
    kind: JobKind
    key: str
    token: int
    attempts: int
    input_watermark: int
    queued_at: datetime


@frozen(kw_only=False)
class Usage:
    """Cost of model calls: number of calls, tokens, and millionths of a dollar."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cost + other.cost,
        )


@frozen
class Job:
    """Current state of a job: ids, times and counts, without content."""

    space: str
    kind: JobKind
    key: str
    status: JobStatus
    queued_at: datetime
    due_at: datetime | None
    token: int
    worker: str | None
    attempts: int
    input_watermark: int
    success_watermark: int | None
    started_at: datetime | None
    finished_at: datetime | None
    outcome: Outcome | None
    last_error: str | None
    usage: Usage


@frozen
class RecordedAnswer:
    """A model's answer for a job. `run` identifies the request."""

    run: str
    position: int
    content: str
    agent_id: str
    model: str
    prompt: str
    recorded_at: datetime


@frozen
class FailedAttempt:
    """A failed attempt of a job, with its error."""

    started_at: datetime | None
    ended_at: datetime
    error: str | None


@frozen
class JobDetail:
    """A job with its failed attempts and model answers, newest first."""

    job: Job
    failures: tuple[FailedAttempt, ...] = ()
    answers: tuple[RecordedAnswer, ...] = ()


class SpendingBy(OpenEnum):
    """Grouping of daily costs."""

    DAY = "day"
    KIND = "kind"
    """Kind of job, or other."""
    MODEL = "model"
    SPACE = "space"
    """The spaces with the highest cost of each day."""


@frozen
class Spending:
    """Cost of a day, in total or for one kind of job, model or space."""

    day: date
    name: str
    usage: Usage


@dataclass(slots=True, kw_only=True)
class LearnReport:
    """Report of a run. `blocked` says why no job was leased, if something prevented it. `str()` sums it up."""

    leased: int = 0
    outcomes: Counter[str] = field(default_factory=Counter[str])
    settled: Counter[str] = field(default_factory=Counter[str])
    for_review: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    leases_lost: int = 0
    scanned: int = 0
    queued: int = 0
    blocked: str | None = None

    def add(self, other: "LearnReport") -> None:
        """Add another report. `blocked` is taken from the other report."""
        self.leased += other.leased
        self.outcomes += other.outcomes
        self.settled += other.settled
        self.for_review += other.for_review
        self.refused += other.refused
        self.leases_lost += other.leases_lost
        self.scanned += other.scanned
        self.queued += other.queued
        self.blocked = other.blocked

    def count(
        self,
        outcome: str,
        *,
        settled: Mapping[str, int],
        for_review: Mapping[str, int],
        refused: Mapping[str, int],
    ) -> None:
        """Add the result of a job. The keys become plain strings, as in a report from a server."""
        self.outcomes[str(outcome)] += 1
        for total, counts in ((self.settled, settled), (self.for_review, for_review), (self.refused, refused)):
            total.update({str(name): number for name, number in counts.items() if number})

    def __str__(self) -> str:
        if summary := summary_of(self.settled):
            return summary
        return f"Blocked: {self.blocked.replace('_', ' ')}." if self.blocked else "Nothing new was learned."


_NAMED_OUTCOMES = ("added", "succeeded", "embedded")


def summary_of(settled: Mapping[str, int]) -> str:
    """Say in a sentence what became of claims and texts: Learned 31 facts, replaced 4, indexed 90 texts."""
    parts = [f"learned {plural(settled['added'], 'fact')}"] if settled.get("added") else []
    parts += [f"replaced {settled['succeeded']}"] if settled.get("succeeded") else []
    others = {name: count for name, count in settled.items() if count and name not in _NAMED_OUTCOMES}
    parts += [f"{count} {name.replace('_', ' ')}" for name, count in sorted(others.items())]
    parts += [f"indexed {plural(settled['embedded'], 'text')}"] if settled.get("embedded") else []
    line = ", ".join(parts)
    return f"{line[:1].upper()}{line[1:]}." if line else ""


@frozen
class Audit:
    """Health of learning: pending and abandoned jobs, costs, and violations.

    `counts` has the number of unfinished jobs by kind and status. `violations` must be 0; they are counted in a
    sample: the newest 1,000 facts and sessions of up to 40 active spaces. `overdue` stays small while a worker runs
    and is counted up to 1,000 for each kind.
    """

    counts: Mapping[JobKind, Mapping[JobStatus, int]]
    overdue: int
    expired_leases: int
    facts_without_source: int
    broken_sessions: int
    spaces_checked: int
    spent_today: Usage
    daily_budget: int | None
    violations: int = 0

    @property
    def abandoned(self) -> int:
        """Count the abandoned jobs."""
        return sum(statuses.get(JobStatus.ABANDONED, 0) for statuses in self.counts.values())

    @property
    def is_capped(self) -> bool:
        """Return whether learning is paused until midnight UTC because the daily budget is used up."""
        return self.daily_budget is not None and self.spent_today.cost >= self.daily_budget
