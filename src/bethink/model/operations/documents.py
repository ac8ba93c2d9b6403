"""The verbs of documents: the tree, its versions, and what consolidations change in it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Self

from bethink.base.frozen import frozen
from bethink.model.access import Scope
from bethink.model.blame import Blame
from bethink.model.checks import Cleaned, Length, tuple_from
from bethink.model.consolidation import ChangeSet
from bethink.model.documents import MAX_BODY, Document, DocumentDraft, DocumentEntry, DocumentSource, Provenance
from bethink.model.moments import Moment
from bethink.model.operations.base import (
    Cursor,
    Empty,
    IdempotencyKey,
    KeyedRequest,
    Limit,
    LocalOnly,
    MemoryOperation,
    Name,
    Number,
    Query,
    Request,
    Retry,
    Verb,
    served_by,
)
from bethink.model.pages import HistoryPage, OutlinePage

READ, WRITE, STEER, ERASE = Scope.READ, Scope.WRITE, Scope.STEER, Scope.ERASE


@frozen
class TreeRequest(Request):
    """The whole tree."""

    as_of: Moment | None = None
    """The tree as it stood at this time. A day means its end."""


@frozen
class ListDocumentsRequest(TreeRequest):
    """The whole tree, or a part of it."""

    path_prefix: Annotated[str, Length(0, 10_000)] = ""
    """Only documents whose paths begin with this, such as `~/memory/people/`."""
    limit: Limit | None = None
    """How many documents to return at most, in the order of their paths; all, if left out."""


@frozen
class SearchDocumentsRequest(TreeRequest):
    """Words to look for."""

    query: Query
    """Words that the documents share."""
    limit: Limit = 10
    """How many documents to return at most."""


@frozen
class FindDocumentRequest(TreeRequest):
    """A path to follow."""

    path: Annotated[str, Length(0, 10_000)]
    """A path such as `~/memory/people`."""


@frozen
class ChildrenRequest(TreeRequest):
    """The children of a document."""

    document_id: Name | None = None
    """The document; the top of the tree, if left out."""


@frozen
class DocumentRequest(Request):
    """One document."""

    document_id: Name
    """The document."""


@frozen
class OutlineRequest(ChildrenRequest):
    """A page of the documents below one."""

    limit: Limit = 50
    """How many documents to return at most."""
    after: Cursor = ""
    """Only what follows: the `next` of the previous page."""


@frozen
class DocumentHistoryRequest(DocumentRequest):
    """A page of the versions of a document."""

    limit: Limit = 50
    """How many versions to return at most."""
    after: Cursor = ""
    """Only what follows: the `next` of the previous page."""


@frozen
class BlameRequest(DocumentRequest):
    """A document whose lines to explain."""

    version: Number | None = None
    """The version; the newest, if left out."""


@frozen
class GetDocumentRequest(DocumentRequest):
    """One document at a time."""

    as_of: Moment | None = None
    """The document as it stood at this time. A day means its end."""


@frozen
class WrittenRequest(Request):
    """A write to look for."""

    key: IdempotencyKey
    """The idempotency key that it was sent with."""


@frozen
class CreateDocumentRequest(KeyedRequest):
    """A document to write."""

    draft: DocumentDraft
    """What it says, and where it hangs in the tree."""
    document_id: Name | None = None
    """Its id; one is made, if left out."""
    agent: Name | None = None
    """The agent that wrote it: then it is the assistant's word, not the user's."""
    by: Annotated[Provenance | None, LocalOnly()] = None
    """Who wrote it and what it rests on; the user, if left out."""

    def from_outside(self) -> Self:
        """Return it without `by`."""
        return replace(self, by=None)


@frozen
class UpdateDocumentRequest(KeyedRequest):
    """The next version of a document."""

    document_id: Name
    """The document."""
    draft: DocumentDraft
    """What it says, and where it hangs in the tree."""
    expected: Number
    """The version that it was made from."""
    reason: Annotated[str, Length(0, 200)] = ""
    """Why the user changed it. It is kept with the version."""
    agent: Name | None = None
    """The agent that changed it: then it is the assistant's word from now on, not the user's."""
    by: Annotated[Provenance | None, LocalOnly()] = None
    """Who wrote it and what it rests on; the user, and what the version before rested on, if left out."""

    def from_outside(self) -> Self:
        """Return it without `by`."""
        return replace(self, by=None)


@frozen
class DeleteDocumentRequest(KeyedRequest):
    """A document to end."""

    document_id: Name
    """The document."""
    expected: Number
    """Its current version."""
    missing_ok: bool = False
    """Do nothing, instead of raising `NotFound`, if the document does not exist."""


@frozen
class RestoreDocumentRequest(DocumentRequest):
    """A version to write again."""

    version: Number
    """The version."""
    expected: Number | None
    """The current version; None for a document that was deleted."""


@frozen
class DiffDocumentRequest(DocumentRequest):
    """Two versions to compare."""

    before: Number
    """The one version; 0 is an empty document."""
    after: Number
    """The other version."""


@frozen
class DocumentSourcesRequest(DocumentRequest):
    """A version of a document."""

    version: Number
    """The version."""


@frozen
class ListChangesRequest(Request):
    """A page of change sets."""

    limit: Limit = 100
    """How many change sets to return at most."""


@frozen
class ChangeRequest(Request):
    """One change set."""

    run: Name
    """The run that made it."""


@frozen
class ApproveChangeRequest(ChangeRequest):
    """A change set to apply, whole or in part."""

    paths: tuple[str, ...] | None = None
    """Only the changes of these documents; the others are discarded. All of them, if left out."""
    texts: Mapping[str, Annotated[str, Length(0, MAX_BODY), Cleaned()]] | None = None
    """By path, what a document shall say instead of what was proposed."""

    def __post_init__(self) -> None:
        if self.paths is not None:
            object.__setattr__(self, "paths", tuple_from("paths", self.paths))
        Request.__post_init__(self)


_SPACE = "/spaces/{space}"
_DOCUMENT = f"{_SPACE}/documents/{{document_id}}"
_CHANGE = f"{_SPACE}/change_sets/{{run}}"
_MISSING = "NotFound: if the space has no such document."
_KEY_TAKEN = (
    "Conflict: if the key belongs to another write. "
    "ErasedKey: if what was written with it was erased in the last 30 days."
)
_STALE = "Stale: if `expected` is not the current version."
_UNHELD = "NotFound: if the change set does not exist. Conflict: if it is not held."

TREE: Verb[ListDocumentsRequest, dict[str, DocumentEntry]] = Verb(
    "documents.tree", ListDocumentsRequest, dict[str, DocumentEntry], f"GET {_SPACE}/documents", READ, Retry.SAFE,
    "Return every document by its path, without its text.",
)  # fmt: skip
SEARCH_DOCUMENTS: Verb[SearchDocumentsRequest, list[Document]] = Verb(
    "documents.search", SearchDocumentsRequest, list[Document], f"POST {_SPACE}/documents/search", READ, Retry.SAFE,
    "Return the documents that share words with a query, the best match first.",
    operation=MemoryOperation.SEARCH,
)  # fmt: skip
FIND_DOCUMENT: Verb[FindDocumentRequest, Document | None] = Verb(
    "documents.find", FindDocumentRequest, Document | None, f"POST {_SPACE}/documents/find", READ, Retry.SAFE,
    "Follow a path to a document. Returns None where it leads nowhere.",
)  # fmt: skip
CHILDREN: Verb[ChildrenRequest, list[Document]] = Verb(
    "documents.children", ChildrenRequest, list[Document], f"GET {_SPACE}/children", READ, Retry.SAFE,
    "Return the children of a document, or the top of the tree, ordered by name.",
    positional=("document_id",),
)  # fmt: skip
OUTLINE: Verb[OutlineRequest, OutlinePage] = Verb(
    "documents.outline", OutlineRequest, OutlinePage, f"GET {_SPACE}/outline", READ, Retry.SAFE,
    "Return the children of a document, or the top of the tree, without texts, each with how many stand below it.",
    positional=("document_id",),
)  # fmt: skip
GET_DOCUMENT: Verb[GetDocumentRequest, Document] = Verb(
    "documents.get", GetDocumentRequest, Document, f"GET {_DOCUMENT}", READ, Retry.SAFE,
    "Return a document.",
    raises=_MISSING,
)  # fmt: skip
CREATE_DOCUMENT: Verb[CreateDocumentRequest, Document] = Verb(
    "documents.create", CreateDocumentRequest, Document, f"POST {_SPACE}/documents", WRITE, Retry.IDEMPOTENT,
    "Write a new document. Secrets are cut out of its text first.",
    status=201, operation=MemoryOperation.CREATE,
    raises=f"Duplicate: if the id or the path is taken. {_KEY_TAKEN}",
)  # fmt: skip
UPDATE_DOCUMENT: Verb[UpdateDocumentRequest, Document] = Verb(
    "documents.update", UpdateDocumentRequest, Document, f"PUT {_DOCUMENT}", WRITE, Retry.IDEMPOTENT,
    "Write the next version of a document.",
    operation=MemoryOperation.UPDATE,
    raises=f"{_STALE} {_KEY_TAKEN}",
)  # fmt: skip
WRITTEN: Verb[WrittenRequest, Document | None] = Verb(
    "documents.written", WrittenRequest, Document | None, f"POST {_SPACE}/documents/written", READ, Retry.SAFE,
    "Return the version that was written or deleted with an idempotency key, or None.",
)  # fmt: skip
DELETE_DOCUMENT: Verb[DeleteDocumentRequest, None] = Verb(
    "documents.delete", DeleteDocumentRequest, None, f"DELETE {_DOCUMENT}", ERASE, Retry.IDEMPOTENT,
    "End a document that has no children and that no other links to.",
    status=204, operation=MemoryOperation.DELETE,
    raises=f"{_STALE} Conflict: if another document depends on it.",
    details="Its versions remain; `forget` erases them.",
)  # fmt: skip
RESTORE_DOCUMENT: Verb[RestoreDocumentRequest, Document] = Verb(
    "documents.restore", RestoreDocumentRequest, Document, f"POST {_DOCUMENT}/restore", WRITE, Retry.ONCE,
    "Write an old version again as the newest.",
    also_reads=True, operation=MemoryOperation.UPDATE,
    raises=_STALE,
)  # fmt: skip
DOCUMENT_VERSIONS: Verb[DocumentRequest, list[Document]] = Verb(
    "documents.versions", DocumentRequest, list[Document], f"GET {_DOCUMENT}/versions", READ, Retry.SAFE,
    "Return every version of a document, the oldest first: what it said, who wrote it, and why.",
)  # fmt: skip
DOCUMENT_HISTORY: Verb[DocumentHistoryRequest, HistoryPage] = Verb(
    "documents.history", DocumentHistoryRequest, HistoryPage, f"GET {_DOCUMENT}/history", READ, Retry.SAFE,
    "List the versions of a document without their texts, the newest first: when, by whom, and why.",
)  # fmt: skip
BLAME: Verb[BlameRequest, Blame] = Verb(
    "documents.blame", BlameRequest, Blame, f"GET {_DOCUMENT}/blame", READ, Retry.SAFE,
    "Return each line of a document with the version that brought it, and its author and sources.",
    raises=_MISSING,
    details="Up to 200 versions are compared; what is older counts as brought by the last of them.",
)  # fmt: skip
DIFF_DOCUMENT: Verb[DiffDocumentRequest, str] = Verb(
    "documents.diff", DiffDocumentRequest, str, f"GET {_DOCUMENT}/diff", READ, Retry.SAFE,
    "Compare two versions of a document, line by line.",
    raises="NotFound: if the version does not exist.",
)  # fmt: skip
DOCUMENT_SOURCES: Verb[DocumentSourcesRequest, list[DocumentSource]] = Verb(
    "documents.sources", DocumentSourcesRequest, list[DocumentSource], f"GET {_DOCUMENT}/sources", READ, Retry.SAFE,
    "Return what a version rests on: session memories, facts and messages.",
)  # fmt: skip
FILES: Verb[Empty, dict[str, str]] = Verb(
    "documents.files", Empty, dict[str, str], f"GET {_SPACE}/files", READ, Retry.SAFE,
    "Return the memory of the space as files by name, as of the last consolidation.",
)  # fmt: skip
LIST_CHANGES: Verb[ListChangesRequest, list[ChangeSet]] = Verb(
    "documents.changes", ListChangesRequest, list[ChangeSet], f"GET {_SPACE}/change_sets", READ, Retry.SAFE,
    "List what consolidations changed, or propose to change, the newest first.",
)  # fmt: skip
APPROVE: Verb[ApproveChangeRequest, None] = Verb(
    "documents.approve", ApproveChangeRequest, None, f"POST {_CHANGE}/approve", STEER, Retry.ONCE,
    "Apply a change set that was held for review, whole or in part, as it was proposed or in other words.",
    status=204,
    raises=f"{_UNHELD} Stale: if the tree has changed since. Invalid: if it does not have one of the paths.",
)  # fmt: skip
REJECT: Verb[ChangeRequest, None] = Verb(
    "documents.reject", ChangeRequest, None, f"POST {_CHANGE}/reject", STEER, Retry.ONCE,
    "Discard a change set that was held for review, with its text.",
    status=204,
    raises=_UNHELD,
)  # fmt: skip
UNDO: Verb[ChangeRequest, None] = Verb(
    "documents.undo", ChangeRequest, None, f"POST {_CHANGE}/undo", STEER, Retry.ONCE,
    "Restore the tree to what it was before a run.",
    status=204,
    raises="Conflict: if it was changed again since.",
)  # fmt: skip

VERBS = served_by(
    "bethink.memory.documents.service",
    TREE, SEARCH_DOCUMENTS, FIND_DOCUMENT, CHILDREN, OUTLINE, GET_DOCUMENT, CREATE_DOCUMENT, UPDATE_DOCUMENT,
    WRITTEN, DELETE_DOCUMENT, RESTORE_DOCUMENT, DOCUMENT_VERSIONS, DOCUMENT_HISTORY, BLAME, DIFF_DOCUMENT,
    DOCUMENT_SOURCES, FILES, LIST_CHANGES, APPROVE, REJECT, UNDO,
)  # fmt: skip
