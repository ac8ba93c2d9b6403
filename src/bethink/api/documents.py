"""The documents of a space.

Written by tools/make_api.py from the table of operations; change a request there and run it again.
"""

from collections.abc import Iterable, Mapping

from bethink.api.handles import Handle, tuple_of
from bethink.model.blame import Blame
from bethink.model.consolidation import ChangeSet
from bethink.model.documents import Document, DocumentDraft, DocumentEntry, DocumentSource, Provenance
from bethink.model.moments import When, moment
from bethink.model.operations.base import Empty
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
from bethink.model.pages import HistoryPage, OutlinePage


class Documents(Handle):
    """The documents of a space."""

    async def tree(
        self, *, as_of: When | None = None, path_prefix: str = "", limit: int | None = None
    ) -> dict[str, DocumentEntry]:
        """Return every document by its path, without its text.

        Args:
            as_of: The tree as it stood at this time. A day means its end.
            path_prefix: Only documents whose paths begin with this, such as `~/memory/people/`.
            limit: How many documents to return at most, in the order of their paths; all, if left out.
        """
        return await self._run(
            TREE,
            ListDocumentsRequest(as_of=None if as_of is None else moment(as_of), path_prefix=path_prefix, limit=limit),
        )

    async def search(self, query: str, *, as_of: When | None = None, limit: int = 10) -> list[Document]:
        """Return the documents that share words with a query, the best match first.

        Args:
            query: Words that the documents share.
            as_of: The tree as it stood at this time. A day means its end.
            limit: How many documents to return at most.
        """
        return await self._run(
            SEARCH_DOCUMENTS,
            SearchDocumentsRequest(as_of=None if as_of is None else moment(as_of), query=query, limit=limit),
        )

    async def find(self, path: str, *, as_of: When | None = None) -> Document | None:
        """Follow a path to a document. Returns None where it leads nowhere.

        Args:
            path: A path such as `~/memory/people`.
            as_of: The tree as it stood at this time. A day means its end.
        """
        return await self._run(
            FIND_DOCUMENT, FindDocumentRequest(as_of=None if as_of is None else moment(as_of), path=path)
        )

    async def children(self, document_id: str | None = None, *, as_of: When | None = None) -> list[Document]:
        """Return the children of a document, or the top of the tree, ordered by name.

        Args:
            document_id: The document; the top of the tree, if left out.
            as_of: The tree as it stood at this time. A day means its end.
        """
        return await self._run(
            CHILDREN, ChildrenRequest(as_of=None if as_of is None else moment(as_of), document_id=document_id)
        )

    async def outline(
        self, document_id: str | None = None, *, as_of: When | None = None, limit: int = 50, after: str = ""
    ) -> OutlinePage:
        """Return the children of a document, or the top of the tree, without texts, each with how many stand below it.

        Args:
            document_id: The document; the top of the tree, if left out.
            as_of: The tree as it stood at this time. A day means its end.
            limit: How many documents to return at most.
            after: Only what follows: the `next` of the previous page.
        """
        return await self._run(
            OUTLINE,
            OutlineRequest(
                as_of=None if as_of is None else moment(as_of), document_id=document_id, limit=limit, after=after
            ),
        )

    async def get(self, document_id: str, *, as_of: When | None = None) -> Document:
        """Return a document.

        Args:
            document_id: The document.
            as_of: The document as it stood at this time. A day means its end.

        Raises:
            NotFound: if the space has no such document.
        """
        return await self._run(
            GET_DOCUMENT, GetDocumentRequest(document_id=document_id, as_of=None if as_of is None else moment(as_of))
        )

    async def create(
        self,
        draft: DocumentDraft,
        *,
        idempotency_key: str | None = None,
        document_id: str | None = None,
        agent: str | None = None,
        by: Provenance | None = None,
    ) -> Document:
        """Write a new document. Secrets are cut out of its text first.

        Args:
            draft: What it says, and where it hangs in the tree.
            idempotency_key: Repeating a request with the same key stores nothing twice.
            document_id: Its id; one is made, if left out.
            agent: The agent that wrote it: then it is the assistant's word, not the user's.
            by: Who wrote it and what it rests on; the user, if left out.

        Raises:
            Duplicate: if the id or the path is taken.
            Conflict: if the key belongs to another write.
            ErasedKey: if what was written with it was erased in the last 30 days.
        """
        return await self._run(
            CREATE_DOCUMENT,
            CreateDocumentRequest(
                idempotency_key=idempotency_key, draft=draft, document_id=document_id, agent=agent, by=by
            ),
        )

    async def update(
        self,
        document_id: str,
        draft: DocumentDraft,
        expected: int,
        *,
        idempotency_key: str | None = None,
        reason: str = "",
        agent: str | None = None,
        by: Provenance | None = None,
    ) -> Document:
        """Write the next version of a document.

        Args:
            document_id: The document.
            draft: What it says, and where it hangs in the tree.
            expected: The version that it was made from.
            idempotency_key: Repeating a request with the same key stores nothing twice.
            reason: Why the user changed it. It is kept with the version.
            agent: The agent that changed it: then it is the assistant's word from now on, not the user's.
            by: Who wrote it and what it rests on; the user, and what the version before rested on, if left out.

        Raises:
            Stale: if `expected` is not the current version.
            Conflict: if the key belongs to another write.
            ErasedKey: if what was written with it was erased in the last 30 days.
        """
        return await self._run(
            UPDATE_DOCUMENT,
            UpdateDocumentRequest(
                idempotency_key=idempotency_key,
                document_id=document_id,
                draft=draft,
                expected=expected,
                reason=reason,
                agent=agent,
                by=by,
            ),
        )

    async def written(self, key: str) -> Document | None:
        """Return the version that was written or deleted with an idempotency key, or None.

        Args:
            key: The idempotency key that it was sent with.
        """
        return await self._run(WRITTEN, WrittenRequest(key=key))

    async def delete(
        self, document_id: str, expected: int, *, idempotency_key: str | None = None, missing_ok: bool = False
    ) -> None:
        """End a document that has no children and that no other links to.

        Its versions remain; `forget` erases them.

        Args:
            document_id: The document.
            expected: Its current version.
            idempotency_key: Repeating a request with the same key stores nothing twice.
            missing_ok: Do nothing, instead of raising `NotFound`, if the document does not exist.

        Raises:
            Stale: if `expected` is not the current version.
            Conflict: if another document depends on it.
        """
        return await self._run(
            DELETE_DOCUMENT,
            DeleteDocumentRequest(
                idempotency_key=idempotency_key, document_id=document_id, expected=expected, missing_ok=missing_ok
            ),
        )

    async def restore(self, document_id: str, version: int, expected: int | None) -> Document:
        """Write an old version again as the newest.

        Args:
            document_id: The document.
            version: The version.
            expected: The current version; None for a document that was deleted.

        Raises:
            Stale: if `expected` is not the current version.
        """
        return await self._run(
            RESTORE_DOCUMENT, RestoreDocumentRequest(document_id=document_id, version=version, expected=expected)
        )

    async def versions(self, document_id: str) -> list[Document]:
        """Return every version of a document, the oldest first: what it said, who wrote it, and why.

        Args:
            document_id: The document.
        """
        return await self._run(DOCUMENT_VERSIONS, DocumentRequest(document_id=document_id))

    async def history(self, document_id: str, *, limit: int = 50, after: str = "") -> HistoryPage:
        """List the versions of a document without their texts, the newest first: when, by whom, and why.

        Args:
            document_id: The document.
            limit: How many versions to return at most.
            after: Only what follows: the `next` of the previous page.
        """
        return await self._run(
            DOCUMENT_HISTORY, DocumentHistoryRequest(document_id=document_id, limit=limit, after=after)
        )

    async def blame(self, document_id: str, *, version: int | None = None) -> Blame:
        """Return each line of a document with the version that brought it, and its author and sources.

        Up to 200 versions are compared; what is older counts as brought by the last of them.

        Args:
            document_id: The document.
            version: The version; the newest, if left out.

        Raises:
            NotFound: if the space has no such document.
        """
        return await self._run(BLAME, BlameRequest(document_id=document_id, version=version))

    async def diff(self, document_id: str, before: int, after: int) -> str:
        """Compare two versions of a document, line by line.

        Args:
            document_id: The document.
            before: The one version; 0 is an empty document.
            after: The other version.

        Raises:
            NotFound: if the version does not exist.
        """
        return await self._run(DIFF_DOCUMENT, DiffDocumentRequest(document_id=document_id, before=before, after=after))

    async def sources(self, document_id: str, version: int) -> list[DocumentSource]:
        """Return what a version rests on: session memories, facts and messages.

        Args:
            document_id: The document.
            version: The version.
        """
        return await self._run(DOCUMENT_SOURCES, DocumentSourcesRequest(document_id=document_id, version=version))

    async def files(self) -> dict[str, str]:
        """Return the memory of the space as files by name, as of the last consolidation."""
        return await self._run(FILES, Empty())

    async def changes(self, *, limit: int = 100) -> list[ChangeSet]:
        """List what consolidations changed, or propose to change, the newest first.

        Args:
            limit: How many change sets to return at most.
        """
        return await self._run(LIST_CHANGES, ListChangesRequest(limit=limit))

    async def approve(
        self, run: str, *, paths: Iterable[str] | None = None, texts: Mapping[str, str] | None = None
    ) -> None:
        """Apply a change set that was held for review, whole or in part, as it was proposed or in other words.

        Args:
            run: The run that made it.
            paths: Only the changes of these documents; the others are discarded. All of them, if left out.
            texts: By path, what a document shall say instead of what was proposed.

        Raises:
            NotFound: if the change set does not exist.
            Conflict: if it is not held.
            Stale: if the tree has changed since.
            Invalid: if it does not have one of the paths.
        """
        return await self._run(
            APPROVE, ApproveChangeRequest(run=run, paths=None if paths is None else tuple_of(paths), texts=texts)
        )

    async def reject(self, run: str) -> None:
        """Discard a change set that was held for review, with its text.

        Args:
            run: The run that made it.

        Raises:
            NotFound: if the change set does not exist.
            Conflict: if it is not held.
        """
        return await self._run(REJECT, ChangeRequest(run=run))

    async def undo(self, run: str) -> None:
        """Restore the tree to what it was before a run.

        Args:
            run: The run that made it.

        Raises:
            Conflict: if it was changed again since.
        """
        return await self._run(UNDO, ChangeRequest(run=run))
