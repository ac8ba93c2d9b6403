"""The documents of a space, for people and programs: read, written, compared, taken back, and looked at as of a day."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from anyio import to_thread

from bethink.documents import changes, tree
from bethink.documents import files as artefacts
from bethink.errors import Conflict, NotFound
from bethink.extend import Redactor
from bethink.model.consolidation import ChangeSet, ChangeStatus
from bethink.model.documents import Author, Document, DocumentSource, Draft, Provenance, diff_of
from bethink.model.moments import When, moment_or_none
from bethink.model.records import checked_name
from bethink.model.rules import lowest
from bethink.model.text import clean
from bethink.store import consolidation, documents, facts
from bethink.store.db import Database, Tx, ask

T = TypeVar("T")


class Documents:
    """The tree of one space. A write names the version that was read; a stale one is refused with the current."""

    def __init__(self, database: Database | None, *, space: str, redactor: Redactor) -> None:
        self.space = space
        self._database = database
        self._redactor = redactor

    async def create(
        self,
        draft: Draft,
        *,
        document_id: str | None = None,
        by: Provenance | None = None,
    ) -> Document | None:
        """Write a new document. Its text is redacted first; None where nothing is stored."""
        named = None if document_id is None else checked_name(document_id, "a document's id")
        return await self._write(
            lambda tx: tree.create(tx, self._cut(draft), space=self.space, by=self._told(by), document_id=named)
        )

    async def update(
        self,
        document_id: str,
        draft: Draft,
        *,
        expected: int,
        by: Provenance | None = None,
    ) -> Document | None:
        """Write the next version. Raises `Stale` unless `expected` is the current one.

        Unless told otherwise it rests on what the version before rested on, and is trusted no more than that.
        """

        def body(tx: Tx) -> Document:
            cut = self._cut(draft)
            told = self._carried(tx, document_id) if by is None else self._told(by)
            return tree.update(tx, cut, space=self.space, document_id=document_id, expected=expected, by=told)

        return await self._write(body)

    async def delete(self, document_id: str, *, expected: int) -> None:
        """End a document that nothing hangs on; its versions stay. Raises `Stale`, or `Conflict` if it is held."""
        await self._write(
            lambda tx: tree.delete(tx, space=self.space, document_id=document_id, expected=expected, author=Author())
        )

    async def restore(self, document_id: str, version: int, *, expected: int | None) -> Document | None:
        """Write an old version again as the newest. A deleted document comes back with `expected` None."""
        author = Author(reason=f"restored version {version}")
        return await self._write(
            lambda tx: tree.restore(
                tx, space=self.space, document_id=document_id, version=version, expected=expected, author=author
            )
        )

    async def redact(self, document_id: str, version: int) -> None:
        """Take the text out of a version that is past, for good, and out of what writers said and of held changes.

        Raises `NotFound` for the current one.
        """

        def body(tx: Tx) -> None:
            facts.lock(tx, space=self.space)
            if not documents.redact(tx, space=self.space, document_id=document_id, version=version):
                raise NotFound(
                    f"document {document_id!r} has no past version {version}.",
                    hint="Write a new version first; then the one before can be redacted.",
                )
            consolidation.forget_text(tx, space=self.space, document_id=document_id)

        await self._write(body)

    async def change_sets(self, *, limit: int = 100) -> list[ChangeSet]:
        """Return what consolidations changed, or want to change, the newest first."""
        return await self._read(lambda tx: consolidation.change_sets(tx, space=self.space, limit=limit), empty=[])

    async def approve(self, run: str) -> None:
        """Put a change set that was held into the tree. Raises `Stale` if the tree has changed since."""

        def body(tx: Tx) -> None:
            facts.lock(tx, space=self.space)
            held = self._settle(tx, run, was=ChangeStatus.HELD, status=ChangeStatus.APPLIED)
            author = Author(kind="job", id="writer", reason="approved", run=run)
            written = changes.apply(tx, held.changes, space=self.space, author=author, quoted=False)
            consolidation.keep_written(tx, held, space=self.space, written=written)
            snapshot = consolidation.snapshot_of(tx, space=self.space, run=run)
            consolidation.mark_seen(tx, space=self.space, snapshot=snapshot)

        await self._write(body)

    async def reject(self, run: str) -> None:
        """Let a change set that was held never come about; of its text nothing is kept."""

        def body(tx: Tx) -> None:
            held = self._found(tx, run)
            if not consolidation.reject(tx, held, space=self.space):
                raise Conflict(f"the change set {run} is {held.status}, not {ChangeStatus.HELD}.")

        await self._write(body)

    async def undo(self, run: str) -> None:
        """Restore the tree to what it was before a run. Raises `Conflict` if it was changed again since."""

        def body(tx: Tx) -> None:
            facts.lock(tx, space=self.space)
            self._settle(tx, run, was=ChangeStatus.APPLIED, status=ChangeStatus.UNDONE)
            changes.take_back(tx, space=self.space, run=run)

        await self._write(body)

    def _settle(self, tx: Tx, run: str, *, was: ChangeStatus, status: ChangeStatus) -> ChangeSet:
        found = self._found(tx, run)
        if not consolidation.settle_change_set(tx, space=self.space, run=run, was=was, status=status):
            raise Conflict(f"the change set {run} is {found.status}, not {was}.")
        return found

    def _found(self, tx: Tx, run: str) -> ChangeSet:
        found = consolidation.find_change_set(tx, space=self.space, run=run)
        if found is None:
            raise NotFound(f"no change set {run!r} in space {self.space!r}.")
        return found

    async def files(self) -> dict[str, str]:
        """Return a space's memory as files by their names: what the last consolidation that succeeded has seen."""

        def body(tx: Tx) -> dict[str, str]:
            seen = consolidation.seen(tx, space=self.space)
            return artefacts.artefacts(seen, changes.shelf(tx, space=self.space).documents)

        return await self._read(body, empty={})

    async def archive(self) -> bytes:
        """Return the same files as one archive in memory; the same memory gives the same bytes."""
        return artefacts.archive(await self.files())

    async def get(self, document_id: str, *, as_of: When | None = None) -> Document | None:
        """Return a document as it stands, or stood at a time. Raises `NotFound`."""
        return await self._read(
            lambda tx: tree.get(tx, space=self.space, document_id=document_id, as_of=moment_or_none(as_of)), empty=None
        )

    async def find(self, path: str, *, as_of: When | None = None) -> Document | None:
        """Follow a path such as `~/memory/people`; None where it leads nowhere."""
        return await self._read(
            lambda tx: tree.resolve(tx, space=self.space, path=path, as_of=moment_or_none(as_of)), empty=None
        )

    async def children(self, document_id: str | None = None, *, as_of: When | None = None) -> list[Document]:
        """Return what hangs below a document, or at the top, by name."""
        return await self._read(
            lambda tx: documents.children(tx, space=self.space, parent=document_id, as_of=moment_or_none(as_of)),
            empty=[],
        )

    async def tree(self, *, as_of: When | None = None) -> dict[str, Document]:
        """Return every document by its path, as the tree stands or stood at a time."""
        at = moment_or_none(as_of)

        def body(tx: Tx) -> dict[str, Document]:
            found = documents.everything(tx, space=self.space, as_of=at)
            paths = {tree.path_of(tx, each, space=self.space, as_of=at): each for each in found}
            return dict(sorted(paths.items()))

        return await self._read(body, empty={})

    async def history(self, document_id: str) -> list[Document]:
        """Return every version of a document, oldest first: what it said, who wrote it, and why."""
        return await self._read(lambda tx: documents.versions(tx, space=self.space, document_id=document_id), empty=[])

    async def diff(self, document_id: str, before: int, after: int) -> str:
        """Write what changed between two versions, line by line; version 0 is nothing."""
        versions = {each.version: each for each in await self.history(document_id)}
        for version in (before, after):
            if version and version not in versions:
                raise NotFound(f"document {document_id!r} has no version {version}.")
        # Not here: comparing long texts takes a while, and nobody else would be served meanwhile.
        return await to_thread.run_sync(diff_of, versions.get(before), versions.get(after))

    async def sources(self, document_id: str, version: int) -> list[DocumentSource]:
        """Return what a version rests on: session memories, facts and messages."""
        return await self._read(
            lambda tx: documents.sources(tx, space=self.space, document_id=document_id, version=version), empty=[]
        )

    async def search(self, query: str, top_k: int, *, as_of: When | None = None) -> list[Document]:
        """Return at most `top_k` documents that share words with the query, the best match first."""
        return await self._read(
            lambda tx: documents.search(tx, space=self.space, question=query, limit=top_k, as_of=moment_or_none(as_of)),
            empty=[],
        )

    def _cut(self, draft: Draft) -> Draft:
        cut = self._redactor.redact
        return replace(
            draft,
            title=cut(clean(draft.title)),
            description=cut(clean(draft.description)),
            body=cut(clean(draft.body)),
        )

    def _carried(self, tx: Tx, document_id: str) -> Provenance:
        # Whoever changes a word has taken over the rest: it must still go when what it was made of is forgotten.
        current = documents.find(tx, space=self.space, document_id=document_id)
        if current is None or current.redacted:
            return Provenance()
        behind = documents.sources(tx, space=self.space, document_id=document_id, version=current.version)
        return Provenance(origin=lowest([Provenance().origin, current.origin]), sources=tuple(behind))

    def _told(self, by: Provenance | None) -> Provenance:
        by = by or Provenance()
        return replace(by, author=replace(by.author, reason=self._redactor.redact(clean(by.author.reason))))

    async def _write(self, body: Callable[[Tx], T]) -> T | None:
        return await ask(self._database, body, space=self.space, empty=None)

    async def _read(self, body: Callable[[Tx], T], *, empty: T) -> T:
        return await ask(self._database, body, space=self.space, empty=empty, read=True)
