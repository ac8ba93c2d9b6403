"""Operations on documents: read, write, compare and restore."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Self, TypeVar

from anyio import to_thread

from bethink.errors import ConflictError, DuplicateError, NotFoundError, VersionConflictError
from bethink.extend import Redactor
from bethink.memory.documents import files, tree
from bethink.memory.documents.blame import blame
from bethink.memory.documents.drafts import redact_draft, redact_provenance
from bethink.memory.registry import Host, handles
from bethink.model.blame import Blame
from bethink.model.documents import (
    Author,
    Document,
    DocumentDraft,
    DocumentEntry,
    DocumentSource,
    Provenance,
    TreeEntry,
    diff_of,
)
from bethink.model.erasures import DOCUMENT_KEY
from bethink.model.operations.base import Empty, KeyedRequest
from bethink.model.operations.documents import (
    BLAME,
    CREATE_DOCUMENT,
    DELETE_DOCUMENT,
    DIFF_DOCUMENT,
    DOCUMENT_HISTORY,
    DOCUMENT_SOURCES,
    DOCUMENT_VERSIONS,
    FIND_DOCUMENT,
    GET_DOCUMENT,
    LIST_CHILDREN,
    LIST_DOCUMENTS,
    OUTLINE,
    READ_ALL_DOCUMENTS,
    RESTORE_DOCUMENT,
    SEARCH_DOCUMENTS,
    UPDATE_DOCUMENT,
    BlameRequest,
    CreateDocumentRequest,
    DeleteDocumentRequest,
    DiffDocumentRequest,
    DocumentHistoryRequest,
    DocumentRequest,
    DocumentSourcesRequest,
    FindDocumentRequest,
    GetDocumentRequest,
    ListChildrenRequest,
    ListDocumentsRequest,
    OutlineRequest,
    RestoreDocumentRequest,
    SearchDocumentsRequest,
    UpdateDocumentRequest,
)
from bethink.model.operations.memory import CorrectRequest
from bethink.model.pages import OutlineEntry
from bethink.model.paging import Page, page_of
from bethink.model.recall import Correction
from bethink.model.records import Origin, checked_name
from bethink.model.rules import least_trusted
from bethink.model.text import clean
from bethink.store import document_pages, documents, erasures, facts
from bethink.store.db import Database, Tx

T = TypeVar("T")


class DocumentService:
    """The documents of every space. A write states the version that was read, and is rejected if that is stale."""

    def __init__(self, database: Database, *, redactor: Redactor) -> None:
        self._database = database
        self._redactor = redactor

    @classmethod
    def from_host(cls, host: Host) -> Self:
        """Create the service from the parts of an open memory."""
        return cls(host.database, redactor=host.redactor)

    @handles(LIST_DOCUMENTS)
    async def list_documents(self, space: str, request: ListDocumentsRequest) -> Page[TreeEntry]:
        """List documents without their texts, ordered by path."""
        entries = await self._query(space, lambda tx: tree.entries(tx, space=space, as_of=request.view.written_by))
        listed = [
            TreeEntry(path=path, **{field.name: getattr(entry, field.name) for field in fields(DocumentEntry)})
            for path, entry in sorted(entries.items())
            if path.startswith(request.prefix) and path > request.after
        ]
        return page_of(listed, request.limit or len(listed), lambda entry: entry.path)

    @handles(SEARCH_DOCUMENTS)
    async def search(self, space: str, request: SearchDocumentsRequest) -> list[Document]:
        """Return the documents that share words with a query."""
        return await self._query(
            space,
            lambda tx: documents.search(
                tx, space=space, question=request.query, limit=request.limit, view=request.view
            ),
        )

    @handles(FIND_DOCUMENT)
    async def find(self, space: str, request: FindDocumentRequest) -> Document | None:
        """Return the document at a path, or the one written with an idempotency key."""
        path, key = request.path, request.idempotency_key
        if key is not None:
            return await self._query(space, lambda tx: _written_with(tx, space=space, key=self._redactor.redact(key)))
        return await self._query(
            space, lambda tx: tree.resolve(tx, space=space, path=path or "", as_of=request.view.written_by)
        )

    @handles(LIST_CHILDREN)
    async def children(self, space: str, request: ListChildrenRequest) -> list[Document]:
        """Return the children of a document, or the top of the tree."""
        return await self._query(
            space,
            lambda tx: documents.children(tx, space=space, parent=request.document_id, as_of=request.view.written_by),
        )

    @handles(GET_DOCUMENT)
    async def get(self, space: str, request: GetDocumentRequest) -> Document:
        """Return a document."""
        return await self._query(
            space, lambda tx: tree.get(tx, space=space, document_id=request.document_id, as_of=request.view.written_by)
        )

    @handles(CREATE_DOCUMENT)
    async def create(self, space: str, request: CreateDocumentRequest) -> Document:
        """Write a new document."""
        document_id = None if request.document_id is None else checked_name(request.document_id, "a document's id")
        draft = await self._redact(space, request.draft)
        provenance = redact_provenance(request.provenance or written_by(request.agent), self._redactor)

        def body(tx: Tx) -> Document:
            return tree.create(tx, draft, space=space, provenance=provenance, document_id=document_id)

        return await self._once(space, request, "create", document_id, body)

    @handles(UPDATE_DOCUMENT)
    async def update(self, space: str, request: UpdateDocumentRequest) -> Document:
        """Write the next version of a document."""
        draft = await self._redact(space, request.draft)

        def body(tx: Tx) -> Document:
            provenance = _inherited_provenance(tx, space, request) if request.provenance is None else request.provenance
            return tree.update(
                tx,
                draft,
                space=space,
                document_id=request.document_id,
                expected=request.if_version,
                provenance=redact_provenance(provenance, self._redactor),
            )

        return await self._once(space, request, "update", request.document_id, body)

    async def correct(self, space: str, request: CorrectRequest) -> Correction:
        """Write the next version of a document with another text."""
        name, number = request.ref.id, request.ref.number
        text = request.text.rstrip("\n")
        text = await self._database.lanes.run(space, len(text), lambda: self._redactor.redact(clean(text)))

        def body(tx: Tx) -> Correction:
            current = tree.get(tx, space=space, document_id=name)
            if current.version != number:
                raise VersionConflictError(
                    f"Document {name} is now at version {current.version}.", current=current.version
                )
            draft = replace(current.draft(), body=text)
            if draft.body == current.body:
                return Correction(ref=request.ref, previous=request.ref, text=current.body)
            change = UpdateDocumentRequest(document_id=name, draft=draft, if_version=number, reason="corrected")
            provenance = redact_provenance(_inherited_provenance(tx, space, change), self._redactor)
            new = tree.update(tx, draft, space=space, document_id=name, expected=number, provenance=provenance)
            return Correction(ref=new.ref, previous=request.ref, text=new.body)

        return await self._write(space, body)

    @handles(DELETE_DOCUMENT)
    async def delete(self, space: str, request: DeleteDocumentRequest) -> None:
        """End a document that nothing depends on."""
        name = request.document_id

        def body(tx: Tx) -> Document:
            current = tree.get(tx, space=space, document_id=name)
            tree.delete(tx, space=space, document_id=name, expected=request.if_version, author=Author())
            return current

        try:
            await self._once(space, request, "delete", name, body)
        except NotFoundError:
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
                expected=request.if_version,
                author=author,
            ),
        )

    @handles(DOCUMENT_VERSIONS)
    async def versions(self, space: str, request: DocumentRequest) -> list[Document]:
        """Return every version of a document, the oldest first."""
        return await self._query(space, lambda tx: documents.versions(tx, space=space, document_id=request.document_id))

    @handles(DIFF_DOCUMENT)
    async def diff(self, space: str, request: DiffDocumentRequest) -> str:
        """Compare two versions, line by line."""
        requested = {request.before, request.after} - {0}
        versions = await self._query(
            space,
            lambda tx: document_pages.some_versions(
                tx, space=space, document_id=request.document_id, versions=requested
            ),
        )
        for version in sorted(requested - set(versions)):
            raise NotFoundError(f"Document {request.document_id!r} has no version {version}.")
        # On a thread: comparing long texts takes a while, and must not block the event loop.
        return await to_thread.run_sync(diff_of, versions.get(request.before), versions.get(request.after))

    @handles(OUTLINE)
    async def outline(self, space: str, request: OutlineRequest) -> Page[OutlineEntry]:
        """Return a page of the documents below one, without their texts."""
        return await self._query(
            space,
            lambda tx: document_pages.outline(
                tx,
                space=space,
                parent=request.document_id,
                as_of=request.view.written_by,
                after=request.after,
                limit=request.limit,
            ),
        )

    @handles(DOCUMENT_HISTORY)
    async def history(self, space: str, request: DocumentHistoryRequest) -> Page[DocumentEntry]:
        """Return a page of the versions of a document, without their texts."""
        return await self._query(
            space,
            lambda tx: document_pages.history(
                tx, space=space, document_id=request.document_id, after=request.after, limit=request.limit
            ),
        )

    @handles(BLAME)
    async def blame(self, space: str, request: BlameRequest) -> Blame:
        """Return the version that introduced each line."""
        return await self._query(
            space, lambda tx: blame(tx, space=space, document_id=request.document_id, version=request.version)
        )

    @handles(DOCUMENT_SOURCES)
    async def sources(self, space: str, request: DocumentSourcesRequest) -> list[DocumentSource]:
        """Return the sources of a version."""
        return await self._query(
            space,
            lambda tx: documents.sources(tx, space=space, document_id=request.document_id, version=request.version),
        )

    @handles(READ_ALL_DOCUMENTS)
    async def files(self, space: str, request: Empty) -> dict[str, str]:
        """Return the memory of the space as files by name."""
        del request
        return await self._query(space, lambda tx: files.export_files(tx, space=space))

    async def _once(
        self, space: str, request: KeyedRequest, kind: str, document_id: str | None, body: Callable[[Tx], Document]
    ) -> Document:
        """Write a document, unless that was done with the request's key: then return that document."""
        key = None if request.idempotency_key is None else self._redactor.redact(request.idempotency_key)
        if key is None:
            return await self._write(space, body)

        def write_once(tx: Tx) -> Document:
            facts.lock(tx, space=space)  # otherwise two concurrent copies of the same write would conflict
            before = documents.operation(tx, space=space, key=key)
            if before is None:
                erasures.check_keys(tx, DOCUMENT_KEY, [key], space=space)
                document = body(tx)
                documents.record_operation(
                    tx, documents.DocumentOperation(kind, document.id, document.version), space=space, key=key
                )
                return document
            if before.kind != kind or document_id not in (None, before.document_id):
                hint = "Use a new key for a new write; repeat a key only with the same write."
                raise ConflictError(f"The idempotency key {key!r} already belongs to another write.", hint=hint)
            return _version(tx, before, space=space)

        try:
            return await self._write(space, write_once)
        except DuplicateError:  # another task wrote it in the meantime with this key
            return await self._write(space, write_once)

    async def _redact(self, space: str, draft: DocumentDraft) -> DocumentDraft:
        size = len(draft.body) + (len(repr(draft.metadata)) if draft.metadata else 0)
        return await self._database.lanes.run(space, size, lambda: redact_draft(draft, self._redactor))

    async def _write(self, space: str, body: Callable[[Tx], T]) -> T:
        return await self._database.transact(body, space=space)

    async def _query(self, space: str, body: Callable[[Tx], T]) -> T:
        return await self._database.transact(body, space=space, read_only=True)


