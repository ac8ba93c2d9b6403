"""Promised work: the one table read across spaces, so it holds ids, times and tokens only."""

from dataclasses import asdict, fields
from datetime import datetime, timedelta

from bethink.model.ids import shard_for
from bethink.model.jobs import Claim, Job, JobKind, JobStatus, Outcome, Usage
from bethink.model.moments import DAY, from_micros, from_micros_or_none, to_micros
from bethink.model.rules import QUIET_CHECK
from bethink.store.db import Row, Tx

SPACE_KEY = "space"
"""The key of a job that there is one of in each space."""
_TAKEN = tuple(field.name for field in fields(Usage))


def queue(tx: Tx, *, space: str, kind: JobKind, key: str, watermark: int) -> None:
    """Promise work once; promising it again keeps its place, ends a rest, and revives what was given up."""
    tx.run("queue_job", space=space, kind=kind, key=key, watermark=watermark, now=tx.now)
    tx.notifies = True


def ensure_space(tx: Tx, *, space: str) -> None:
    """Bring a space into being at its first use, with the promise to index it: what is promised is what is listed."""
    if tx.run("ensure_space", space=space, shard=shard_for(space), now=tx.now):
        queue(tx, space=space, kind=JobKind.INDEX, key=SPACE_KEY, watermark=0)


def await_quiet(tx: Tx, *, space: str, session_id: str, due: datetime) -> None:
    """Promise a look at a session that may go quiet without a mark."""
    tx.run("await_quiet", space=space, kind=JobKind.EXTRACT, key=session_id, now=tx.now, due=due)


def claim(
    tx: Tx, *, kind: JobKind, worker: str, lease: timedelta, limit: int, tried_first: bool = False
) -> list[Claim]:
    """Take jobs that are due, in any space, for as long as `lease`; each gets a token above all before.

    One that was tried before is taken alone: if it kills its worker, it takes no others down with it.
    """
    rows: list[Row] = []
    for tried in (tried_first, not tried_first):
        rows = rows or tx.all(
            "claim_jobs",
            kind=kind, worker=worker, now=tx.now, lease=tx.now + lease, limit=1 if tried else limit, tried=int(tried),
        )  # fmt: skip
    claims = [
        Claim(
            space=row["space_id"],
            kind=JobKind(row["kind"]),
            key=row["key"],
            token=row["token"],
            attempts=row["attempts"],
            input_watermark=row["input_watermark"],
            queued_at=from_micros(row["queued_at"]),
        )
        for row in rows
    ]
    return sorted(claims, key=lambda each: (each.queued_at, each.space, each.key))


def any_due(tx: Tx, *, kind: JobKind) -> bool:
    """Say whether there is anything to claim."""
    return tx.one("any_due", kind=kind, now=tx.now) is not None


def quiet(tx: Tx, *, kind: JobKind, limit: int) -> list[tuple[str, str]]:
    """Return space and key of what nobody promised and is to be looked at now."""
    return [(row["space_id"], row["key"]) for row in tx.all("list_quiet", kind=kind, now=tx.now, limit=limit)]


def settle_quiet(tx: Tx, *, space: str, kind: JobKind, key: str, due: datetime | None) -> None:
    """Look again later, or with None never."""
    tx.run("settle_quiet", space=space, kind=kind, key=key, due=due)


def beat(tx: Tx, held: Claim, *, lease: timedelta) -> bool:
    """Keep a claim alive for another `lease`. False once it is lost."""
    return tx.run("beat_job", **_held(held), lease=tx.now + lease) == 1


