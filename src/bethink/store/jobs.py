"""The job queue: the one table that is read across spaces, so it contains only ids, times and tokens."""

import os
from collections.abc import Iterable
from dataclasses import asdict, fields
from datetime import datetime, timedelta

from bethink.errors import LeaseLostError
from bethink.model.ids import shard_for
from bethink.model.jobs import Job, JobKind, JobStatus, Lease, Outcome, Usage
from bethink.model.moments import DAY, from_micros, from_micros_or_none, to_micros
from bethink.model.rules import QUIET_CHECK
from bethink.store import changes
from bethink.store.db import Row, Tx

SPACE_KEY = "space"
"""The key of jobs that exist once per space."""
OTHER, UNNAMED = "other", "unnamed"
"""Labels for spending outside jobs and by unnamed models."""
_LEARNED = (Outcome.SUCCEEDED, Outcome.SUCCEEDED_NO_OUTPUT)
_ATTEMPTS = 20
"""Maximum number of failed attempts stored per job."""
_MAX_OVERDUE = 1_000
"""Maximum number of overdue jobs counted per kind."""
_USAGE_FIELDS = tuple(field.name for field in fields(Usage))


def queue(tx: Tx, *, space: str, kind: JobKind, key: str, watermark: int) -> None:
    """Queue a job. Queueing it again keeps its position, ends a pause, and revives an abandoned job."""
    tx.run("queue_job", space=space, kind=kind, key=key, watermark=watermark, now=tx.now)
    tx.queued.add(kind)


def ensure_space(tx: Tx, *, space: str) -> None:
    """Create a space on first use and queue its indexing: spaces are listed by their jobs."""
    if tx.run("ensure_space", space=space, shard=shard_for(space), now=tx.now):
        queue(tx, space=space, kind=JobKind.INDEX, key=SPACE_KEY, watermark=0)


def schedule_idle_check(tx: Tx, *, space: str, session_id: str, due: datetime) -> None:
    """Schedule a check of a session that may go idle without a mark."""
    tx.run("await_quiet", space=space, kind=JobKind.EXTRACT, key=session_id, now=tx.now, due=due)


def lease_jobs(
    tx: Tx,
    *,
    kind: JobKind,
    worker: str,
    duration: timedelta,
    limit: int,
    tried_first: bool = False,
    space: str | None = None,
) -> list[Lease]:
    """Lease jobs that are due, in one or all spaces, for a `duration`. Tokens increase with each lease.

    A job that was tried before is leased alone: if it kills its worker, no other job is affected.
    Of the extractions of a space, only one is leased at a time: the one whose messages were said first.
    """
    rows: list[Row] = []
    for tried in (tried_first, not tried_first):
        rows = rows or tx.all(
            _lease_query(kind, space=space, tried=tried),
            kind=kind, worker=worker, now=tx.now, lease=tx.now + duration, limit=1 if tried else limit,
            tried=int(tried),
            space=space,
            key=None,
        )  # fmt: skip
    return sorted(map(_lease_of, rows), key=lambda lease: (lease.queued_at, lease.space, lease.key))


def _lease_query(kind: JobKind, *, space: str | None, tried: bool) -> str:
    if kind is not JobKind.EXTRACT:
        return "claim_jobs" if space is None else "claim_jobs_in"
    if space is not None:
        return "claim_extraction_in"
    return "claim_tried_extractions" if tried else "claim_extractions"


def lease_job(tx: Tx, *, space: str, kind: JobKind, key: str, worker: str, duration: timedelta) -> list[Lease]:
    """Lease one job by name, as `lease_jobs` does. Returns an empty list if it cannot be leased now."""
    query = "claim_extraction_in" if kind is JobKind.EXTRACT else "claim_job"
    row = tx.first(query, space=space, kind=kind, key=key, worker=worker, now=tx.now, lease=tx.now + duration)
    return [] if row is None else [_lease_of(row)]


def due(tx: Tx, *, kind: JobKind, limit: int) -> list[tuple[str, str, int]]:
    """Return space, key and last token of jobs that can be leased, longest overdue first."""
    rows = tx.all("list_due_extractions" if kind is JobKind.EXTRACT else "list_due", kind=kind, now=tx.now, limit=limit)
    return [(row["space_id"], row["key"], row["token"]) for row in rows]


def any_due(tx: Tx, *, kind: JobKind) -> bool:
    """Return whether any job can be leased."""
    query = "any_due_extraction" if kind is JobKind.EXTRACT else "any_due"
    return tx.first(query, kind=kind, now=tx.now) is not None


def due_kinds(tx: Tx, kinds: Iterable[JobKind], *, space: str | None) -> dict[JobKind, bool]:
    """Return the kinds with work that is due, in one or all spaces, and whether some of it is an idle check."""
    names = list(kinds)
    rows = tx.all("due_kinds", kinds=names, order=list(range(len(names))), now=tx.now, space=space)
    return {JobKind(row["kind"]): bool(row["idle"]) for row in rows}


