"""Counts overdue and abandoned jobs, and checks invariants."""

from collections.abc import Collection
from datetime import timedelta

from bethink.jobs.options import WorkerOptions
from bethink.model.jobs import Audit, JobKind, JobStatus, Usage
from bethink.store import jobs, learning
from bethink.store.db import Database, Tx


async def audit(database: Database, kinds: Collection[JobKind], options: WorkerOptions, *, spaces: int) -> Audit:
    """Count overdue and abandoned jobs of some kinds, and violations of invariants in a sample of spaces."""
    late = timedelta(seconds=2 * options.interval)

    def across(tx: Tx) -> tuple[dict[JobKind, dict[JobStatus, int]], tuple[int, int], list[str], Usage]:
        before = tx.now - late
        due = [jobs.overdue(tx, kind=kind, before=before) for kind in kinds]
        both = (sum(counts[0] for counts in due), sum(counts[1] for counts in due))
        sample = jobs.sample_spaces(tx, kind=JobKind.EXTRACT, limit=spaces)
        return jobs.counts(tx), both, sample, jobs.spent(tx)

    counts, (overdue, abandoned), sample, spent = await database.transact(across, read_only=True)
    facts = broken = 0
    for space in sample:
        violations = await database.transact(
            lambda tx, space=space: learning.count_broken(tx, space=space), space=space, read_only=True
        )
        facts, broken = facts + violations[0], broken + violations[1]
    return Audit(
        counts=counts,
        overdue=overdue,
        expired_leases=abandoned,
        facts_without_source=facts,
        broken_sessions=broken,
        spaces_checked=len(sample),
        spent_today=spent,
        daily_budget=options.daily_cap,
        violations=facts + broken,
    )
