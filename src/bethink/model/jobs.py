"""Background jobs: their states, who has claimed them, and how they ended."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum

from bethink.base.frozen import frozen
from bethink.model.enums import OpenEnum


class JobKind(OpenEnum):
    """What a job does: learn from a session, work a transcript into documents, consolidate what a space has learnt, or
    index its content.
    """

    EXTRACT = "extract"
    WRITE = "write"
    CONSOLIDATE = "consolidate"
    INDEX = "index"


class JobStatus(OpenEnum):
    """The status of a job. `waiting` checks its session later; `failed` is tried again; `dead` is not."""

    WAITING = "waiting"
    QUEUED = "queued"
    RUNNING = "running"
    FAILED = "failed"
    DONE = "done"
    DEAD = "dead"


class Outcome(StrEnum):
    """How an attempt ended. Finding nothing worth keeping is a success."""

    SUCCEEDED = "succeeded"
    SUCCEEDED_NO_OUTPUT = "succeeded_no_output"
    FAILED = "failed"


@frozen
class Learnt:
    """The result of a job: how many facts were added, merged and so on, and why others are held or were refused."""

    outcome: Outcome
    settled: Counter[str] = field(default_factory=Counter[str])
    for_review: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])


@frozen
class Claim:
    """A lease on a job. Every write under it carries its token, and only the newest token is accepted."""

    space: str
    kind: JobKind
    key: str
    token: int
    attempts: int
    input_watermark: int
    queued_at: datetime


@frozen(kw_only=False)
class Usage:
    """What model calls cost: calls, tokens, and millionths of a dollar."""

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
    """A job as it stands: ids, times and counts, never content."""

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
class JobPage:
    """A page of jobs, the last queued first."""

    items: tuple[Job, ...] = ()
    next: str | None = None
    """Pass it as `after` for the next page; None on the last one."""


@frozen
class RecordedAnswer:
    """The answer of a model for a job; `run` identifies the question."""

    run: str
    position: int
    content: str
    agent_id: str
    model: str
    prompt: str
    recorded_at: datetime


@frozen
class FailedAttempt:
    """An attempt at a job that failed, and why."""

    started_at: datetime | None
    ended_at: datetime
    error: str | None


@frozen
class JobDetail:
    """A job with its failed attempts and what models answered for it, each the newest first."""

    job: Job
    failures: tuple[FailedAttempt, ...] = ()
    answers: tuple[RecordedAnswer, ...] = ()


class SpendingBy(OpenEnum):
    """What spending is listed by, for each day."""

    DAY = "day"
    KIND = "kind"
    """What it was spent on: a kind of job, or other."""
    MODEL = "model"
    SPACE = "space"
    """The spaces that cost most on each day."""


@frozen
class Spending:
    """What was spent on a day, in all or under one name: a kind of job, a model or a space."""

    day: date
    name: str
    usage: Usage


@dataclass(slots=True, kw_only=True)
class RunReport:
    """What one run did. `held` says why nothing was claimed, if something prevented it."""

    claimed: int = 0
    outcomes: Counter[str] = field(default_factory=Counter[str])
    settled: Counter[str] = field(default_factory=Counter[str])
    for_review: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    lost: int = 0
    scanned: int = 0
    marked: int = 0
    held: str | None = None

    def add(self, other: "RunReport") -> None:
        """Add what another run did; `held` is that of the later one."""
        self.claimed += other.claimed
        self.outcomes += other.outcomes
        self.settled += other.settled
        self.for_review += other.for_review
        self.refused += other.refused
        self.lost += other.lost
        self.scanned += other.scanned
        self.marked += other.marked
        self.held = other.held


@frozen
class Audit:
    """How learning stands: what waits, what was given up, what was spent, and what must never be.

    `counts` has the jobs of each kind by status, except those that are done: it costs the same however many there
    are. `violations` must be 0 and are looked for in a sample: the newest 1,000 facts and sessions of
    up to 40 spaces in use; `overdue` is small as long as a worker runs, and counted up to 1,000 of each kind.
    """

    counts: Mapping[JobKind, Mapping[JobStatus, int]]
    overdue: int
    abandoned: int
    facts_without_source: int
    broken_sessions: int
    spaces_checked: int
    spent_today: Usage
    daily_cap: int | None
    violations: int = 0

    @property
    def dead(self) -> int:
        """Count the jobs that were given up."""
        return sum(statuses.get(JobStatus.DEAD, 0) for statuses in self.counts.values())

    @property
    def capped(self) -> bool:
        """Whether learning is paused until midnight UTC because the daily budget is spent."""
        return self.daily_cap is not None and self.spent_today.cost >= self.daily_cap