def any_of(tx: Tx, *, kinds: Iterable[JobKind], include_quoted: bool) -> bool:
    """Return whether any job of these kinds is due, or any session needs a check or was only quoted."""
    return (
        any(any_due(tx, kind=kind) for kind in kinds)
        or bool(idle_sessions(tx, kind=JobKind.EXTRACT, limit=1))
        or (include_quoted and bool(quoted_sessions(tx, limit=1)))
    )


def idle_sessions(tx: Tx, *, kind: JobKind, limit: int, space: str | None = None) -> list[tuple[str, str]]:
    """Return space and key of sessions without a queued job that are due for an idle check, in one or all spaces."""
    query = "list_quiet" if space is None else "list_quiet_in"
    return [(row["space_id"], row["key"]) for row in tx.all(query, kind=kind, now=tx.now, limit=limit, space=space)]


def set_idle_check(tx: Tx, *, space: str, kind: JobKind, key: str, due: datetime | None) -> None:
    """Schedule the next check. None cancels further checks."""
    tx.run("settle_quiet", space=space, kind=kind, key=key, due=due)


def renew_lease(tx: Tx, lease: Lease, *, duration: timedelta) -> bool:
    """Extend a lease by `duration`. Returns False once it is lost."""
    return tx.run("beat_job", **_lease_key(lease), lease=tx.now + duration) == 1


def spend(tx: Tx, usage: Usage, *, kind: str = OTHER, model: str = UNNAMED, space: str | None = None) -> None:
    """Record the cost of model calls for the day: in total, by purpose and model, and by space."""
    day, amounts = day_of(tx.now), asdict(usage)
    row = os.getpid() % 64  # spreads processes over rows, so that they rarely wait for each other
    tx.run("spend", day=day, slot=row, **amounts)
    tx.run("spend_on_model", day=day, slot=row, kind=kind, model=model, **amounts)
    if space is not None:
        tx.run("spend_on_space", day=day, space=space, **amounts)


def charge(tx: Tx, lease: Lease, usage: Usage, *, model: str = UNNAMED) -> bool:
    """Record the cost of a model call for the job and the day. The day is charged even if the lease is lost."""
    spend(tx, usage, kind=lease.kind, model=model, space=lease.space)
    return tx.run("charge_job", **_lease_key(lease), **asdict(usage)) == 1


def finish(
    tx: Tx,
    lease: Lease,
    *,
    status: JobStatus,
    outcome: Outcome | None,
    due: datetime | None = None,
    error: str | None = None,
    attempts: int | None = None,
    watermark: int | None = None,
) -> bool:
    """End a lease if it is still valid. Otherwise returns False and changes nothing."""
    if status is JobStatus.QUEUED:
        tx.queued.add(lease.kind)
    finished = (
        tx.run(
            "finish_job",
            **_lease_key(lease),
            status=status,
            outcome=outcome,
            due=due,
            error=error,
            attempts=attempts,
            watermark=watermark,
            now=tx.now,
        )
        == 1
    )
    if finished and outcome is Outcome.FAILED:
        tx.run("record_attempt", **_lease_key(lease), error=error, now=tx.now)
        tx.run("prune_attempts", **_lease_key(lease), kept=_ATTEMPTS)
    if finished and lease.kind is JobKind.EXTRACT and outcome in _LEARNED:
        changes.record_learned(tx, space=lease.space, session_id=lease.key)
    return finished


def lock_job(tx: Tx, lease: Lease) -> int | None:
    """Lock a leased job and return its watermark so far; None if the lease is lost.

    A transaction that queues new work for it waits until this one ends, or has already committed.
    """
    row = tx.first("hold_claim", **_lease_key(lease))
    return None if row is None else row["input_watermark"]


def lease_lost(lease: Lease) -> LeaseLostError:
    """Return the error to raise when a lease is lost."""
    return LeaseLostError(
        f"The lease on {lease.kind} job {lease.key!r} was lost.", hint="Another worker has the job now."
    )


def fail(
    tx: Tx, lease: Lease, *, newer: bool, status: JobStatus, delay: timedelta, attempts: int | None, error: str
) -> bool:
    """End a failed lease if it is still valid; newer work is retried at once."""
    due = None if status is JobStatus.ABANDONED else tx.now + delay
    return finish(
        tx,
        lease,
        status=JobStatus.QUEUED if newer else status,
        outcome=Outcome.FAILED,
        due=tx.now if newer else due,
        error=error,
        attempts=0 if newer else attempts,
    )


def cancel(tx: Tx, *, space: str, kind: JobKind, key: str) -> None:
    """Cancel a job that was done in another way. Its lease is lost."""
    tx.run("cancel_job", space=space, kind=kind, key=key, due=tx.now + QUIET_CHECK)


def cancel_forgotten(tx: Tx, *, space: str, sessions: list[str]) -> None:
    """Cancel the jobs for sessions whose messages were deleted."""
    due = tx.now + QUIET_CHECK
    tx.run("cancel_forgotten_jobs", space=space, kind=JobKind.EXTRACT, sessions=sessions, due=due)


