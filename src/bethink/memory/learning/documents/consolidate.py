"""Consolidate a space: one run at a time turns selected session memories into a tree of documents."""

import hashlib
import socket
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from datetime import timedelta
from pathlib import Path

from anyio import CancelScope, get_cancelled_exc_class, to_thread

from bethink.base.frozen import frozen
from bethink.base.logs import logger
from bethink.errors import StoreError
from bethink.memory.documents import changes as changing
from bethink.memory.documents.files import exported, folder_of, write_folder
from bethink.memory.documents.overviews import may_be_written
from bethink.memory.learning.documents.assignment import assignment
from bethink.memory.learning.documents.build_documents import (
    BUILDER,
    Known,
    build_documents,
    changes_to,
    overviews,
    unsupported,
)
from bethink.memory.learning.documents.pages import PageSandbox
from bethink.memory.learning.documents.runs import Runs
from bethink.memory.learning.documents.writer import PAGES_PROMPT
from bethink.model.consolidation import Change, DocumentTree, Selection
from bethink.model.documents import Author
from bethink.model.erasures import ARTEFACTS, WRITING
from bethink.model.jobs import Claim, JobKind, JobStatus, Learnt, Outcome
from bethink.model.moments import to_micros
from bethink.model.text import canonical_json
from bethink.store import consolidation, erasures, facts, jobs, learning
from bethink.store.db import Tx

CONSOLIDATOR = "2"
_DAY = timedelta(days=1)
_log = logger("learn")


@frozen
class ConsolidationRules:
    """Which session memories a run uses. With `review`, its changes wait for approval."""

    max_unused_days: int = 30
    limit: int = 256
    review: bool = False
    folder: str = ""


