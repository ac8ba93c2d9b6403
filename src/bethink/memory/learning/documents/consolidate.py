"""Consolidate a space: one run at a time turns selected session summaries into a tree of documents."""

import hashlib
import socket
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from datetime import timedelta
from pathlib import Path

from anyio import CancelScope, get_cancelled_exc_class, to_thread

from bethink.base.frozen import frozen
from bethink.base.logs import logger
from bethink.errors import DatabaseError
from bethink.memory.documents import changes as changing
from bethink.memory.documents.files import export_files, folder_of, write_folder
from bethink.memory.documents.overviews import writable_facts
from bethink.memory.learning.documents.assignment import assignment, new_facts
from bethink.memory.learning.documents.build_documents import (
    BUILDER,
    Knowledge,
    build_documents,
    changes_to,
    overviews,
    unsupported_deletions,
)
from bethink.memory.learning.documents.pages import PageSandbox
from bethink.memory.learning.documents.runs import Runs
from bethink.memory.learning.documents.writer import PAGES_PROMPT
from bethink.model.consolidation import DocumentChange, DocumentTree, Selection
from bethink.model.documents import Author
from bethink.model.erasures import ARTIFACTS, WRITING
from bethink.model.jobs import JobKind, JobResult, JobStatus, Lease, Outcome
from bethink.model.moments import to_micros
from bethink.model.text import canonical_json
from bethink.store import consolidation, erasures, facts, jobs, learning
from bethink.store.db import Tx

CONSOLIDATOR = "2"
_DAY = timedelta(days=1)
_log = logger("learn")


@frozen
class ConsolidationRules:
    """Selection of session summaries for a run. With `review`, its changes need approval."""

    max_unused_days: int = 30
    limit: int = 256
    review: bool = False
    folder: str = ""


@frozen
class ConsolidationInput:
    """A snapshot of a space to consolidate: facts and summaries, the tree, and the recorded model answers."""

    knowledge: Knowledge
    tree: DocumentTree
    run: str
    recorded: Sequence[str]
    session_ids: frozenset[str]
    """The added sessions whose notes fit into one assignment. The next run takes the others."""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """Contents of the folder during the run, including the sessions of the last run."""
    rejected: bool = False

    @property
    def has_more(self) -> bool:
        """True if some of the added sessions are left for the next run."""
        return any(summary.session_id not in self.session_ids for summary in self.knowledge.selection.added_summaries)

    @property
    def newest(self) -> int:
        """Update time of the newest selected session, in microseconds like a watermark."""
        return max((to_micros(entry.memory.source_updated_at) for entry in self.knowledge.selection.current), default=0)


