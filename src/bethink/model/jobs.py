"""Promised work: its states, who holds it, and how it ended."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class JobKind(StrEnum):
    """What is to be done: learn from a session, work a transcript into documents, settle what a space has learnt, or
    index what it holds.
    """

    EXTRACT = "extract"
    WRITE = "write"
    CONSOLIDATE = "consolidate"
    INDEX = "index"


class JobStatus(StrEnum):
    """Where a job stands. `waiting` looks at its session later; `failed` is tried again; `dead` is not."""

    WAITING = "waiting"
    QUEUED = "queued"
    RUNNING = "running"
    FAILED = "failed"
    DONE = "done"
    DEAD = "dead"


class Outcome(StrEnum):
    """How an attempt ended; nothing worth keeping is a success."""

    SUCCEEDED = "succeeded"
    SUCCEEDED_NO_OUTPUT = "succeeded_no_output"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Learnt:
    """What came of a job: how many facts were added, merged and so on, and why others were refused."""

    outcome: Outcome
    settled: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A lease on a job. Whatever is written under it names its token, and only the newest token counts."""

    space: str
    kind: JobKind
    key: str
    token: int
    attempts: int
    input_watermark: int
    queued_at: datetime


@dataclass(frozen=True, slots=True)
class Usage:
    """What models took: calls, tokens, and money in millionths of a dollar."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
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
