"""The job queue: the one table that is read across spaces, so it holds only ids, times and tokens."""

import os
from collections.abc import Iterable
from dataclasses import asdict, fields
from datetime import datetime, timedelta

from bethink.errors import LostClaim
from bethink.model.ids import shard_for
from bethink.model.jobs import Claim, Job, JobKind, JobStatus, Outcome, Usage
from bethink.model.moments import DAY, from_micros, from_micros_or_none, to_micros
from bethink.model.rules import QUIET_CHECK
from bethink.store import changes
from bethink.store.db import Row, Tx

SPACE_KEY = "space"
"""The key of jobs that exist once per space."""
OTHER, UNNAMED = "other", "unnamed"
"""What is charged apart from jobs, and by a model that does not say its name."""
_LEARNT = (Outcome.SUCCEEDED, Outcome.SUCCEEDED_NO_OUTPUT)
_ATTEMPTS = 20
"""How many failed attempts of a job are kept."""
_LATE = 1_000
"""Up to how many overdue jobs of each kind are counted."""
_TAKEN = tuple(field.name for field in fields(Usage))


def queue(tx: Tx, *, space: str, kind: JobKind, key: str, watermark: int) -> None:
    """Queue a job. Queueing it again keeps its position, ends a pause, and revives a dead job."""
    tx.run("queue_job", space=space, kind=kind, key=key, watermark=watermark, now=tx.now)
    tx.queued.add(kind)


def ensure_space(tx: Tx, *, space: str) -> None:
    """Create a space at its first use and queue its indexing: spaces are listed by their jobs."""
    if tx.run("ensure_space", space=space, shard=shard_for(space), now=tx.now):
        queue(tx, space=space, kind=JobKind.INDEX, key=SPACE_KEY, watermark=0)


def await_quiet(tx: Tx, *, space: str, session_id: str, due: datetime) -> None:
    """Schedule a check of a session that may go idle without a mark."""
    tx.run("await_quiet", space=space, kind=JobKind.EXTRACT, key=session_id, now=tx.now, due=due)


def claim(
    tx: Tx,
    *,
    kind: JobKind,
    worker: str,
    lease: timedelta,
    limit: int,
    tried_first: bool = False,
    space: str | None = None,
) -> list[Claim]:
    """Claim jobs that are due, in any space or in one, for the duration of `lease`; each gets a token above all before.

    A job that was tried before is claimed alone: if it kills its worker, no other jobs are lost with it.
    """
    rows: list[Row] = []
    for tried in (tried_first, not tried_first):
        rows = rows or tx.all(
            "claim_jobs" if space is None else "claim_jobs_in",
            kind=kind, worker=worker, now=tx.now, lease=tx.now + lease, limit=1 if tried else limit, tried=int(tried),
            space=space,
        )  # fmt: skip
    return sorted(map(_claim_of, rows), key=lambda each: (each.queued_at, each.space, each.key))


def claim_one(tx: Tx, *, space: str, kind: JobKind, key: str, worker: str, lease: timedelta) -> list[Claim]:
    """Claim one job by its name, as `claim` does. Returns nothing if it is done, claimed or not yet due."""
    row = tx.one("claim_job", space=space, kind=kind, key=key, worker=worker, now=tx.now, lease=tx.now + lease)
    return [] if row is None else [_claim_of(row)]


def due(tx: Tx, *, kind: JobKind, limit: int) -> list[tuple[str, str, int]]:
    """Return space, key and last token of jobs that could be claimed, the longest due first."""
    rows = tx.all("list_due", kind=kind, now=tx.now, limit=limit)
    return [(row["space_id"], row["key"], row["token"]) for row in rows]


def any_due(tx: Tx, *, kind: JobKind) -> bool:
    """Return whether there is anything to claim."""
    return tx.one("any_due", kind=kind, now=tx.now) is not None


def any_of(tx: Tx, *, kinds: Iterable[JobKind], quoted_too: bool) -> bool:
    """Return whether there is anything to claim of some kinds, a session to check, or one that was only quoted."""
    return (
        any(any_due(tx, kind=kind) for kind in kinds)
        or bool(quiet(tx, kind=JobKind.EXTRACT, limit=1))
        or (quoted_too and bool(quoted(tx, limit=1)))
    )