@frozen
class ConsolidationInput:
    """A snapshot of a space to consolidate: what is known, the tree, and the model answers recorded so far."""

    known: Known
    tree: DocumentTree
    run: str
    recorded: Sequence[str]
    shown: frozenset[str]
    """The added sessions whose notes fit into one assignment. The next run takes the others."""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the folder holds while the run goes on: also what the last run saw."""
    rejected: bool = False

    @property
    def left_out(self) -> bool:
        """Whether some of the added sessions are left for the next run."""
        return any(each.session_id not in self.shown for each in self.known.selection.added)

    @property
    def newest(self) -> int:
        """When the newest selected session was updated, in microseconds like a watermark."""
        return max((to_micros(each.memory.source_updated_at) for each in self.known.selection.current), default=0)


@frozen
class Consolidator:
    """Consolidates claimed spaces: with a model through the memory writer, without one by listing what is known."""

    runs: Runs
    rules: ConsolidationRules = field(default_factory=ConsolidationRules)

    async def process(self, claim: Claim) -> Learnt:
        """Consolidate the claimed space, and finish the claim in the transaction that changes its tree.

        Raises `ModelError`, and `LostClaim` if another worker has taken over.
        """
        database = self.runs.database
        await self._mark_files(claim.space, WRITING)  # first: who forgets from here on waits for these files
        work = await database.transact(lambda tx: self._begin(tx, claim), space=claim.space, read=True)
        try:
            await self._write_files(claim.space, work.files)
            changes = await self._changes(claim, work)
            learnt = await database.transact(lambda tx: self._apply(tx, claim, work, tuple(changes)), space=claim.space)
        except (Exception, get_cancelled_exc_class()):
            # What the files contain may have been forgotten meanwhile. A worker that loses its claim is cancelled.
            with CancelScope(shield=True):
                await self._restore_files(claim.space)
            raise
        await self.refresh(claim.space)
        _log.info("consolidated %s in run %s: %s changes", claim.key, work.run, len(changes))
        return learnt

    async def fail(
        self, claim: Claim, *, status: JobStatus, delay: timedelta, attempts: int | None, error: str
    ) -> None:
        """Finish a claim that failed."""
        await self.runs.fail(claim, status=status, delay=delay, attempts=attempts, error=error)

    def look(self, tx: Tx, *, space: str, key: str) -> bool:
        """Queue a run if a selected session memory has become too old; return whether it did."""
        facts.lock(tx, space=space)  # as everywhere before queueing: a run that finishes now must see it
        if consolidation.has_expired(tx, space=space, max_unused_days=self.rules.max_unused_days):
            jobs.queue(tx, space=space, kind=JobKind.CONSOLIDATE, key=key, watermark=0)
            return True
        jobs.settle_quiet(tx, space=space, kind=JobKind.CONSOLIDATE, key=key, due=tx.now + _DAY)
        return False

    async def refresh(self, space: str) -> None:
        """Rewrite the files of a space from the input of its last successful run, if a folder is configured."""
        written = None
        await self._mark_files(space, WRITING)
        while self.rules.folder:
            files = await self.runs.database.transact(lambda tx: exported(tx, space=space), space=space, read=True)
            if files == written:
                await self._mark_files(space, ARTEFACTS)
                return
            await self._write_files(space, files)
            written = files  # and check again: what was forgotten during the write must not stay in the files

    async def _restore_files(self, space: str) -> None:
        try:
            await self.refresh(space)
        except StoreError as error:  # finishing the claim matters more, and may fail for the same reason
            _log.error("cannot restore the files of a space: %s", type(error).__name__)

    async def _mark_files(self, space: str, kind: str) -> None:
        """Write down where the files of a space are, so that any process that forgets clears them."""
        if not self.rules.folder:
            return
        path = str((Path(self.rules.folder) / folder_of(space)).absolute())
        host = socket.gethostname()
        await self.runs.database.transact(
            lambda tx: erasures.note_written(tx, space=space, host=host, path=path, kind=kind), space=space
        )

    async def _write_files(self, space: str, files: Mapping[str, str]) -> None:
        if not self.rules.folder:
            return
        folder = Path(self.rules.folder) / folder_of(space)
        try:
            await to_thread.run_sync(write_folder, folder, files)
        except OSError as error:  # the files can be rebuilt, and learning must not wait for a disk
            _log.error("cannot write the files of a space: %s", type(error).__name__)

    def _select(self, tx: Tx, space: str) -> Selection:
        return consolidation.select(tx, space=space, max_unused_days=self.rules.max_unused_days, limit=self.rules.limit)

    def _begin(self, tx: Tx, claim: Claim) -> ConsolidationInput:
        known = Known(
            selection=self._select(tx, claim.space),
            facts=may_be_written(facts.everything(tx, space=claim.space), now=tx.now),
            sources=facts.all_sources(tx, space=claim.space),
        )
        tree = changing.read_tree(tx, space=claim.space)
        shown = self._shown(known)
        run = _run_of(known, tree, shown)
        return ConsolidationInput(
            known=known,
            tree=tree,
            run=run,
            recorded=learning.answers_of(tx, space=claim.space, kind=claim.kind, key=claim.key, run=run),
            shown=shown,
            files=exported(tx, space=claim.space, selection=known.selection) if self.rules.folder else {},
            rejected=self.rules.review and consolidation.was_rejected(tx, space=claim.space, run=run),
        )

    def _shown(self, known: Known) -> frozenset[str]:
        added = known.selection.added
        if self.runs.model is None:
            return frozenset(each.session_id for each in added)
        tokens = self.runs.tokens
        # Facts take half of the budget, and a line about one is longer than the note it was made from.
        budget = self.runs.writer(pages=True).budget // 4
        shown: list[str] = []
        for each in added:
            budget -= tokens.count(each.raw_memory)
            if shown and budget < 0:
                break
            shown.append(each.session_id)
        return frozenset(shown)

    async def _changes(self, claim: Claim, work: ConsolidationInput) -> list[Change]:
        if work.rejected:
            return []
        if self.runs.model is None or not work.known.selection.current:
            return build_documents(work.known, work.tree)
        writer = self.runs.writer(pages=True)
        task = assignment(work.known, work.tree, work.shown, budget=writer.budget, tokens=self.runs.tokens)
        written = await self.runs.written(
            claim,
            run=work.run,
            sandbox=PageSandbox(work.tree, task.told, redact=self.runs.redact),
            writer=writer,
            assignment=task.text,
            recorded=work.recorded,
            agent_id="consolidator",
        )
        return self._completed(written, work)

    def _completed(self, written: list[Change], work: ConsolidationInput) -> list[Change]:
        """Add what code does better than a model: missing overviews, and deletions of unsupported documents."""
        touched = {each.path for each in written}
        wanted = {path: each for path, each in overviews(work.known).items() if path not in touched}
        filled = [each for each in changes_to(wanted, _only(work.tree, wanted)) if each.draft is not None]
        return [*written, *filled, *unsupported(work.known, work.tree, kept={*touched, *wanted})]

    def _apply(self, tx: Tx, claim: Claim, work: ConsolidationInput, changes: tuple[Change, ...]) -> Learnt:
        facts.lock(tx, space=claim.space)
        job = jobs.find(tx, space=claim.space, kind=claim.kind, key=claim.key)
        if job is None or job.token != claim.token or job.status is not JobStatus.RUNNING:
            raise jobs.lost(claim)
        proposed = self.rules.review and bool(changes)
        self._store(tx, claim, work, changes, proposed=proposed)
        outcome = Outcome.SUCCEEDED if changes else Outcome.SUCCEEDED_NO_OUTPUT
        dirty = job.input_watermark > claim.input_watermark or (work.left_out and not proposed)
        watermark = max(claim.input_watermark, work.newest, job.success_watermark or 0)
        status, due = (JobStatus.QUEUED, tx.now) if dirty else (JobStatus.WAITING, tx.now + _DAY)
        if not jobs.finish(tx, claim, status=status, outcome=outcome, due=due, attempts=0, watermark=watermark):
            raise jobs.lost(claim)
        return Learnt(outcome=outcome)

    def _store(
        self, tx: Tx, claim: Claim, work: ConsolidationInput, changes: tuple[Change, ...], *, proposed: bool
    ) -> None:
        """Change the tree, or store the changes for approval. Both supersede changes that still wait for approval."""
        space, snapshot = claim.space, work.known.selection.snapshot(work.shown)
        # The token keeps two runs on the same input apart, such as one before and one after an undo.
        run = f"{work.run}.{claim.token}"
        written: dict[str, tuple[str, int]] | None = None
        if not proposed:
            built = self.runs.model is None
            name = BUILDER if built else "writer"
            author = Author(kind="job", id=name, reason="consolidation", token=claim.token, run=run)
            written = changing.apply(tx, changes, space=space, author=author, quoted=built)
            consolidation.mark_seen(tx, space=space, snapshot=snapshot)
            # What an earlier run has seen is in the change set of that run.
            snapshot = work.known.selection.fresh(work.shown)
        if changes:
            consolidation.supersede(tx, space=space)
            consolidation.put_change_set(
                tx, space=space, run=run, token=claim.token, changes=changes, snapshot=snapshot, written=written
            )


def _only(tree: DocumentTree, paths: Mapping[str, object]) -> DocumentTree:
    kept = {path: each for path, each in tree.documents.items() if path in paths}
    return DocumentTree(documents=kept, sources=tree.sources)


def _run_of(known: Known, tree: DocumentTree, shown: Collection[str]) -> str:
    """Return an id made from the input of a run, so that a retry reuses the recorded answers."""
    inputs = [
        CONSOLIDATOR,
        PAGES_PROMPT,
        [(each.memory.session_id, to_micros(each.memory.source_updated_at)) for each in known.selection.current],
        [(each.session_id, to_micros(each.source_updated_at)) for each in known.selection.removed],
        sorted(shown),
        sorted(fact.id for fact in known.facts),
        [(each.id, each.version) for each in tree.documents.values()],
    ]
    return f"run_{hashlib.blake2b(canonical_json(inputs).encode(), digest_size=10).hexdigest()}"
