"""Operations on the changes that consolidations make to documents: list, approve, reject and undo."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Self

from bethink.errors import ConflictError, InvalidRequestError, NotFoundError
from bethink.extend import Redactor
from bethink.memory.documents import changes
from bethink.memory.registry import Host, handles
from bethink.model.consolidation import ChangeSet, ChangeStatus, DocumentChange
from bethink.model.documents import Author
from bethink.model.operations.documents import (
    APPROVE_DOCUMENT_CHANGE,
    LIST_DOCUMENT_CHANGES,
    REJECT_DOCUMENT_CHANGE,
    UNDO_DOCUMENT_CHANGE,
    ApproveDocumentChangeRequest,
    DocumentChangeRequest,
    ListDocumentChangesRequest,
)
from bethink.model.paging import Page
from bethink.model.text import clean
from bethink.store import consolidation, facts
from bethink.store.db import Database, Tx


class ChangeSetService:
    """The document changes of every space."""

    def __init__(self, database: Database, *, redactor: Redactor) -> None:
        self._database = database
        self._redactor = redactor

    @classmethod
    def from_host(cls, host: Host) -> Self:
        """Create the service from the parts of an open memory."""
        return cls(host.database, redactor=host.redactor)

    @handles(LIST_DOCUMENT_CHANGES)
    async def changes(self, space: str, request: ListDocumentChangesRequest) -> Page[ChangeSet]:
        """List applied and proposed changes of consolidations."""
        return await self._database.transact(
            lambda tx: consolidation.page(tx, space=space, limit=request.limit, after=request.after),
            space=space,
            read_only=True,
        )

    @handles(APPROVE_DOCUMENT_CHANGE)
    async def approve(self, space: str, request: ApproveDocumentChangeRequest) -> None:
        """Apply a pending change set, or some of its changes."""
        edits = request.texts or {}
        texts = await self._database.lanes.run(space, sum(map(len, edits.values())), lambda: self._redact(edits))

        def body(tx: Tx) -> None:
            facts.lock(tx, space=space)
            change_set = _set_status(tx, space, request.run, was=ChangeStatus.PENDING, status=ChangeStatus.APPLIED)
            change_set = _with_texts(_select_changes(change_set, request.paths), texts)
            reason = "approved with edits" if request.texts else "approved"
            author = Author(kind="job", id="writer", reason=reason, run=request.run)
            versions = changes.apply(tx, change_set.changes, space=space, author=author, quoted=False)
            consolidation.record_written(tx, change_set, space=space, versions=versions)
            snapshot = consolidation.snapshot_of(tx, space=space, run=request.run)
            consolidation.record_selection(tx, space=space, snapshot=snapshot)

        await self._database.transact(body, space=space)

    @handles(REJECT_DOCUMENT_CHANGE)
    async def reject(self, space: str, request: DocumentChangeRequest) -> None:
        """Discard a pending change set."""

        def body(tx: Tx) -> None:
            change_set = _get_change_set(tx, space, request.run)
            if not consolidation.reject(tx, change_set, space=space):
                raise _status_conflict(change_set, ChangeStatus.PENDING)

        await self._database.transact(body, space=space)

    @handles(UNDO_DOCUMENT_CHANGE)
    async def undo(self, space: str, request: DocumentChangeRequest) -> None:
        """Restore the tree to its state before a run."""

        def body(tx: Tx) -> None:
            facts.lock(tx, space=space)
            _set_status(tx, space, request.run, was=ChangeStatus.APPLIED, status=ChangeStatus.UNDONE)
            changes.undo(tx, space=space, run=request.run)

        await self._database.transact(body, space=space)

    def _redact(self, texts: Mapping[str, str]) -> dict[str, str]:
        return {path: self._redactor.redact(clean(text)) for path, text in texts.items()}


def _with_texts(change_set: ChangeSet, texts: Mapping[str, str]) -> ChangeSet:
    """Return a change set with other texts for some documents.

    Raises `InvalidRequestError` for one that it does not write.
    """
    written_paths = [change.path for change in change_set.changes if change.draft is not None]
    unknown = next((path for path in texts if path not in written_paths), None)
    if unknown is not None:
        raise InvalidRequestError(
            f"Change set {change_set.run} does not write {unknown!r}.", hint=f"It has {', '.join(written_paths)}."
        )

    def edit(change: DocumentChange) -> DocumentChange:
        if change.draft is None or change.path not in texts:
            return change
        return replace(change, draft=replace(change.draft, body=texts[change.path]))

    return replace(change_set, changes=tuple(map(edit, change_set.changes)))


def _set_status(tx: Tx, space: str, run: str, *, was: ChangeStatus, status: ChangeStatus) -> ChangeSet:
    change_set = _get_change_set(tx, space, run)
    if not consolidation.set_change_status(tx, space=space, run=run, was=was, status=status):
        raise _status_conflict(change_set, was)
    return change_set


def _status_conflict(change_set: ChangeSet, expected: ChangeStatus) -> ConflictError:
    return ConflictError(
        f"Change set {change_set.run} is {change_set.status}, not {expected}.",
        hint="Someone else decided first. List the change sets to see their status.",
    )


def _select_changes(change_set: ChangeSet, paths: Sequence[str] | None) -> ChangeSet:
    """Return a change set with the changes of some documents only.

    Raises `InvalidRequestError` for a path it does not have.
    """
    if paths is None:
        return change_set
    all_paths = [change.path for change in change_set.changes]
    unknown = next((path for path in paths if path not in all_paths), None)
    if unknown is not None or not paths:
        problem = "`paths` is empty" if unknown is None else f"Change set {change_set.run} has no change of {unknown!r}"
        raise InvalidRequestError(f"{problem}.", hint=f"It has {', '.join(all_paths)}.")
    return replace(change_set, changes=tuple(change for change in change_set.changes if change.path in paths))


def _get_change_set(tx: Tx, space: str, run: str) -> ChangeSet:
    change_set = consolidation.find_change_set(tx, space=space, run=run)
    if change_set is None:
        raise NotFoundError(f"No change set {run!r} in space {space!r}.")
    return change_set