def quiet(tx: Tx, *, kind: JobKind, limit: int, space: str | None = None) -> list[tuple[str, str]]:
    """Return space and key of sessions without a queued job that are to be checked now, of all spaces or of one."""
    query = "list_quiet" if space is None else "list_quiet_in"
    return [(row["space_id"], row["key"]) for row in tx.all(query, kind=kind, now=tx.now, limit=limit, space=space)]


def settle_quiet(tx: Tx, *, space: str, kind: JobKind, key: str, due: datetime | None) -> None:
    """Schedule the next check, or with None no further check."""
    tx.run("settle_quiet", space=space, kind=kind, key=key, due=due)


def beat(tx: Tx, held: Claim, *, lease: timedelta) -> bool:
    """Renew a claim for another `lease`. Returns False once it is lost."""
    return tx.run("beat_job", **_held(held), lease=tx.now + lease) == 1


def spend(tx: Tx, usage: Usage, *, kind: str = OTHER, model: str = UNNAMED, space: str | None = None) -> None:
    """Record the cost of model calls for the day: in all, for what and by which model, and for which space."""
    day, taken = day_of(tx.now), asdict(usage)
    row = os.getpid() % 64  # few processes count in one row, so that few wait for each other
    tx.run("spend", day=day, slot=row, **taken)
    tx.run("spend_on_model", day=day, slot=row, kind=kind, model=model, **taken)
    if space is not None:
        tx.run("spend_on_space", day=day, space=space, **taken)


def charge(tx: Tx, held: Claim, usage: Usage, *, model: str = UNNAMED) -> bool:
    """Record the cost of a model call for the job and the day. The day is charged even if the claim is lost."""
    spend(tx, usage, kind=held.kind, model=model, space=held.space)
    return tx.run("charge_job", **_held(held), **asdict(usage)) == 1


