"""Bugs on purpose, for consolidator processes: a campaign that does not notice them proves nothing."""

import threading
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum

from bethink.memory.learning.documents.consolidate import ConsolidationInput, Consolidator
from bethink.model.consolidation import DocumentChange
from bethink.model.jobs import Job, JobKind, JobResult, JobStatus, Lease
from bethink.model.moments import to_micros
from bethink.store import consolidation, jobs
from bethink.store.db import Tx
from faults.mutants import drop_fences


class ConsolidateMutant(StrEnum):
    """What is broken: the second look at the lease, where the watermark comes from, or when flags are set."""

    NO_RECHECK = "no_recheck"
    CLOCK_WATERMARK = "clock_watermark"
    FLAGS_FIRST = "flags_first"


def break_down(mutant: ConsolidateMutant | None) -> None:
    """Break every consolidator of this process as told."""
    match mutant:
        case None:
            pass
        case ConsolidateMutant.NO_RECHECK:
            drop_fences("finish_job")
            _apply_seeing(lambda job, lease, _: replace(job, token=lease.token, status=JobStatus.RUNNING))
        case ConsolidateMutant.CLOCK_WATERMARK:
            _apply_seeing(_by_the_clock)
        case ConsolidateMutant.FLAGS_FIRST:
            _flag_first()


def _by_the_clock(job: Job, lease: Lease, now: int) -> Job:
    """Take all that was promised up to now for done, as if it had been looked at now and not when the run began."""
    promised = job.input_watermark if job.input_watermark > now else lease.input_watermark
    return replace(job, input_watermark=promised, success_watermark=now)


def _apply_seeing(seen: Callable[[Job, Lease, int], Job]) -> None:
    """Show whoever applies a result another job than there is."""
    hand = threading.local()
    find, apply = jobs.find, Consolidator._apply

    def find_another(tx: Tx, *, space: str, kind: JobKind, key: str) -> Job | None:
        job = find(tx, space=space, kind=kind, key=key)
        lease: Lease | None = getattr(hand, "lease", None)
        return job if job is None or lease is None else seen(job, lease, to_micros(tx.now))

    def apply_blindly(
        self: Consolidator, tx: Tx, lease: Lease, work: ConsolidationInput, changes: tuple[DocumentChange, ...]
    ) -> JobResult:
        hand.lease = lease  # a transaction has its thread to itself
        try:
            return apply(self, tx, lease, work, changes)
        finally:
            hand.lease = None

    jobs.find = find_another
    Consolidator._apply = apply_blindly


def _flag_first() -> None:
    """Set the flags of what a run looks at before it has come to anything."""
    genuine = Consolidator._changes

    async def flagged(self: Consolidator, lease: Lease, work: ConsolidationInput) -> list[DocumentChange]:
        looked_at = [each.memory for each in work.knowledge.selection.current]
        snapshot = [(each.session_id, to_micros(each.source_updated_at)) for each in looked_at]
        await self.runs.database.transact(
            lambda tx: consolidation.record_selection(tx, space=lease.space, snapshot=snapshot), space=lease.space
        )
        return await genuine(self, lease, work)

    Consolidator._changes = flagged
