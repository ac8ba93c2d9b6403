"""Documents page by page: an outline and a history without texts, and single versions."""

from collections.abc import Collection
from datetime import datetime

from bethink.model.blame import BlamedVersion, Body
from bethink.model.documents import Document, DocumentEntry, DocumentSource, SourceKind
from bethink.model.pages import HistoryPage, OutlineEntry, OutlinePage, cursor_of, read_cursor
from bethink.store.db import NO_LIMIT, Tx
from bethink.store.documents import documents_of, entry_of


def outline(tx: Tx, *, space: str, parent: str | None, as_of: datetime | None, after: str, limit: int) -> OutlinePage:
    """Return a page of the documents below one, or at the top, by name."""
    key = read_cursor(after, str)
    rows = tx.all(
        "outline_documents",
        space=space, parent=parent or "", at=as_of, after="" if key is None else key[0], limit=limit + 1,
    )  # fmt: skip
    items = tuple(OutlineEntry(document=entry_of(row), children=row["children"]) for row in rows[:limit])
    following = cursor_of(items[-1].document.slug) if len(rows) > limit else None
    return OutlinePage(items=items, next=following)


def history(tx: Tx, *, space: str, document_id: str, after: str, limit: int) -> HistoryPage:
    """Return a page of the versions of a document without their texts, the newest first."""
    key = read_cursor(after, int)
    before = NO_LIMIT if key is None else key[0]
    rows = tx.all("page_document_versions", space=space, id=document_id, before=before, limit=limit + 1)
    items = tuple(map(entry_of, rows[:limit]))
    return HistoryPage(items=items, next=cursor_of(items[-1].version) if len(rows) > limit else None)


def some_versions(tx: Tx, *, space: str, document_id: str, versions: Collection[int]) -> dict[int, Document]:
    """Return some versions of a document, by number."""
    found = [tx.one("document_version", space=space, id=document_id, version=each) for each in versions]
    rows = [row for row in found if row is not None]
    return {each.version: each for each in documents_of(tx, space, rows)}


def bodies(tx: Tx, *, space: str, document_id: str, before: int, limit: int) -> list[Body]:
    """Return the texts of the versions of a document before one, the newest first."""
    rows = tx.all("document_bodies", space=space, id=document_id, before=before, limit=limit)
    return [Body(row["version"], None if row["redacted"] else row["body"]) for row in rows]


def blamed(tx: Tx, *, space: str, document_id: str, versions: Collection[int]) -> tuple[BlamedVersion, ...]:
    """Return when, by whom and why some versions were written, and what the document rests on since."""
    asked = {"space": space, "id": document_id, "versions": sorted(versions)}
    begun: dict[int, list[DocumentSource]] = {}
    for row in tx.all("sources_begun", **asked):
        source = DocumentSource(kind=SourceKind(row["kind"]), id=row["source_id"], number=row["number"])
        begun.setdefault(row["version"], []).append(source)
    return tuple(_blamed(entry_of(row), begun) for row in tx.all("some_document_entries", **asked))


def _blamed(entry: DocumentEntry, begun: dict[int, list[DocumentSource]]) -> BlamedVersion:
    sources = tuple(begun.get(entry.version, ()))
    return BlamedVersion(version=entry.version, at=entry.valid_from, author=entry.author, sources=sources)