def spaces(tx: Tx, *, limit: int, after: str) -> list[str]:
    """Return the names of non-empty spaces in order, starting after `after`."""
    return [row["space_id"] for row in tx.all("list_spaces", limit=limit, after=after)]


def marked_sessions(tx: Tx, *, limit: int) -> list[tuple[str, str]]:
    """Return space and id of marked sessions in all spaces, the oldest mark first."""
    return [(row["space_id"], row["key"]) for row in tx.all("list_marked", kind=JobKind.EXTRACT, limit=limit)]


def note_quoted(tx: Tx, *, space: str, session_id: str, start: int) -> None:
    """Record the message number after which a session was only quoted. Later calls keep the first number."""
    tx.run("note_quoted", space=space, kind=JobKind.EXTRACT, key=session_id, start=start)


def quoted_sessions(tx: Tx, *, limit: int, space: str | None = None) -> list[tuple[str, str]]:
    """Return space and id of sessions that were only quoted, of all spaces or of one, the oldest first."""
    query = "list_quoted" if space is None else "list_quoted_in"
    rows = tx.all(query, space=space, kind=JobKind.EXTRACT, limit=limit)
    return [(row["space_id"], row["key"]) for row in rows]


def take_quoted(tx: Tx, *, space: str, session_id: str) -> int | None:
    """Return and clear the message number after which a session was only quoted, or None."""
    key = {"space": space, "kind": JobKind.EXTRACT, "key": session_id}
    row = tx.first("find_quoted", **key)
    if row is None:
        return None
    tx.run("forget_quoted", **key)
    return row["quoted_from"]


def list_jobs(tx: Tx, *, space: str, limit: int) -> list[Job]:
    """Return the jobs of a space, the newest first."""
    return [job_of(row) for row in tx.all("list_jobs", space=space, limit=limit)]


def find(tx: Tx, *, space: str, kind: JobKind, key: str) -> Job | None:
    """Return one job, if it exists."""
    row = tx.first("find_job", space=space, kind=kind, key=key)
    return None if row is None else job_of(row)


def retry(tx: Tx, *, space: str, kind: JobKind, key: str) -> bool:
    """Restart a failed or abandoned job. Returns False if it is neither."""
    tx.queued.add(kind)
    return tx.run("retry_job", space=space, kind=kind, key=key, now=tx.now) == 1


def counts(tx: Tx) -> dict[JobKind, dict[JobStatus, int]]:
    """Count the jobs of each kind by status, over all spaces. Completed jobs are not counted."""
    by_kind: dict[JobKind, dict[JobStatus, int]] = {}
    for row in tx.all("count_jobs"):
        by_kind.setdefault(JobKind(row["kind"]), {})[JobStatus(row["status"])] = row["count"]
    return by_kind


def overdue(tx: Tx, *, kind: JobKind, before: datetime) -> tuple[int, int]:
    """Count unleased jobs that were due before a time, and expired leases, up to 1,000 per kind."""
    row = tx.first("count_overdue", kind=kind, before=before, limit=_MAX_OVERDUE)
    return (0, 0) if row is None else (row["count"], row["abandoned"])


def sample_spaces(tx: Tx, *, kind: JobKind, limit: int) -> list[str]:
    """Return a few spaces with recent activity."""
    return [row["space_id"] for row in tx.all("sample_spaces", kind=kind, limit=limit)]


def spent(tx: Tx) -> Usage:
    """Return the cost of model calls since midnight UTC, over all spaces."""
    row = tx.first("spent", day=day_of(tx.now))
    return Usage() if row is None else Usage(**{name: int(row[name]) for name in _USAGE_FIELDS})


def day_of(at: datetime) -> int:
    """Return the number of a day, for counting against the daily budget."""
    return to_micros(at) // DAY


def _lease_of(row: Row) -> Lease:
    return Lease(
        space=row["space_id"],
        kind=JobKind(row["kind"]),
        key=row["key"],
        token=row["token"],
        attempts=row["attempts"],
        input_watermark=row["input_watermark"],
        queued_at=from_micros(row["queued_at"]),
    )


def _lease_key(lease: Lease) -> dict[str, object]:
    return {"space": lease.space, "kind": lease.kind, "key": lease.key, "token": lease.token}


def job_of(row: Row) -> Job:
    """Read a job from its row."""
    return Job(
        space=row["space_id"],
        kind=JobKind(row["kind"]),
        key=row["key"],
        status=JobStatus(row["status"]),
        queued_at=from_micros(row["queued_at"]),
        due_at=from_micros_or_none(row["due_at"]),
        token=row["token"],
        worker=row["worker"],
        attempts=row["attempts"],
        input_watermark=row["input_watermark"],
        success_watermark=row["success_watermark"],
        started_at=from_micros_or_none(row["started_at"]),
        finished_at=from_micros_or_none(row["finished_at"]),
        outcome=None if row["outcome"] is None else Outcome(row["outcome"]),
        last_error=row["last_error"],
        usage=Usage(**{name: row[name] for name in _USAGE_FIELDS}),
    )