@frozen
class Consolidator:
    """Consolidates leased spaces: with a model through the memory writer, without one by listing the facts."""

    runs: Runs
    rules: ConsolidationRules = field(default_factory=ConsolidationRules)

    async def process(self, lease: Lease) -> JobResult:
        """Consolidate the leased space, and finish the lease in the transaction that changes its tree.

        Raises `ModelError`, and `LeaseLostError` if another worker has taken over.
        """
        database = self.runs.database
        await self._mark_files(lease.space, WRITING)  # first: a deletion from here on waits for these files
        work = await database.transact(lambda tx: self._begin(tx, lease), space=lease.space, read_only=True)
        try:
            await self._write_files(lease.space, work.files)
            changes = await self._changes(lease, work)
            report = await database.transact(lambda tx: self._apply(tx, lease, work, tuple(changes)), space=lease.space)
        except (Exception, get_cancelled_exc_class()):
            # The contents may have been deleted in the meantime. A worker that loses its lease is canceled.
            with CancelScope(shield=True):
                await self._restore_files(lease.space)
            raise
        await self.refresh(lease.space)
        _log.info("consolidated %s in run %s: %s changes", lease.key, work.run, len(changes))
        return report

    async def fail(
        self, lease: Lease, *, status: JobStatus, delay: timedelta, attempts: int | None, error: str
    ) -> None:
        """Finish a failed lease."""
        await self.runs.fail(lease, status=status, delay=delay, attempts=attempts, error=error)

    def look(self, tx: Tx, *, space: str, key: str) -> bool:
        """Queue a run if a selected session summary has become too old; return whether it did."""
        facts.lock(tx, space=space)  # as everywhere before queueing: a run that finishes now must see it
        if consolidation.has_expired(tx, space=space, max_unused_days=self.rules.max_unused_days):
            jobs.queue(tx, space=space, kind=JobKind.CONSOLIDATE, key=key, watermark=0)
            return True
        jobs.set_idle_check(tx, space=space, kind=JobKind.CONSOLIDATE, key=key, due=tx.now + _DAY)
        return False

    async def refresh(self, space: str) -> None:
        """Rewrite the files of a space from the input of its last successful run, if a folder is configured."""
        last_files = None
        await self._mark_files(space, WRITING)
        while self.rules.folder:
            files = await self.runs.database.transact(
                lambda tx: export_files(tx, space=space), space=space, read_only=True
            )
            if files == last_files:
                await self._mark_files(space, ARTIFACTS)
                return
            await self._write_files(space, files)
            last_files = files  # and check again: data that was deleted during the write must not stay in the files

    async def _restore_files(self, space: str) -> None:
        try:
            await self.refresh(space)
        except DatabaseError as error:  # finishing the lease matters more, and may fail for the same reason
            _log.error("cannot restore the files of a space: %s", type(error).__name__)

    async def _mark_files(self, space: str, kind: str) -> None:
        """Record where the files of a space are, so that any process that deletes data clears them."""
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

    def _begin(self, tx: Tx, lease: Lease) -> ConsolidationInput:
        knowledge = Knowledge(
            selection=self._select(tx, lease.space),
            facts=writable_facts(facts.list_current(tx, space=lease.space), now=tx.now),
            sources=facts.all_sources(tx, space=lease.space),
        )
        tree = changing.read_tree(tx, space=lease.space)
        session_ids = self._fitting_sessions(knowledge)
        run = _run_of(knowledge, tree, session_ids)
        return ConsolidationInput(
            knowledge=knowledge,
            tree=tree,
            run=run,
            recorded=self._recorded_answers(tx, lease, run),
            session_ids=session_ids,
            files=export_files(tx, space=lease.space, selection=knowledge.selection) if self.rules.folder else {},
            rejected=self.rules.review and consolidation.was_rejected(tx, space=lease.space, run=run),
        )

    def _recorded_answers(self, tx: Tx, lease: Lease, run: str) -> Sequence[str]:
        if self.runs.model is None:
            return ()
        return learning.answers_of(tx, space=lease.space, kind=lease.kind, key=lease.key, run=run)

    def _fitting_sessions(self, knowledge: Knowledge) -> frozenset[str]:
        added = knowledge.selection.added_summaries
        if self.runs.model is None:
            return frozenset(summary.session_id for summary in added)
        tokens = self.runs.tokens
        # Facts take half of the budget, and the line of a fact is longer than its note.
        budget = self.runs.writer(pages=True).budget // 4
        session_ids: list[str] = []
        for summary in added:
            budget -= tokens.count(summary.raw_memory)
            if session_ids and budget < 0:
                break
            session_ids.append(summary.session_id)
        return frozenset(session_ids)

    async def _changes(self, lease: Lease, work: ConsolidationInput) -> list[DocumentChange]:
        if work.rejected:
            return []
        if self.runs.model is None:
            return build_documents(work.knowledge, work.tree)
        if not work.knowledge.selection.current and not new_facts(work.knowledge, work.tree, ()):
            return self._add_overviews([], work)
        writer = self.runs.writer(pages=True)
        task = assignment(work.knowledge, work.tree, work.session_ids, budget=writer.budget, tokens=self.runs.tokens)
        changes = await self.runs.write_changes(
            lease,
            run=work.run,
            sandbox=PageSandbox(work.tree, task.facts, redact=self.runs.redact),
            writer=writer,
            assignment=task.text,
            again=task.again,
            recorded=work.recorded,
            agent_id="consolidator",
        )
        return self._add_overviews(changes, work)

    def _add_overviews(self, changes: list[DocumentChange], work: ConsolidationInput) -> list[DocumentChange]:
        """Add what code does better than a model: missing overviews, and deletions of unsupported documents."""
        touched = {item.path for item in changes}
        drafts = {path: item for path, item in overviews(work.knowledge).items() if path not in touched}
        filled = [item for item in changes_to(drafts, _only(work.tree, drafts)) if item.draft is not None]
        return [*changes, *filled, *unsupported_deletions(work.knowledge, work.tree, retained={*touched, *drafts})]

    def _apply(self, tx: Tx, lease: Lease, work: ConsolidationInput, changes: tuple[DocumentChange, ...]) -> JobResult:
        facts.lock(tx, space=lease.space)
        job = jobs.find(tx, space=lease.space, kind=lease.kind, key=lease.key)
        if job is None or job.token != lease.token or job.status is not JobStatus.RUNNING:
            raise jobs.lease_lost(lease)
        proposed = self.rules.review and bool(changes)
        self._store(tx, lease, work, changes, proposed=proposed)
        outcome = Outcome.SUCCEEDED if changes else Outcome.SUCCEEDED_NO_OUTPUT
        dirty = job.input_watermark > lease.input_watermark or (work.has_more and not proposed)
        watermark = max(lease.input_watermark, work.newest, job.success_watermark or 0)
        status, due = (JobStatus.QUEUED, tx.now) if dirty else (JobStatus.WAITING, tx.now + _DAY)
        if not jobs.finish(tx, lease, status=status, outcome=outcome, due=due, attempts=0, watermark=watermark):
            raise jobs.lease_lost(lease)
        return JobResult(outcome=outcome)

    def _store(
        self, tx: Tx, lease: Lease, work: ConsolidationInput, changes: tuple[DocumentChange, ...], *, proposed: bool
    ) -> None:
        """Change the tree, or store the changes for approval. Both replace changes that still need approval."""
        space, snapshot = lease.space, work.knowledge.selection.snapshot(work.session_ids)
        # The token keeps two runs on the same input apart, such as one before and one after an undo.
        run = f"{work.run}.{lease.token}"
        versions: dict[str, tuple[str, int]] | None = None
        if not proposed:
            built = self.runs.model is None
            name = BUILDER if built else "writer"
            author = Author(kind="job", id=name, reason="consolidation", token=lease.token, run=run)
            versions = changing.apply(tx, changes, space=space, author=author, quoted=built)
            consolidation.record_selection(tx, space=space, snapshot=snapshot)
            # The change set of an earlier run has the sessions of that run.
            snapshot = work.knowledge.selection.fresh(work.session_ids)
        if changes:
            consolidation.supersede(tx, space=space)
            consolidation.put_change_set(
                tx, space=space, run=run, token=lease.token, changes=changes, snapshot=snapshot, versions=versions
            )


def _only(tree: DocumentTree, paths: Mapping[str, object]) -> DocumentTree:
    documents = {path: document for path, document in tree.documents.items() if path in paths}
    return DocumentTree(documents=documents, sources=tree.sources)


def _run_of(knowledge: Knowledge, tree: DocumentTree, session_ids: Collection[str]) -> str:
    """Return an id made from the input of a run, so that a retry reuses the recorded answers."""
    inputs = [
        CONSOLIDATOR,
        PAGES_PROMPT,
        [(item.memory.session_id, to_micros(item.memory.source_updated_at)) for item in knowledge.selection.current],
        [(item.session_id, to_micros(item.source_updated_at)) for item in knowledge.selection.removed_summaries],
        sorted(session_ids),
        sorted(fact.id for fact in knowledge.facts),
        [(item.id, item.version) for item in tree.documents.values()],
    ]
    return f"run_{hashlib.blake2b(canonical_json(inputs).encode(), digest_size=10).hexdigest()}"
