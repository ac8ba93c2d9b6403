"""Documents page by page: an outline and a history without texts, and single versions."""

from collections.abc import Collection
from datetime import datetime

from bethink.model.blame import BlamedVersion, Body
from bethink.model.documents import Document, DocumentEntry, DocumentSource, SourceKind
from bethink.model.pages import OutlineEntry, cursor_of, read_cursor
from bethink.model.paging import Page
from bethink.store.db import NO_LIMIT, Tx
from bethink.store.documents import documents_of, entry_of, visible_body
from bethink.store.hidden import HiddenWords


def outline(
    tx: Tx, *, space: str, parent: str | None, as_of: datetime | None, after: str, limit: int
) -> Page[OutlineEntry]:
    """Return a page of the documents below one, or at the top, by name."""
    key = read_cursor(after, str)
    rows = tx.all(
        "outline_documents",
        space=space, parent=parent or "", at=as_of, after="" if key is None else key[0], limit=limit + 1,
    )  # fmt: skip
    items = tuple(OutlineEntry(document=entry_of(row, as_of=as_of), children=row["children"]) for row in rows[:limit])
    following = cursor_of(items[-1].document.slug) if len(rows) > limit else ""
    return Page(items=items, next=following)


def history(tx: Tx, *, space: str, document_id: str, after: str, limit: int) -> Page[DocumentEntry]:
    """Return a page of the versions of a document without their texts, the newest first."""
    key = read_cursor(after, int)
    before = NO_LIMIT if key is None else key[0]
    rows = tx.all("page_document_versions", space=space, id=document_id, before=before, limit=limit + 1)
    items = tuple(map(entry_of, rows[:limit]))
    return Page(items=items, next=cursor_of(items[-1].version) if len(rows) > limit else "")


def some_versions(tx: Tx, *, space: str, document_id: str, versions: Collection[int]) -> dict[int, Document]:
    """Return some versions of a document, by number."""
    candidates = [tx.first("document_version", space=space, id=document_id, version=item) for item in versions]
    rows = [row for row in candidates if row is not None]
    return {item.version: item for item in documents_of(tx, space, rows)}


def bodies(
    tx: Tx, *, space: str, document_id: str, before: int, limit: int, words: HiddenWords
) -> list[Body]:  # fmt: skip
    """Return the texts of the versions of a document before one without hidden words, the newest first."""
    rows = tx.all("document_bodies", space=space, id=document_id, before=before, limit=limit)
    return [Body(row["version"], None if row["redacted"] else visible_body(row, words)) for row in rows]


def blame(tx: Tx, *, space: str, document_id: str, versions: Collection[int]) -> tuple[BlamedVersion, ...]:
    """Return when, by whom and why some versions were written, with the sources that each added."""
    parameters = {"space": space, "id": document_id, "versions": sorted(versions)}
    new_sources: dict[int, list[DocumentSource]] = {}
    for row in tx.all("sources_begun", **parameters):
        source = DocumentSource(kind=SourceKind(row["kind"]), id=row["source_id"], number=row["number"])
        new_sources.setdefault(row["version"], []).append(source)
    return tuple(_blamed_version(entry_of(row), new_sources) for row in tx.all("some_document_entries", **parameters))


def _blamed_version(entry: DocumentEntry, new_sources: dict[int, list[DocumentSource]]) -> BlamedVersion:
    sources = tuple(new_sources.get(entry.version, ()))
    return BlamedVersion(version=entry.version, at=entry.valid_from, author=entry.author, sources=sources)
