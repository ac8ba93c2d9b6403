"""Settles what a space has learnt: one run at a time turns selected session memories into a tree of documents."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from anyio import CancelScope, get_cancelled_exc_class, to_thread

from bethink.documents import changes as changing
from bethink.documents.files import artefacts, folder_of, write_folder
from bethink.errors import LostClaim, StoreError
from bethink.extend import Tokens
from bethink.learning.documents.build_documents import (
    BUILDER,
    Known,
    build_documents,
    changes_to,
    known_sources,
    overviews,
    unsupported,
)
from bethink.learning.documents.runs import Runs
from bethink.learning.documents.writer import PROMPT
from bethink.learning.extraction.transcript import fitting, shortened
from bethink.logs import logger
from bethink.model.consolidation import Change, DocumentTree, Selection
from bethink.model.documents import Author
from bethink.model.jobs import Claim, JobKind, JobStatus, Learnt, Outcome
from bethink.model.moments import to_micros
from bethink.model.records import SessionMemory
from bethink.model.text import canonical_json
from bethink.store import consolidation, facts, jobs, learning
from bethink.store.db import Tx

CONSOLIDATOR = "1"
_LONGEST_LINE = 200
_DAY = timedelta(days=1)
_log = logger("learn")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationRules:
    """What is looked at, and what becomes of a result: with `review` it waits for approval."""

    max_unused_days: int = 30
    limit: int = 256
    review: bool = False
    folder: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationInput:
    """A snapshot of a space to consolidate: what is known, the tree, and answers that were already paid for."""

    known: Known
    shelf: DocumentTree
    run: str
    recorded: Sequence[str]
    shown: frozenset[str]
    """The added sessions whose notes fit into one assignment; the others come with the next run."""
    rejected: bool = False

    @property
    def left_out(self) -> bool:
        """Say whether some of what was added is still to be looked at."""
        return any(each.session_id not in self.shown for each in self.known.selection.added)

    @property
    def newest(self) -> int:
        """When the newest of what was loaded was said, in microseconds, as watermarks are."""
        return max((to_micros(each.memory.source_updated_at) for each in self.known.selection.current), default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidator:
    """Consolidates claimed spaces, with a model by letting its writer work, without one by gathering what is known."""

    runs: Runs
    rules: ConsolidationRules = field(default_factory=ConsolidationRules)

    async def process(self, claim: Claim) -> Learnt:
        """Consolidate the claimed space and end the claim, in the transaction that changes its tree."""
        database = self.runs.database
        work = await database.transact(lambda tx: self._begin(tx, claim), space=claim.space, read=True)
        try:
            await self._write_files(claim.space, work.known.selection, work.shelf)
            changes = await self._changes(claim, work)
            learnt = await database.transact(lambda tx: self._apply(tx, claim, work, tuple(changes)), space=claim.space)
        except (Exception, get_cancelled_exc_class()):
            # What the files were written from may have been forgotten meanwhile; who holds a lost claim is cancelled.
            with CancelScope(shield=True):
                await self._put_back_files(claim.space)
            raise
        await self.refresh(claim.space)
        _log.info("consolidated %s in run %s: %s changes", claim.key, work.run, len(changes))
        return learnt

    async def fail(
        self, claim: Claim, *, status: JobStatus, delay: timedelta, attempts: int | None, error: str
    ) -> None:
        """End a claim that came to nothing."""
        await self.runs.fail(claim, status=status, delay=delay, attempts=attempts, error=error)

    def look(self, tx: Tx, *, space: str, key: str) -> bool:
        """Promise a run where something that was selected has become too old; nothing else would ever tell."""
        facts.lock(tx, space=space)  # as whoever promises work does: a run that ends now must see it
        if consolidation.has_expired(tx, space=space, max_unused_days=self.rules.max_unused_days):
            jobs.queue(tx, space=space, kind=JobKind.CONSOLIDATE, key=key, watermark=0)
            return True
        jobs.settle_quiet(tx, space=space, kind=JobKind.CONSOLIDATE, key=key, due=tx.now + _DAY)
        return False

    async def refresh(self, space: str) -> None:
        """Write a space's artefacts anew from what the last run that succeeded has seen, if there is a folder."""
        written = None
        while self.rules.folder:
            seen = await self.runs.database.transact(
                lambda tx: (consolidation.seen(tx, space=space), changing.shelf(tx, space=space)),
                space=space,
                read=True,
            )
            if seen == written:
                return
            await self._write_files(space, *seen)
            written = seen  # and look again: what is forgotten while it is being written must not be left in the files

    async def _put_back_files(self, space: str) -> None:
        try:
            await self.refresh(space)
        except StoreError as error:  # the claim's own end matters more, and may be for the same reason
            _log.error("the artefacts of a space could not be put back: %s", type(error).__name__)

    async def _write_files(self, space: str, selection: Selection, shelf: DocumentTree) -> None:
        if not self.rules.folder:
            return
        folder = Path(self.rules.folder) / folder_of(space)
        try:
            await to_thread.run_sync(write_folder, folder, artefacts(selection, shelf.documents))
        except OSError as error:  # the files can be made again; what is learnt must not wait for a disk
            _log.error("the artefacts of a space could not be written: %s", type(error).__name__)

    def _select(self, tx: Tx, space: str) -> Selection:
        return consolidation.select(tx, space=space, max_unused_days=self.rules.max_unused_days, limit=self.rules.limit)

    def _begin(self, tx: Tx, claim: Claim) -> ConsolidationInput:
        known = Known(
            selection=self._select(tx, claim.space),
            facts=facts.everything(tx, space=claim.space),
            sources=facts.all_sources(tx, space=claim.space),
        )
        shelf = changing.shelf(tx, space=claim.space)
        shown = self._shown(known)
        run = _run_of(known, shelf, shown)
        return ConsolidationInput(
            known=known,
            shelf=shelf,
            run=run,
            recorded=learning.answers_of(tx, space=claim.space, kind=claim.kind, key=claim.key, run=run),
            shown=shown,
            rejected=self.rules.review and consolidation.was_rejected(tx, space=claim.space, run=run),
        )

    def _shown(self, known: Known) -> frozenset[str]:
        added = known.selection.added
        if self.runs.model is None:
            return frozenset(each.session_id for each in added)
        tokens = self.runs.tokens
        # Half of the room for notes; the rest is for what is listed, and for what comes of it.
        room = self.runs.writer().room // 2
        shown: list[str] = []
        for each in added:
            room -= tokens.count(each.raw_memory)
            if shown and room < 0:
                break
            shown.append(each.session_id)
        return frozenset(shown)

    async def _changes(self, claim: Claim, work: ConsolidationInput) -> list[Change]:
        if work.rejected:
            return []
        if self.runs.model is None or not work.known.selection.current:
            return build_documents(work.known, work.shelf)
        written = await self.runs.written(
            claim,
            run=work.run,
            shelf=work.shelf,
            sources=known_sources(work.known),
            assignment=assignment(work.known, work.shown, room=self.runs.writer().room, tokens=self.runs.tokens),
            recorded=work.recorded,
            agent_id="consolidator",
        )
        return self._completed(written, work)

    def _completed(self, written: list[Change], work: ConsolidationInput) -> list[Change]:
        """Add what code does better than a model: the overviews it left out, and forgetting what nothing supports."""
        touched = {each.path for each in written}
        wanted = {path: each for path, each in overviews(work.known).items() if path not in touched}
        filled = [each for each in changes_to(wanted, _only(work.shelf, wanted)) if each.draft is not None]
        return [*written, *filled, *unsupported(work.known, work.shelf, kept={*touched, *wanted})]

    def _apply(self, tx: Tx, claim: Claim, work: ConsolidationInput, changes: tuple[Change, ...]) -> Learnt:
        facts.lock(tx, space=claim.space)
        job = jobs.find(tx, space=claim.space, kind=claim.kind, key=claim.key)
        if job is None or job.token != claim.token or job.status is not JobStatus.RUNNING:
            raise LostClaim(f"the claim on {claim.space} was lost.")
        held = self.rules.review and bool(changes)
        self._settle(tx, claim, work, changes, held=held)
        outcome = Outcome.SUCCEEDED if changes else Outcome.SUCCEEDED_NO_OUTPUT
        dirty = job.input_watermark > claim.input_watermark or (work.left_out and not held)
        watermark = max(claim.input_watermark, work.newest, job.success_watermark or 0)
        status, due = (JobStatus.QUEUED, tx.now) if dirty else (JobStatus.WAITING, tx.now + _DAY)
        if not jobs.finish(tx, claim, status=status, outcome=outcome, due=due, attempts=0, watermark=watermark):
            raise LostClaim(f"the claim on {claim.space} was lost.")
        return Learnt(outcome=outcome)

    def _settle(
        self, tx: Tx, claim: Claim, work: ConsolidationInput, changes: tuple[Change, ...], *, held: bool
    ) -> None:
        """Change the tree, or hold the changes; what was held before is no longer what would be done."""
        space, snapshot = claim.space, work.known.selection.snapshot(work.shown)
        # Two runs on the same inputs are two runs: after an undo the first must not be taken for the second.
        run = f"{work.run}.{claim.token}"
        written: dict[str, tuple[str, int]] | None = None
        if not held:
            gathered = self.runs.model is None
            name = BUILDER if gathered else "writer"
            author = Author(kind="job", id=name, reason="consolidation", token=claim.token, run=run)
            written = changing.apply(tx, changes, space=space, author=author, quoted=gathered)
            consolidation.mark_seen(tx, space=space, snapshot=snapshot)
            # What was seen before is in the change set of the run that saw it first.
            snapshot = work.known.selection.fresh(work.shown)
        if changes:
            consolidation.supersede(tx, space=space)
            consolidation.put_change_set(
                tx, space=space, run=run, token=claim.token, changes=changes, snapshot=snapshot, written=written
            )


