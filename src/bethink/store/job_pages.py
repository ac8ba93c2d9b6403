"""Pages of jobs in one or all spaces, and their costs."""

from collections.abc import Collection
from datetime import UTC, date, datetime
from typing import cast

from bethink.model.jobs import (
    FailedAttempt,
    Job,
    JobDetail,
    JobKind,
    JobStatus,
    Spending,
    SpendingBy,
    Usage,
)
from bethink.model.moments import DAY, from_micros, from_micros_or_none, to_micros
from bethink.model.pages import cursor_of, read_cursor
from bethink.model.paging import Page
from bethink.store import jobs, learning
from bethink.store.db import Row, Tx

_MAX_SHOWN = 20
"""Maximum number of failed attempts and answers shown per job."""


def across(tx: Tx, *, status: JobStatus, kinds: Collection[JobKind], after: str, limit: int) -> Page[Job]:
    """Return a page of the jobs of all spaces in one state, the last queued first."""
    key = cast("tuple[int, str, str, str] | None", read_cursor(after, int, str, str, str))
    entries: list[tuple[tuple[int, str, str, str], Row]] = []
    for kind in sorted(kinds):
        rows = tx.all("page_jobs_across", status=status, kind=kind, limit=limit + 1, **_start_after(key, kind))
        entries += [((row["queued_at"], row["kind"], row["space_id"], row["key"]), row) for row in rows]
    entries.sort(key=lambda entry: entry[0], reverse=True)
    page_entries = entries[:limit]
    items = tuple(jobs.job_of(row) for _, row in page_entries)
    return Page(items=items, next=cursor_of(*page_entries[-1][0]) if len(entries) > limit else "")


def _start_after(key: tuple[int, str, str, str] | None, kind: str) -> dict[str, object]:
    """Return where a kind continues after the last job of a page, which may be of another kind."""
    if key is None:
        return {}
    queued, last, space, name = key
    if kind == last:
        return {"queued": queued, "space": space, "key": name}
    return {"until": queued if kind < last else queued - 1}


def of_space(
    tx: Tx, *, space: str, status: JobStatus | None, kind: JobKind | None, after: str, limit: int
) -> Page[Job]:
    """Return a page of the jobs of a space, the last queued first."""
    queued, last, key = read_cursor(after, int, str, str) or (None, None, None)
    rows = tx.all(
        "page_jobs_of_space",
        space=space, status=status, kind=kind, queued=queued, last_kind=last, key=key, limit=limit + 1,
    )  # fmt: skip
    items = tuple(jobs.job_of(row) for row in rows[:limit])
    following = ""
    if len(rows) > limit:
        end = rows[limit - 1]
        following = cursor_of(end["queued_at"], end["kind"], end["key"])
    return Page(items=items, next=following)


def detail(tx: Tx, job: Job) -> JobDetail:
    """Return a job with its failed attempts and the answers of models."""
    key = {"space": job.space, "kind": job.kind, "key": job.key}
    failures = tuple(
        FailedAttempt(
            started_at=from_micros_or_none(row["started_at"]), ended_at=from_micros(row["ended_at"]), error=row["error"]
        )
        for row in tx.all("list_attempts", limit=_MAX_SHOWN, **key)
    )
    answers = learning.answers(tx, space=job.space, kind=job.kind, key=job.key, limit=_MAX_SHOWN)
    return JobDetail(job=job, failures=failures, answers=tuple(answers))


_BY = {
    SpendingBy.DAY: "spending_by_day",
    SpendingBy.KIND: "spending_by_kind",
    SpendingBy.MODEL: "spending_by_model",
}


def spending(tx: Tx, *, grouping: SpendingBy, first: int, last: int, limit: int) -> list[Spending]:
    """Return the costs of all spaces per day, the newest first; by space, the most expensive ones of each day."""
    if grouping is SpendingBy.SPACE:
        days = range(last, first - 1, -1)
        rows = [row for day in days for row in tx.all("spending_of_spaces", day=day, limit=limit)]
    else:
        rows = tx.all(_BY[grouping], first=first, last=last)
    return [_spending(row) for row in rows]


def spending_of(tx: Tx, *, space: str, first: int, last: int) -> list[Spending]:
    """Return the costs of a space per day, the newest first."""
    return [_spending(row) for row in tx.all("spending_of_space", space=space, first=first, last=last)]


def day_number(day: date) -> int:
    """Return the number of a day, under which its spending is stored."""
    return to_micros(datetime(day.year, day.month, day.day, tzinfo=UTC)) // DAY


def _spending(row: Row) -> Spending:
    usage = Usage(row["calls"], row["input_tokens"], row["output_tokens"], row["cost"])
    return Spending(day=from_micros(row["day"] * DAY).date(), name=row["name"], usage=usage)
