"""The documents of a space on a server."""

from dataclasses import fields
from typing import Any

from bethink.client.place import ONCE, Place
from bethink.model.consolidation import ChangeSet
from bethink.model.documents import Document, DocumentSource, Draft, steps_of
from bethink.model.moments import When, moment_or_none


class RemoteDocuments:
    """The tree of one space of a server; a write names the version that was read, and a stale one is refused."""

    def __init__(self, place: Place, *, space: str) -> None:
        self.space = space
        self._place = place

    async def create(self, draft: Draft, *, document_id: str | None = None) -> Document | None:
        """Write a new document. Its text is redacted first."""
        return await self._place.send(Document, "documents", document_id=document_id, **_members(draft))

    async def update(self, document_id: str, draft: Draft, *, expected: int) -> Document | None:
        """Write the next version. Raises `Stale` unless `expected` is the current one."""
        return await self._place.send(
            Document, "documents", document_id, method="PUT", expected=expected, **_members(draft)
        )

    async def delete(self, document_id: str, *, expected: int) -> None:
        """End a document that nothing hangs on; its versions stay. Raises `Stale`, or `Conflict` if it is held."""
        await self._place.remove("documents", document_id, expected=expected)

    async def restore(self, document_id: str, version: int, *, expected: int | None) -> Document | None:
        """Write an old version again as the newest. A deleted document comes back with `expected` None."""
        body = {"version": version, "expected": expected}
        return await self._place.exactly(
            Document, "documents", document_id, "restore", how=ONCE, method="POST", body=body
        )

    async def redact(self, document_id: str, version: int) -> None:
        """Take the text out of a version that is past, for good, and out of what writers said and of held changes.

        Raises `NotFound` for the current one.
        """
        await self._place.send(type(None), "documents", document_id, "redact", version=version)

    async def change_sets(self, *, limit: int = 100) -> list[ChangeSet]:
        """Return what consolidations changed, or want to change, the newest first."""
        return await self._place.items(ChangeSet, "changes", limit=limit)

    async def approve(self, run: str) -> None:
        """Put a change set that was held into the tree. Raises `Stale` if the tree has changed since."""
        await self._place.send(type(None), "changes", run, "approve")

    async def reject(self, run: str) -> None:
        """Let a change set that was held never come about; of its text nothing is kept."""
        await self._place.send(type(None), "changes", run, "reject")

    async def undo(self, run: str) -> None:
        """Restore the tree to what it was before a run. Raises `Conflict` if it was changed again since."""
        await self._place.send(type(None), "changes", run, "undo")

    async def files(self) -> dict[str, str]:
        """Return a space's memory as files by their names: what the last consolidation that succeeded has seen."""
        return await self._place.get(dict[str, str], "files")

    async def get(self, document_id: str, *, as_of: When | None = None) -> Document | None:
        """Return a document as it stands, or stood at a time. Raises `NotFound`."""
        return await self._place.get(Document, "documents", document_id, as_of=moment_or_none(as_of))

    async def find(self, path: str, *, as_of: When | None = None) -> Document | None:
        """Follow a path such as `~/memory/people`; None where it leads nowhere. Reads the whole tree."""
        steps = steps_of(path)
        return None if not steps else (await self.tree(as_of=as_of)).get("~/" + "/".join(steps))

    async def children(self, document_id: str | None = None, *, as_of: When | None = None) -> list[Document]:
        """Return what hangs below a document, or at the top, by name. Reads the whole tree."""
        return [each for each in (await self.tree(as_of=as_of)).values() if each.parent == document_id]

    async def tree(self, *, as_of: When | None = None) -> dict[str, Document]:
        """Return every document by its path, as the tree stands or stood at a time."""
        found = await self._place.get(dict[str, dict[str, Document]], "documents", as_of=moment_or_none(as_of))
        return found["items"]

    async def history(self, document_id: str) -> list[Document]:
        """Return every version of a document, oldest first: what it said, who wrote it, and why."""
        return await self._place.items(Document, "documents", document_id, "versions")

    async def diff(self, document_id: str, before: int, after: int) -> str:
        """Write what changed between two versions, line by line; version 0 is nothing."""
        found = await self._place.get(dict[str, str], "documents", document_id, "diff", before=before, after=after)
        return found["diff"]

    async def sources(self, document_id: str, version: int) -> list[DocumentSource]:
        """Return what a version rests on: session memories, facts and messages."""
        return await self._place.items(DocumentSource, "documents", document_id, "sources", version=version)

    async def search(self, query: str, top_k: int, *, as_of: When | None = None) -> list[Document]:
        """Return at most `top_k` documents that share words with the query, the best match first."""
        return await self._place.items(Document, "documents", query=query, top_k=top_k, as_of=moment_or_none(as_of))


def _members(draft: Draft) -> dict[str, Any]:
    return {field.name: getattr(draft, field.name) for field in fields(draft)}