def finish(
    tx: Tx,
    held: Claim,
    *,
    status: JobStatus,
    outcome: Outcome | None,
    due: datetime | None = None,
    error: str | None = None,
    attempts: int | None = None,
    watermark: int | None = None,
) -> bool:
    """End a claim if it is still valid. Otherwise returns False and changes nothing."""
    if status is JobStatus.QUEUED:
        tx.queued.add(held.kind)
    finished = (
        tx.run(
            "finish_job",
            **_held(held),
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
        tx.run("record_attempt", **_held(held), error=error, now=tx.now)
        tx.run("prune_attempts", **_held(held), kept=_ATTEMPTS)
    if finished and held.kind is JobKind.EXTRACT and outcome in _LEARNT:
        changes.record_learnt(tx, space=held.space, session_id=held.key)
    return finished


def hold(tx: Tx, held: Claim) -> int | None:
    """Lock the job of a claim and return its watermark so far; None if the claim is lost.

    A transaction that queues new work for it waits until this one ends, or has already committed.
    """
    row = tx.one("hold_claim", **_held(held))
    return None if row is None else row["input_watermark"]


def lost(claim: Claim) -> LostClaim:
    """Return the error to raise when a claim no longer holds."""
    return LostClaim(f"the claim on {claim.kind} job {claim.key!r} was lost.", hint="Another worker has the job now.")


def fail(
    tx: Tx, held: Claim, *, newer: bool, status: JobStatus, delay: timedelta, attempts: int | None, error: str
) -> bool:
    """End a failed claim if it is still valid; newer work is retried at once."""
    due = None if status is JobStatus.DEAD else tx.now + delay
    return finish(
        tx,
        held,
        status=JobStatus.QUEUED if newer else status,
        outcome=Outcome.FAILED,
        due=tx.now if newer else due,
        error=error,
        attempts=0 if newer else attempts,
    )


def cancel(tx: Tx, *, space: str, kind: JobKind, key: str) -> None:
    """Cancel a job that was done otherwise; a claim on it is lost."""
    tx.run("cancel_job", space=space, kind=kind, key=key, due=tx.now + QUIET_CHECK)


def cancel_forgotten(tx: Tx, *, space: str, sessions: list[str]) -> None:
    """Cancel the jobs for sessions whose messages are gone."""
    due = tx.now + QUIET_CHECK
    tx.run("cancel_forgotten_jobs", space=space, kind=JobKind.EXTRACT, sessions=sessions, due=due)


def spaces(tx: Tx, *, limit: int, after: str) -> list[str]:
    """Return the names of spaces that hold anything, in order, after one."""
    return [row["space_id"] for row in tx.all("list_spaces", limit=limit, after=after)]


def marked(tx: Tx, *, limit: int) -> list[tuple[str, str]]:
    """Return space and id of marked sessions in all spaces, the oldest mark first."""
    return [(row["space_id"], row["key"]) for row in tx.all("list_marked", kind=JobKind.EXTRACT, limit=limit)]


def note_quoted(tx: Tx, *, space: str, session_id: str, start: int) -> None:
    """Record that a session was only quoted after a record. Quoting it further keeps the first such record."""
    tx.run("note_quoted", space=space, kind=JobKind.EXTRACT, key=session_id, start=start)


def quoted(tx: Tx, *, limit: int, space: str | None = None) -> list[tuple[str, str]]:
    """Return space and id of sessions that were only quoted, of all spaces or of one, the oldest first."""
    query = "list_quoted" if space is None else "list_quoted_in"
    rows = tx.all(query, space=space, kind=JobKind.EXTRACT, limit=limit)
    return [(row["space_id"], row["key"]) for row in rows]


def take_quoted(tx: Tx, *, space: str, session_id: str) -> int | None:
    """Return after which record a session was only quoted, and forget it; None if it was not."""
    named = {"space": space, "kind": JobKind.EXTRACT, "key": session_id}
    row = tx.one("find_quoted", **named)
    if row is None:
        return None
    tx.run("forget_quoted", **named)
    return row["quoted_from"]


def listed(tx: Tx, *, space: str, limit: int) -> list[Job]:
    """Return the jobs of a space, the newest first."""
    return [job_of(row) for row in tx.all("list_jobs", space=space, limit=limit)]


def find(tx: Tx, *, space: str, kind: JobKind, key: str) -> Job | None:
    """Return one job, if it exists."""
    row = tx.one("find_job", space=space, kind=kind, key=key)
    return None if row is None else job_of(row)


def retry(tx: Tx, *, space: str, kind: JobKind, key: str) -> bool:
    """Let a failed or dead job start over. Returns False if it is neither."""
    tx.queued.add(kind)
    return tx.run("retry_job", space=space, kind=kind, key=key, now=tx.now) == 1


def counts(tx: Tx) -> dict[JobKind, dict[JobStatus, int]]:
    """Count the jobs of each kind by status, over all spaces. Those that are done are not counted."""
    found: dict[JobKind, dict[JobStatus, int]] = {}
    for row in tx.all("count_jobs"):
        found.setdefault(JobKind(row["kind"]), {})[JobStatus(row["status"])] = row["count"]
    return found


def overdue(tx: Tx, *, kind: JobKind, before: datetime) -> tuple[int, int]:
    """Count the jobs that were due before a time and are not claimed, and expired leases: up to 1,000 of a kind."""
    row = tx.one("count_overdue", kind=kind, before=before, limit=_LATE)
    return (0, 0) if row is None else (row["count"], row["abandoned"])


def sample_spaces(tx: Tx, *, kind: JobKind, limit: int) -> list[str]:
    """Return a few spaces with recent activity."""
    return [row["space_id"] for row in tx.all("sample_spaces", kind=kind, limit=limit)]


def spent(tx: Tx) -> Usage:
    """Return the cost of model calls since midnight UTC, over all spaces."""
    row = tx.one("spent", day=day_of(tx.now))
    return Usage() if row is None else Usage(**{name: int(row[name]) for name in _TAKEN})


def day_of(at: datetime) -> int:
    """Return the number of a day, for counting against the spend cap."""
    return to_micros(at) // DAY


def _claim_of(row: Row) -> Claim:
    return Claim(
        space=row["space_id"],
        kind=JobKind(row["kind"]),
        key=row["key"],
        token=row["token"],
        attempts=row["attempts"],
        input_watermark=row["input_watermark"],
        queued_at=from_micros(row["queued_at"]),
    )


def _held(held: Claim) -> dict[str, object]:
    return {"space": held.space, "kind": held.kind, "key": held.key, "token": held.token}


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
        usage=Usage(**{name: row[name] for name in _TAKEN}),
    )