def assignment(known: Known, shown: Collection[str], *, room: int, tokens: Tokens) -> str:
    """Write what a writer is to do, within `room` tokens: what was added, what stays, what is removed, what is known.

    The notes on what is shown take half of it; of lists that are too long the ends are kept, and the rest is counted.
    """
    selection = known.selection
    added = [each for each in selection.added if each.session_id in shown]
    counts = f"selected {len(selection.current)}, added {len(selection.added)}, "
    counts += f"retained {len(selection.retained)}, removed {len(selection.removed)}"
    retained = [f"- [retained] {_line(each)}" for each in selection.retained]
    gone = [f"- {_line(each)}" for each in selection.removed]
    told = [f"- {fact.id} ({fact.origin}): {fact.content}" for fact in known.supported()]
    return "\n".join(
        [
            "Bring the documents under ~/memory up to date with these sessions.",
            f"({counts})",
            "",
            "Sessions:",
            *(f"- [added] {_line(each)}" for each in added),
            *fitting(retained, budget=room // 8, tokens=tokens),
            "",
            "Removed, to be forgotten:",
            *(fitting(gone, budget=room // 8, tokens=tokens) or ["- none"]),
            "",
            "Facts:",
            *(fitting(told, budget=room // 8, tokens=tokens) or ["- none"]),
            "",
            "Notes on what was added:",
            *(_notes(each, budget=room // 2, tokens=tokens) for each in added),
        ]
    )


def _line(memory: SessionMemory) -> str:
    return f"{memory.session_id}: {' '.join(memory.summary.split())[:_LONGEST_LINE]}"


def _notes(memory: SessionMemory, *, budget: int, tokens: Tokens) -> str:
    notes = shortened(memory.raw_memory, budget=budget, tokens=tokens)
    return f"<session id={memory.session_id!r}>\n{notes}\n</session>"


def _only(shelf: DocumentTree, paths: Mapping[str, object]) -> DocumentTree:
    kept = {path: each for path, each in shelf.documents.items() if path in paths}
    return DocumentTree(documents=kept, sources=shelf.sources)


def _run_of(known: Known, shelf: DocumentTree, shown: Collection[str]) -> str:
    """Name a run by what it works on, so that a second try at the same uses the answers of the first."""
    inputs = [
        CONSOLIDATOR,
        PROMPT,
        [(each.memory.session_id, to_micros(each.memory.source_updated_at)) for each in known.selection.current],
        [(each.session_id, to_micros(each.source_updated_at)) for each in known.selection.removed],
        sorted(shown),
        sorted(fact.id for fact in known.facts),
        [(each.id, each.version) for each in shelf.documents.values()],
    ]
    return f"run_{hashlib.blake2b(canonical_json(inputs).encode(), digest_size=10).hexdigest()}"
