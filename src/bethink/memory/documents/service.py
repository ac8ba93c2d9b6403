"""Carries out the verbs of documents: read, write, compare, restore, and decide on proposed changes."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Self, TypeVar

from anyio import to_thread

from bethink.errors import Conflict, Duplicate, Invalid, NotFound, Stale
from bethink.extend import Redactor
from bethink.memory.documents import changes, files, tree
from bethink.memory.documents.blame import blame
from bethink.memory.registry import Host, handles
from bethink.model.blame import Blame
from bethink.model.consolidation import Change, ChangeSet, ChangeStatus
from bethink.model.documents import Author, Document, DocumentDraft, DocumentEntry, DocumentSource, Provenance, diff_of
from bethink.model.erasures import DOCUMENT_KEY
from bethink.model.operations.base import Empty, KeyedRequest
from bethink.model.operations.documents import (
    APPROVE,
    BLAME,
    CHILDREN,
    CREATE_DOCUMENT,
    DELETE_DOCUMENT,
    DIFF_DOCUMENT,
    DOCUMENT_HISTORY,
    DOCUMENT_SOURCES,
    DOCUMENT_VERSIONS,
    FILES,
    FIND_DOCUMENT,
    GET_DOCUMENT,
    LIST_CHANGES,
    OUTLINE,
    REJECT,
    RESTORE_DOCUMENT,
    SEARCH_DOCUMENTS,
    TREE,
    UNDO,
    UPDATE_DOCUMENT,
    WRITTEN,
    ApproveChangeRequest,
    BlameRequest,
    ChangeRequest,
    ChildrenRequest,
    CreateDocumentRequest,
    DeleteDocumentRequest,
    DiffDocumentRequest,
    DocumentHistoryRequest,
    DocumentRequest,
    DocumentSourcesRequest,
    FindDocumentRequest,
    GetDocumentRequest,
    ListChangesRequest,
    ListDocumentsRequest,
    OutlineRequest,
    RestoreDocumentRequest,
    SearchDocumentsRequest,
    UpdateDocumentRequest,
    WrittenRequest,
)
from bethink.model.operations.memory import CorrectRequest
from bethink.model.pages import HistoryPage, OutlinePage
from bethink.model.recall import Corrected, Ref, RefKind
from bethink.model.records import Origin, checked_name
from bethink.model.rules import lowest
from bethink.model.text import canonical_json, clean
from bethink.store import consolidation, document_pages, documents, erasures, facts
from bethink.store.db import Database, Tx

T = TypeVar("T")


class DocumentService:
    """The documents of every space. A write names the version that was read, and is refused if that is stale."""

    def __init__(self, database: Database, *, redactor: Redactor) -> None:
        self._database = database
        self._redactor = redactor

    @classmethod
    def of(cls, host: Host) -> Self:
        """Make it from the parts of an open memory."""
        return cls(host.database, redactor=host.redactor)

    @handles(TREE)
    async def tree(self, space: str, request: ListDocumentsRequest) -> dict[str, DocumentEntry]:
        """Return every document by its path, without its text, or those below a path."""
        found = await self._read(space, lambda tx: tree.entries(tx, space=space, as_of=request.as_of))
        listed = ((path, each) for path, each in found.items() if path.startswith(request.path_prefix))
        return dict(islice(listed, request.limit))

    @handles(SEARCH_DOCUMENTS)
    async def search(self, space: str, request: SearchDocumentsRequest) -> list[Document]:
        """Return the documents that share words with a query."""
        return await self._read(
            space,
            lambda tx: documents.search(
                tx, space=space, question=request.query, limit=request.limit, as_of=request.as_of
            ),
        )

    @handles(FIND_DOCUMENT)
    async def find(self, space: str, request: FindDocumentRequest) -> Document | None:
        """Follow a path."""
        return await self._read(space, lambda tx: tree.resolve(tx, space=space, path=request.path, as_of=request.as_of))

    @handles(CHILDREN)
    async def children(self, space: str, request: ChildrenRequest) -> list[Document]:
        """Return the children of a document, or the top of the tree."""
        return await self._read(
            space, lambda tx: documents.children(tx, space=space, parent=request.document_id, as_of=request.as_of)
        )

    @handles(GET_DOCUMENT)
    async def get(self, space: str, request: GetDocumentRequest) -> Document:
        """Return a document."""
        return await self._read(
            space, lambda tx: tree.get(tx, space=space, document_id=request.document_id, as_of=request.as_of)
        )

    @handles(CREATE_DOCUMENT)
    async def create(self, space: str, request: CreateDocumentRequest) -> Document:
        """Write a new document."""
        named = None if request.document_id is None else checked_name(request.document_id, "a document's id")

        def body(tx: Tx) -> Document:
            by = self._told(request.by or written_by(request.agent))
            return tree.create(tx, self._cut(request.draft), space=space, by=by, document_id=named)

        return await self._once(space, request, "create", named, body)

    @handles(UPDATE_DOCUMENT)
    async def update(self, space: str, request: UpdateDocumentRequest) -> Document:
        """Write the next version of a document."""

        def body(tx: Tx) -> Document:
            cut = self._cut(request.draft)
            by = self._told(_carried(tx, space, request) if request.by is None else request.by)
            return tree.update(tx, cut, space=space, document_id=request.document_id, expected=request.expected, by=by)

        return await self._once(space, request, "update", request.document_id, body)

    @handles(WRITTEN)
    async def written(self, space: str, request: WrittenRequest) -> Document | None:
        """Return what was written with an idempotency key."""
        key = self._redactor.redact(request.key)

        def body(tx: Tx) -> Document | None:
            done = documents.operation(tx, space=space, key=key)
            return None if done is None else _version(tx, done, space=space)

        return await self._read(space, body)

    async def correct(self, space: str, request: CorrectRequest) -> Corrected:
        """Write the next version of a document with another text."""
        name, number = request.ref.id, request.ref.number

        def body(tx: Tx) -> Corrected:
            current = tree.get(tx, space=space, document_id=name)
            if current.version != number:
                raise Stale(f"document {name} is now at version {current.version}.", current=current.version)
            draft = self._cut(replace(current.draft(), body=request.text.rstrip("\n")))
            if draft.body == current.body:
                return Corrected(ref=request.ref, previous=request.ref, text=current.body)
            change = UpdateDocumentRequest(document_id=name, draft=draft, expected=number, reason="corrected")
            by = self._told(_carried(tx, space, change))
            new = tree.update(tx, draft, space=space, document_id=name, expected=number, by=by)
            return Corrected(ref=Ref(RefKind.DOCUMENT, new.id, new.version), previous=request.ref, text=new.body)

        return await self._write(space, body)

    @handles(DELETE_DOCUMENT)
    async def delete(self, space: str, request: DeleteDocumentRequest) -> None:
        """End a document that nothing depends on."""
        name = request.document_id

        def body(tx: Tx) -> Document:
            current = tree.get(tx, space=space, document_id=name)
            tree.delete(tx, space=space, document_id=name, expected=request.expected, author=Author())
            return current

        try:
            await self._once(space, request, "delete", name, body)
        except NotFound:
            if not request.missing_ok:
                raise

    @handles(RESTORE_DOCUMENT)
    async def restore(self, space: str, request: RestoreDocumentRequest) -> Document:
        """Write an old version again as the newest."""
        author = Author(reason=f"restored version {request.version}")
        return await self._write(
            space,
            lambda tx: tree.restore(
                tx,
                space=space,
                document_id=request.document_id,
                version=request.version,
                expected=request.expected,
                author=author,
            ),
        )

    @handles(DOCUMENT_VERSIONS)
    async def versions(self, space: str, request: DocumentRequest) -> list[Document]:
        """Return every version of a document, the oldest first."""
        return await self._read(space, lambda tx: documents.versions(tx, space=space, document_id=request.document_id))

    @handles(DIFF_DOCUMENT)
    async def diff(self, space: str, request: DiffDocumentRequest) -> str:
        """Compare two versions, line by line."""
        asked = {request.before, request.after} - {0}
        versions = await self._read(
            space,
            lambda tx: document_pages.some_versions(tx, space=space, document_id=request.document_id, versions=asked),
        )
        for version in sorted(asked - set(versions)):
            raise NotFound(f"document {request.document_id!r} has no version {version}.")
        # On a thread: comparing long texts takes a while, and must not block the event loop.
        return await to_thread.run_sync(diff_of, versions.get(request.before), versions.get(request.after))

    @handles(OUTLINE)
    async def outline(self, space: str, request: OutlineRequest) -> OutlinePage:
        """Return a page of the documents below one, without their texts."""
        return await self._read(
            space,
            lambda tx: document_pages.outline(
                tx,
                space=space,
                parent=request.document_id,
                as_of=request.as_of,
                after=request.after,
                limit=request.limit,
            ),
        )

    @handles(DOCUMENT_HISTORY)
    async def history(self, space: str, request: DocumentHistoryRequest) -> HistoryPage:
        """Return a page of the versions of a document, without their texts."""
        return await self._read(
            space,
            lambda tx: document_pages.history(
                tx, space=space, document_id=request.document_id, after=request.after, limit=request.limit
            ),
        )

    @handles(BLAME)
    async def blame(self, space: str, request: BlameRequest) -> Blame:
        """Explain each line by the version that brought it."""
        return await self._read(
            space, lambda tx: blame(tx, space=space, document_id=request.document_id, version=request.version)
        )

    @handles(DOCUMENT_SOURCES)
    async def sources(self, space: str, request: DocumentSourcesRequest) -> list[DocumentSource]:
        """Return what a version rests on."""
        return await self._read(
            space,
            lambda tx: documents.sources(tx, space=space, document_id=request.document_id, version=request.version),
        )

    @handles(FILES)
    async def files(self, space: str, request: Empty) -> dict[str, str]:
        """Return the memory of the space as files by name."""
        del request
        return await self._read(space, lambda tx: files.exported(tx, space=space))

    @handles(LIST_CHANGES)
    async def changes(self, space: str, request: ListChangesRequest) -> list[ChangeSet]:
        """List what consolidations changed or propose to change."""
        return await self._read(space, lambda tx: consolidation.change_sets(tx, space=space, limit=request.limit))

    @handles(APPROVE)
    async def approve(self, space: str, request: ApproveChangeRequest) -> None:
        """Apply a change set that was held, or some of its changes."""

        def body(tx: Tx) -> None:
            facts.lock(tx, space=space)
            held = _set_status(tx, space, request.run, was=ChangeStatus.HELD, status=ChangeStatus.APPLIED)
            held = self._edited(_chosen(held, request.paths), request.texts or {})
            reason = "approved with edits" if request.texts else "approved"
            author = Author(kind="job", id="writer", reason=reason, run=request.run)
            written = changes.apply(tx, held.changes, space=space, author=author, quoted=False)
            consolidation.keep_written(tx, held, space=space, written=written)
            snapshot = consolidation.snapshot_of(tx, space=space, run=request.run)
            consolidation.mark_seen(tx, space=space, snapshot=snapshot)

        await self._write(space, body)

    @handles(REJECT)
    async def reject(self, space: str, request: ChangeRequest) -> None:
        """Discard a change set that was held."""

        def body(tx: Tx) -> None:
            held = _found(tx, space, request.run)
            if not consolidation.reject(tx, held, space=space):
                raise _in_another_state(held, ChangeStatus.HELD)

        await self._write(space, body)

    @handles(UNDO)
    async def undo(self, space: str, request: ChangeRequest) -> None:
        """Restore the tree to what it was before a run."""

        def body(tx: Tx) -> None:
            facts.lock(tx, space=space)
            _set_status(tx, space, request.run, was=ChangeStatus.APPLIED, status=ChangeStatus.UNDONE)
            changes.undo(tx, space=space, run=request.run)

        await self._write(space, body)

    async def _once(
        self, space: str, request: KeyedRequest, kind: str, document_id: str | None, body: Callable[[Tx], Document]
    ) -> Document:
        """Write a document, unless that was done under the request's key: then return what was written."""
        key = None if request.idempotency_key is None else self._redactor.redact(request.idempotency_key)
        if key is None:
            return await self._write(space, body)

        def keyed(tx: Tx) -> Document:
            facts.lock(tx, space=space)  # or the same write, sent twice at a time, would find itself overtaken
            before = documents.operation(tx, space=space, key=key)
            if before is None:
                erasures.check_keys(tx, DOCUMENT_KEY, [key], space=space)
                made = body(tx)
                documents.record_operation(
                    tx, documents.DocumentOperation(kind, made.id, made.version), space=space, key=key
                )
                return made
            if before.kind != kind or document_id not in (None, before.document_id):
                hint = "Use a new key for a new write; repeat a key only with the write it was made for."
                raise Conflict(f"the idempotency key {key!r} already belongs to another write.", hint=hint)
            return _version(tx, before, space=space)

        try:
            return await self._write(space, keyed)
        except Duplicate:  # another task wrote it meanwhile under this key
            return await self._write(space, keyed)

    def _edited(self, held: ChangeSet, texts: Mapping[str, str]) -> ChangeSet:
        """Return a change set with some documents in other words. Raises `Invalid` for one that it does not write."""
        written = [change.path for change in held.changes if change.draft is not None]
        unknown = next((path for path in texts if path not in written), None)
        if unknown is not None:
            raise Invalid(
                f"the change set {held.run} does not write {unknown!r}.", hint=f"It has {', '.join(written)}."
            )

        def worded(change: Change) -> Change:
            if change.draft is None or change.path not in texts:
                return change
            return replace(change, draft=self._cut(replace(change.draft, body=texts[change.path])))

        return replace(held, changes=tuple(map(worded, held.changes)))

    def _cut(self, draft: DocumentDraft) -> DocumentDraft:
        cut = self._redactor.redact
        return replace(
            draft,
            title=cut(clean(draft.title)),
            description=cut(clean(draft.description)),
            body=cut(clean(draft.body)),
            tags=tuple(cut(clean(tag)) for tag in draft.tags),
            metadata=json.loads(canonical_json(draft.metadata, lambda text: cut(clean(text)))),
        )

    def _told(self, by: Provenance | None) -> Provenance:
        by = by or Provenance()
        return replace(by, author=replace(by.author, reason=self._redactor.redact(clean(by.author.reason))))

    async def _write(self, space: str, body: Callable[[Tx], T]) -> T:
        return await self._database.transact(body, space=space)

    async def _read(self, space: str, body: Callable[[Tx], T]) -> T:
        return await self._database.transact(body, space=space, read=True)