def _written_with(tx: Tx, *, space: str, key: str) -> Document | None:
    done = documents.operation(tx, space=space, key=key)
    return None if done is None else _version(tx, done, space=space)


def _version(tx: Tx, done: documents.DocumentOperation, *, space: str) -> Document:
    versions = document_pages.some_versions(tx, space=space, document_id=done.document_id, versions={done.version})
    if done.version not in versions:
        raise NotFoundError(f"Version {done.version} of document {done.document_id!r} was deleted.")
    return versions[done.version]


def written_by(agent: str | None) -> Provenance:
    """Return the provenance of a text: the user, or an agent, which never speaks for the user."""
    if agent is None:
        return Provenance()
    return Provenance(author=Author(kind="agent", id=agent), origin=Origin("assistant"))


def _inherited_provenance(tx: Tx, space: str, request: UpdateDocumentRequest) -> Provenance:
    # An editor takes over the existing text: it must still be removed when its sources are deleted.
    provenance = written_by(request.agent)
    provenance = replace(provenance, author=replace(provenance.author, reason=request.reason))
    current = documents.find(tx, space=space, document_id=request.document_id)
    if current is None or current.redacted:
        return provenance
    behind = documents.sources(tx, space=space, document_id=request.document_id, version=current.version)
    return replace(provenance, origin=least_trusted([provenance.origin, current.origin]), sources=tuple(behind))