def charge(tx: Tx, held: Claim, usage: Usage, *, slot: int) -> bool:
    """Write down what a model took, for the job and for the day. The day pays even where the claim is lost."""
    taken = asdict(usage)
    tx.run("spend", day=day_of(tx.now), slot=slot, **taken)
    return tx.run("charge_job", **_held(held), **taken) == 1


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
    """End a claim, only if it still holds; false, and nothing changed, if it does not."""
    tx.notifies = tx.notifies or status is JobStatus.QUEUED
    return (
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


def hold(tx: Tx, held: Claim) -> int | None:
    """Hold a claim's job and return what was promised for it so far; None if the claim is lost.

    Whoever promises something new waits for this transaction to end, or has been wait_for_work.
    """
    row = tx.one("hold_claim", **_held(held))
    return None if row is None else row["input_watermark"]


def fail(
    tx: Tx, held: Claim, *, newer: bool, status: JobStatus, delay: timedelta, attempts: int | None, error: str
) -> bool:
    """End a claim that came to nothing, if it still holds; something newer is reason enough to try again at once."""
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


def settle(tx: Tx, *, space: str, kind: JobKind, key: str) -> None:
    """Strike out a promise that someone else kept; whoever holds a claim on it loses it."""
    tx.run("settle_job", space=space, kind=kind, key=key, due=tx.now + QUIET_CHECK)


def settle_forgotten(tx: Tx, *, space: str, sessions: list[str]) -> None:
    """Strike out the promises made for sessions whose messages are gone."""
    due = tx.now + QUIET_CHECK
    tx.run("settle_forgotten_jobs", space=space, kind=JobKind.EXTRACT, sessions=sessions, due=due)


def spaces(tx: Tx, *, limit: int, after: str) -> list[str]:
    """Return the names of spaces that hold anything, in order, from one on."""
    return [row["space_id"] for row in tx.all("list_spaces", limit=limit, after=after)]


def marked(tx: Tx, *, limit: int) -> list[tuple[str, str]]:
    """Return space and id of marked sessions in all spaces, the oldest mark first."""
    return [(row["space_id"], row["key"]) for row in tx.all("list_marked", kind=JobKind.EXTRACT, limit=limit)]


def listed(tx: Tx, *, space: str, limit: int) -> list[Job]:
    """Return the jobs of a space, the newest promise first."""
    return [_job(row) for row in tx.all("list_jobs", space=space, limit=limit)]


def find(tx: Tx, *, space: str, kind: JobKind, key: str) -> Job | None:
    """Return one job, if it is there."""
    row = tx.one("find_job", space=space, kind=kind, key=key)
    return None if row is None else _job(row)


def retry(tx: Tx, *, space: str, kind: JobKind, key: str) -> bool:
    """Let a job that failed or was given up start over. False if it did neither."""
    tx.notifies = True
    return tx.run("retry_job", space=space, kind=kind, key=key, now=tx.now) == 1


def counts(tx: Tx) -> dict[JobKind, dict[JobStatus, int]]:
    """Count the jobs of each kind by status, over all spaces. Those that are done are not counted."""
    found: dict[JobKind, dict[JobStatus, int]] = {}
    for row in tx.all("count_jobs"):
        found.setdefault(JobKind(row["kind"]), {})[JobStatus(row["status"])] = row["count"]
    return found


def overdue(tx: Tx, *, kind: JobKind, before: datetime) -> tuple[int, int]:
    """Count the jobs that were due before a time and are not claimed, and those whose lease ran out before it."""
    row = tx.one("count_overdue", kind=kind, before=before)
    return (0, 0) if row is None else (row["count"], row["abandoned"])


def sample_spaces(tx: Tx, *, kind: JobKind, limit: int) -> list[str]:
    """Return a few spaces in which something was done lately."""
    return [row["space_id"] for row in tx.all("sample_spaces", kind=kind, limit=limit)]


def spent(tx: Tx) -> Usage:
    """Return what models took since midnight, UTC, over all spaces."""
    row = tx.one("spent", day=day_of(tx.now))
    return Usage() if row is None else Usage(**{name: int(row[name]) for name in _TAKEN})


def day_of(at: datetime) -> int:
    """Number the days, so that a spend cap has one to count for."""
    return to_micros(at) // DAY


def _held(held: Claim) -> dict[str, object]:
    return {"space": held.space, "kind": held.kind, "key": held.key, "token": held.token}


def _job(row: Row) -> Job:
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