def _version(tx: Tx, done: documents.DocumentOperation, *, space: str) -> Document:
    found = document_pages.some_versions(tx, space=space, document_id=done.document_id, versions={done.version})
    if done.version not in found:
        raise NotFound(f"version {done.version} of document {done.document_id!r} is gone.")
    return found[done.version]


def written_by(agent: str | None) -> Provenance:
    """Return where a text comes from: the user, or an agent, whose word is never the user's."""
    if agent is None:
        return Provenance()
    return Provenance(author=Author(kind="agent", id=agent), origin=Origin("assistant"))


def _carried(tx: Tx, space: str, request: UpdateDocumentRequest) -> Provenance:
    # An editor takes over the existing text: it must still be removed when its sources are forgotten.
    by = written_by(request.agent)
    by = replace(by, author=replace(by.author, reason=request.reason))
    current = documents.find(tx, space=space, document_id=request.document_id)
    if current is None or current.redacted:
        return by
    behind = documents.sources(tx, space=space, document_id=request.document_id, version=current.version)
    return replace(by, origin=lowest([by.origin, current.origin]), sources=tuple(behind))


def _set_status(tx: Tx, space: str, run: str, *, was: ChangeStatus, status: ChangeStatus) -> ChangeSet:
    found = _found(tx, space, run)
    if not consolidation.set_change_status(tx, space=space, run=run, was=was, status=status):
        raise _in_another_state(found, was)
    return found


def _in_another_state(found: ChangeSet, wanted: ChangeStatus) -> Conflict:
    return Conflict(
        f"the change set {found.run} is {found.status}, not {wanted}.",
        hint="Somebody was quicker. List the change sets to see how each stands.",
    )


def _chosen(held: ChangeSet, paths: Sequence[str] | None) -> ChangeSet:
    """Return a change set with the changes of some documents only. Raises `Invalid` for a path it does not have."""
    if paths is None:
        return held
    known = [change.path for change in held.changes]
    unknown = next((path for path in paths if path not in known), None)
    if unknown is not None or not paths:
        what = "no path is named" if unknown is None else f"the change set {held.run} has no change of {unknown!r}"
        raise Invalid(f"{what}.", hint=f"It has {', '.join(known)}.")
    return replace(held, changes=tuple(change for change in held.changes if change.path in paths))


def _found(tx: Tx, space: str, run: str) -> ChangeSet:
    found = consolidation.find_change_set(tx, space=space, run=run)
    if found is None:
        raise NotFound(f"no change set {run!r} in space {space!r}.")
    return found
