"""Operations on documents: the tree, versions, and changes from consolidation."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Self

from bethink.base.frozen import frozen
from bethink.errors import InvalidRequestError
from bethink.model.access import Scope
from bethink.model.blame import Blame
from bethink.model.checks import Cleaned, Length, tuple_from
from bethink.model.consolidation import ChangeSet
from bethink.model.documents import (
    MAX_BODY,
    Document,
    DocumentDraft,
    DocumentEntry,
    DocumentSource,
    Provenance,
    TreeEntry,
)
from bethink.model.operations.base import (
    Cursor,
    Empty,
    IdempotencyKey,
    KeyedRequest,
    Limit,
    LocalOnly,
    Name,
    Number,
    Operation,
    Query,
    Request,
    Retry,
    SpanName,
    served_by,
)
from bethink.model.operations.viewing import ViewRequest
from bethink.model.pages import OutlineEntry
from bethink.model.paging import Page

READ, WRITE, STEER, ERASE = Scope.READ, Scope.WRITE, Scope.STEER, Scope.ERASE


@frozen
class ListDocumentsRequest(ViewRequest):
    """A page of the document tree."""

    prefix: Annotated[str, Length(0, 10_000)] = ""
    """Start of the path, such as `~/memory/people/` (default: all paths)."""
    limit: Limit | None = None
    """Maximum number of documents (default: all)."""
    after: Cursor = ""
    """Cursor of the next page: the `next` of the previous page."""


@frozen
class SearchDocumentsRequest(ViewRequest):
    """Words to search for in documents."""

    query: Query
    """Words to search for."""
    limit: Limit = 10
    """Maximum number of documents (default 10)."""


@frozen
class FindDocumentRequest(ViewRequest):
    """A path or idempotency key of a document."""

    path: Annotated[str, Length(0, 10_000)] | None = None
    """Path of the document, such as `~/memory/people`."""
    idempotency_key: IdempotencyKey | None = None
    """Idempotency key of the write, instead of a path."""

    def __post_init__(self) -> None:
        Request.__post_init__(self)
        if (self.path is None) == (self.idempotency_key is None):
            raise InvalidRequestError("`find` takes one of `path` and `idempotency_key`.", hint="Pass one of them.")


@frozen
class ListChildrenRequest(ViewRequest):
    """The parent whose children to list."""

    document_id: Name | None = None
    """Id of the parent document (default: the top of the tree)."""


@frozen
class DocumentRequest(Request):
    """One document."""

    document_id: Name
    """Id of the document."""


@frozen
class OutlineRequest(ListChildrenRequest):
    """A page of child documents."""

    limit: Limit = 50
    """Maximum number of documents (default 50)."""
    after: Cursor = ""
    """Cursor of the next page: the `next` of the previous page."""


@frozen
class DocumentHistoryRequest(DocumentRequest):
    """A page of the versions of a document."""

    limit: Limit = 50
    """Maximum number of versions (default 50)."""
    after: Cursor = ""
    """Cursor of the next page: the `next` of the previous page."""


@frozen
class BlameRequest(DocumentRequest):
    """A version of a document to trace line by line."""

    version: Number | None = None
    """Version of the document (default: the newest)."""


@frozen
class GetDocumentRequest(ViewRequest):
    """A document to read."""

    document_id: Name
    """Id of the document."""


@frozen
class CreateDocumentRequest(KeyedRequest):
    """A document to create."""

    draft: DocumentDraft
    """Title, text and position in the tree."""
    document_id: Name | None = None
    """Id of the document (default: a new id)."""
    agent: Name | None = None
    """Agent that wrote the text (default: the user). Text of an agent has the origin `assistant`."""
    provenance: Annotated[Provenance | None, LocalOnly()] = None
    """Author, origin and sources (default: the user, without sources)."""

    def from_outside(self) -> Self:
        """Return the request without `provenance`."""
        return replace(self, provenance=None)


@frozen
class UpdateDocumentRequest(KeyedRequest):
    """The next version of a document."""

    document_id: Name
    """Id of the document."""
    draft: DocumentDraft
    """Title, text and position in the tree."""
    if_version: Number
    """Version that you read: the current version."""
    reason: Annotated[str, Length(0, 200)] = ""
    """Reason for the change, stored with the version."""
    agent: Name | None = None
    """Agent that changed the text (default: the user). The document then has the origin `assistant`."""
    provenance: Annotated[Provenance | None, LocalOnly()] = None
    """Author, origin and sources (default: the user, with the sources of the previous version)."""

    def from_outside(self) -> Self:
        """Return the request without `provenance`."""
        return replace(self, provenance=None)


@frozen
class DeleteDocumentRequest(KeyedRequest):
    """A document to delete."""

    document_id: Name
    """Id of the document."""
    if_version: Number
    """Version that you read: the current version."""
    missing_ok: bool = False
    """Whether to ignore a missing document instead of raising `NotFoundError` (default False)."""


@frozen
class RestoreDocumentRequest(DocumentRequest):
    """A version to restore."""

    version: Number
    """Version to restore."""
    if_version: Number | None
    """Current version; None if the document was deleted."""


@frozen
class DiffDocumentRequest(DocumentRequest):
    """Two versions of a document to compare."""

    before: Number
    """First version; 0 is an empty document."""
    after: Number
    """Second version."""


@frozen
class DocumentSourcesRequest(DocumentRequest):
    """A version whose sources to return."""

    version: Number
    """Version of the document."""


@frozen
class ListDocumentChangesRequest(Request):
    """A page of change sets."""

    limit: Limit = 100
    """Maximum number of change sets (default 100)."""
    after: Cursor = ""
    """Cursor of the next page: the `next` of the previous page."""


@frozen
class DocumentChangeRequest(Request):
    """One change set."""

    run: Name
    """Id of the run that proposed or made the changes."""


@frozen
class ApproveDocumentChangeRequest(DocumentChangeRequest):
    """A change set to approve, entirely or in part."""

    paths: tuple[str, ...] | None = None
    """Paths of the documents to change (default: all). Changes to other documents are discarded."""
    texts: Mapping[str, Annotated[str, Length(0, MAX_BODY), Cleaned()]] | None = None
    """Replacement text for documents, by path."""

    def __post_init__(self) -> None:
        if self.paths is not None:
            object.__setattr__(self, "paths", tuple_from("paths", self.paths))
        Request.__post_init__(self)


_SPACE = "/spaces/{space}"
_DOCUMENT = f"{_SPACE}/documents/{{document_id}}"
_CHANGE = f"{_SPACE}/change_sets/{{run}}"
_NOT_FOUND = "NotFoundError: if the space has no such document."
_KEY_CONFLICT = (
    "ConflictError: if another write used the idempotency key. "
    "ErasedKeyError: if the write with this key was deleted in the last 30 days."
)
_VERSION_CONFLICT = "VersionConflictError: if `if_version` is not the current version."
_NOT_PENDING = "NotFoundError: if the change set does not exist. ConflictError: if the change set is not pending."

LIST_DOCUMENTS: Operation[ListDocumentsRequest, Page[TreeEntry]] = Operation(
    "space.documents.list", ListDocumentsRequest, Page[TreeEntry], f"GET {_SPACE}/documents", READ, Retry.SAFE,
    "List documents, ordered by path, without their text.",
)  # fmt: skip
SEARCH_DOCUMENTS: Operation[SearchDocumentsRequest, list[Document]] = Operation(
    "space.documents.search", SearchDocumentsRequest, list[Document], f"POST {_SPACE}/documents/search", READ,
    Retry.SAFE,
    "Search documents by words. Best match first.",
    span_name=SpanName.SEARCH,
)  # fmt: skip
FIND_DOCUMENT: Operation[FindDocumentRequest, Document | None] = Operation(
    "space.documents.find", FindDocumentRequest, Document | None, f"POST {_SPACE}/documents/find", READ, Retry.SAFE,
    "Return the document at a path or written with an idempotency key, or None.",
    positional=("path",),
)  # fmt: skip
LIST_CHILDREN: Operation[ListChildrenRequest, list[Document]] = Operation(
    "space.documents.children", ListChildrenRequest, list[Document], f"GET {_SPACE}/children", READ, Retry.SAFE,
    "Return the children of a document or of the top of the tree, ordered by name.",
    positional=("document_id",),
)  # fmt: skip
OUTLINE: Operation[OutlineRequest, Page[OutlineEntry]] = Operation(
    "space.documents.outline", OutlineRequest, Page[OutlineEntry], f"GET {_SPACE}/outline", READ, Retry.SAFE,
    "Return child documents without text, each with the number of its own children.",
    positional=("document_id",),
)  # fmt: skip
GET_DOCUMENT: Operation[GetDocumentRequest, Document] = Operation(
    "space.documents.get", GetDocumentRequest, Document, f"GET {_DOCUMENT}", READ, Retry.SAFE,
    "Return a document.",
    raises=_NOT_FOUND,
)  # fmt: skip
CREATE_DOCUMENT: Operation[CreateDocumentRequest, Document] = Operation(
    "space.documents.create", CreateDocumentRequest, Document, f"POST {_SPACE}/documents", WRITE, Retry.IDEMPOTENT,
    "Create a document. Secrets are removed from the text.",
    status=201, span_name=SpanName.CREATE,
    raises=f"DuplicateError: if the id or the path already exists. {_KEY_CONFLICT}",
)  # fmt: skip
UPDATE_DOCUMENT: Operation[UpdateDocumentRequest, Document] = Operation(
    "space.documents.update", UpdateDocumentRequest, Document, f"PUT {_DOCUMENT}", WRITE, Retry.IDEMPOTENT,
    "Write the next version of a document.",
    span_name=SpanName.UPDATE,
    raises=f"{_VERSION_CONFLICT} {_KEY_CONFLICT}",
)  # fmt: skip
DELETE_DOCUMENT: Operation[DeleteDocumentRequest, None] = Operation(
    "space.documents.delete", DeleteDocumentRequest, None, f"DELETE {_DOCUMENT}", ERASE, Retry.IDEMPOTENT,
    "Delete a document without children or incoming links.",
    status=204, span_name=SpanName.DELETE,
    raises=f"{_VERSION_CONFLICT} ConflictError: if the document has children or incoming links.",
    details="Past versions remain readable. `forget` deletes them permanently.",
)  # fmt: skip
RESTORE_DOCUMENT: Operation[RestoreDocumentRequest, Document] = Operation(
    "space.documents.restore", RestoreDocumentRequest, Document, f"POST {_DOCUMENT}/restore", WRITE, Retry.ONCE,
    "Restore an old version as the newest one.",
    also_reads=True, span_name=SpanName.UPDATE,
    raises=_VERSION_CONFLICT,
)  # fmt: skip
DOCUMENT_VERSIONS: Operation[DocumentRequest, list[Document]] = Operation(
    "space.documents.versions", DocumentRequest, list[Document], f"GET {_DOCUMENT}/versions", READ, Retry.SAFE,
    "Return all versions of a document with text, author and reason. Oldest first.",
)  # fmt: skip
DOCUMENT_HISTORY: Operation[DocumentHistoryRequest, Page[DocumentEntry]] = Operation(
    "space.documents.history", DocumentHistoryRequest, Page[DocumentEntry], f"GET {_DOCUMENT}/history", READ,
    Retry.SAFE,
    "List versions of a document with time, author and reason, without text. Newest first.",
)  # fmt: skip
BLAME: Operation[BlameRequest, Blame] = Operation(
    "space.documents.blame", BlameRequest, Blame, f"GET {_DOCUMENT}/blame", READ, Retry.SAFE,
    "Return each line of a document with the version that added it, its author and sources.",
    raises=_NOT_FOUND,
    details="Compares up to 200 versions. Older lines are attributed to the oldest compared version.",
)  # fmt: skip
DIFF_DOCUMENT: Operation[DiffDocumentRequest, str] = Operation(
    "space.documents.diff", DiffDocumentRequest, str, f"GET {_DOCUMENT}/diff", READ, Retry.SAFE,
    "Return the line-by-line difference between two versions of a document.",
    raises="NotFoundError: if the version does not exist.",
)  # fmt: skip
DOCUMENT_SOURCES: Operation[DocumentSourcesRequest, list[DocumentSource]] = Operation(
    "space.documents.sources", DocumentSourcesRequest, list[DocumentSource], f"GET {_DOCUMENT}/sources", READ,
    Retry.SAFE,
    "Return the sources of a version: session summaries, facts and messages.",
)  # fmt: skip
READ_ALL_DOCUMENTS: Operation[Empty, dict[str, str]] = Operation(
    "space.documents.read_all", Empty, dict[str, str], f"GET {_SPACE}/files", READ, Retry.SAFE,
    "Return all memory documents as text by file name, as of the last consolidation.",
)  # fmt: skip
LIST_DOCUMENT_CHANGES: Operation[ListDocumentChangesRequest, Page[ChangeSet]] = Operation(
    "space.documents.changes.list", ListDocumentChangesRequest, Page[ChangeSet], f"GET {_SPACE}/change_sets", READ,
    Retry.SAFE,
    "List applied and pending document changes. Newest first.",
)  # fmt: skip
APPROVE_DOCUMENT_CHANGE: Operation[ApproveDocumentChangeRequest, None] = Operation(
    "space.documents.changes.approve", ApproveDocumentChangeRequest, None, f"POST {_CHANGE}/approve", STEER, Retry.ONCE,
    "Approve pending document changes, entirely, in part or with edited text.",
    status=204,
    raises=(
        f"{_NOT_PENDING} VersionConflictError: if the documents changed since the proposal. "
        "InvalidRequestError: if a path is not in the change set."
    ),
)  # fmt: skip
REJECT_DOCUMENT_CHANGE: Operation[DocumentChangeRequest, None] = Operation(
    "space.documents.changes.reject", DocumentChangeRequest, None, f"POST {_CHANGE}/reject", STEER, Retry.ONCE,
    "Reject pending document changes and discard their text.",
    status=204,
    raises=_NOT_PENDING,
)  # fmt: skip
UNDO_DOCUMENT_CHANGE: Operation[DocumentChangeRequest, None] = Operation(
    "space.documents.changes.undo", DocumentChangeRequest, None, f"POST {_CHANGE}/undo", STEER, Retry.ONCE,
    "Undo the document changes of a run.",
    status=204,
    raises="ConflictError: if a document changed again after the run.",
)  # fmt: skip

OPERATIONS = (
    *served_by(
        "bethink.memory.documents.service",
        LIST_DOCUMENTS, SEARCH_DOCUMENTS, FIND_DOCUMENT, LIST_CHILDREN, OUTLINE, GET_DOCUMENT, CREATE_DOCUMENT,
        UPDATE_DOCUMENT, DELETE_DOCUMENT, RESTORE_DOCUMENT, DOCUMENT_VERSIONS, DOCUMENT_HISTORY, BLAME, DIFF_DOCUMENT,
        DOCUMENT_SOURCES, READ_ALL_DOCUMENTS,
    ),
    *served_by(
        "bethink.memory.documents.change_sets",
        LIST_DOCUMENT_CHANGES, APPROVE_DOCUMENT_CHANGE, REJECT_DOCUMENT_CHANGE, UNDO_DOCUMENT_CHANGE,
    ),
)  # fmt: skip
