"""Documents and their references. Versions are added and closed, and changed only to redact them."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from bethink.model.changes import ChangeKind
from bethink.model.documents import (
    Author,
    Document,
    DocumentDraft,
    DocumentEntry,
    DocumentSource,
    Provenance,
    ReferenceKind,
    SourceKind,
)
from bethink.model.jobs import JobKind
from bethink.model.moments import from_micros, from_micros_or_none, to_micros
from bethink.model.records import Origin
from bethink.model.refs import Ref, RefKind
from bethink.model.text import canonical_json
from bethink.model.views import NOW, TimeView
from bethink.store import changes, hidden, jobs, terms
from bethink.store.candidates import search_rows
from bethink.store.db import Row, Tx, checked_limit, until
from bethink.store.hidden import HiddenWords

KeyT = TypeVar("KeyT")
ItemT = TypeVar("ItemT")

_TOP = ""
_REDACTED = "[redacted]"


class LastVersion(NamedTuple):
    """The newest version of a document, when the document was created, and when this version began or ended."""

    version: int
    created_at: datetime
    changed_at: datetime
    sources: frozenset[DocumentSource] | None = None
    """Its sources, if they were read."""


class WrittenVersion(NamedTuple):
    """A version of a document. Without an `entry`, it was current before and nothing was written."""

    document_id: str
    version: int
    entry: terms.Entry | None = None


def insert(
    tx: Tx,
    draft: DocumentDraft,
    *,
    space: str,
    document_id: str,
    last: LastVersion | None,
    provenance: Provenance,
    mentions: Iterable[str],
) -> WrittenVersion:
    """Write the next version, with its references and sources. `publish` makes it known."""
    author, now = provenance.author, tx.now
    version, created_at, at = (1, now, now) if last is None else (last.version + 1, last.created_at, last.changed_at)
    tx.run(
        "insert_document",
        space=space, id=document_id, version=version, at=max(at, now), parent=draft.parent or _TOP, slug=draft.slug,
        title=draft.title, description=draft.description, body=draft.body, created_at=created_at,
        author_kind=author.kind, author_id=author.id, reason=author.reason, token=author.token, run=author.run,
        origin=provenance.origin, tags=canonical_json(draft.tags), metadata=canonical_json(draft.metadata),
    )  # fmt: skip
    words = terms.words_of("\n".join((draft.title, draft.description, draft.body)))
    entry = terms.Entry(RefKind.DOCUMENT, document_id, version, to_micros(max(at, now)), words)
    targets = [(ReferenceKind.PARENT, draft.parent)] if draft.parent else []
    targets += [(ReferenceKind.LINK, link) for link in draft.links]
    targets += [(ReferenceKind.BODY, mention) for mention in mentions]
    for kind, group in _group(targets).items():
        tx.run(
            "insert_references",
            space=space, source=document_id, version=version, kind=kind, targets=group, order=list(range(len(group))),
        )  # fmt: skip
    _write_sources(tx, provenance.sources, space=space, document_id=document_id, version=version, last=last)
    return WrittenVersion(document_id, version, entry)


def publish(tx: Tx, versions: Iterable[WrittenVersion], *, space: str) -> None:
    """Index new versions, and record that their documents changed."""
    new = [item for item in versions if item.entry is not None]
    if not new:
        return
    terms.put(tx, [item.entry for item in new if item.entry is not None], space=space)
    jobs.queue(tx, space=space, kind=JobKind.INDEX, key=jobs.SPACE_KEY, watermark=0)
    refs = [Ref(RefKind.DOCUMENT, item.document_id, item.version) for item in new]
    changes.record_all(tx, refs, space=space, kind=ChangeKind.DOCUMENT_CHANGED)


def _group(items: Iterable[tuple[KeyT, ItemT]]) -> dict[KeyT, list[ItemT]]:
    groups: dict[KeyT, list[ItemT]] = {}
    for key, item in items:
        groups.setdefault(key, []).append(item)
    return groups


def _write_sources(
    tx: Tx,
    new_sources: Iterable[DocumentSource],
    *,
    space: str,
    document_id: str,
    version: int,
    last: LastVersion | None,
) -> None:
    """Write only the difference from the previous version: a document may have many sources, and change often."""
    before: frozenset[DocumentSource] = frozenset()
    if last is not None:
        before = last.sources or frozenset(sources(tx, space=space, document_id=document_id, version=last.version))
    now = dict.fromkeys(new_sources)
    ended = [("end_document_sources", item, version - 1) for item in before if item not in now]
    added = [("insert_document_sources", item, version) for item in now if item not in before]
    groups = _group(((query, item.kind, number), item) for query, item, number in (*ended, *added))
    for (query, kind, number), group in groups.items():
        ids, numbers = [item.id for item in group], [item.number for item in group]
        tx.run(query, space=space, document=document_id, version=number, kind=kind, ids=ids, numbers=numbers)


class DocumentOperation(NamedTuple):
    """A write that was carried out under an idempotency key."""

    kind: str
    document_id: str
    version: int


def operation(tx: Tx, *, space: str, key: str) -> DocumentOperation | None:
    """Return the write that was carried out under a key."""
    row = tx.first("find_document_operation", space=space, key=key)
    return None if row is None else DocumentOperation(row["kind"], row["document_id"], row["version"])


def record_operation(tx: Tx, done: DocumentOperation, *, space: str, key: str) -> None:
    """Note that a write was carried out under a key."""
    tx.run(
        "record_document_operation",
        space=space, key=key, kind=done.kind, id=done.document_id, version=done.version, now=tx.now,
    )  # fmt: skip


def close(tx: Tx, *, space: str, document_id: str, version: int, at: datetime, run: str) -> bool:
    """End the current version. Returns False if another version is current."""
    return tx.run("close_document", space=space, id=document_id, version=version, run=run, at=at) == 1


def last_version(tx: Tx, *, space: str, document_id: str) -> LastVersion | None:
    """Return the newest version that a document ever had; None for an id that was never used."""
    row = tx.first("last_document_version", space=space, id=document_id)
    if row is None:
        return None
    changed_at = row["valid_from"] if row["valid_to"] is None else row["valid_to"]
    return LastVersion(row["version"], from_micros(row["created_at"]), from_micros(changed_at))


def find(tx: Tx, *, space: str, document_id: str, as_of: datetime | None = None) -> Document | None:
    """Return a document as it is now, or was at a time."""
    row = tx.first("find_document", space=space, id=document_id, at=until(as_of))
    return None if row is None else documents_of(tx, space, [row], as_of=as_of)[0]


def find_in(tx: Tx, *, space: str, parent: str | None, slug: str, as_of: datetime | None = None) -> Document | None:
    """Return the document with a slug below a parent."""
    row = tx.first("find_document_in", space=space, parent=parent or _TOP, slug=slug, at=until(as_of))
    return None if row is None else documents_of(tx, space, [row], as_of=as_of)[0]


def find_all(tx: Tx, *, space: str, document_ids: Sequence[str]) -> dict[str, Document]:
    """Return the current documents with some ids."""
    rows = tx.all("find_documents", space=space, ids=list(document_ids)) if document_ids else []
    return {document.id: document for document in documents_of(tx, space, rows)}


def find_entry(tx: Tx, *, space: str, document_id: str) -> DocumentEntry | None:
    """Return a current document without its text and links."""
    row = tx.first("find_document", space=space, id=document_id, at=until(None))
    return None if row is None else entry_of(row)


def find_entry_in(
    tx: Tx, *, space: str, parent: str | None, slug: str, as_of: datetime | None = None
) -> DocumentEntry | None:  # fmt: skip
    """Return the document with a slug below a parent, without its text and links."""
    row = tx.first("find_document_in", space=space, parent=parent or _TOP, slug=slug, at=until(as_of))
    return None if row is None else entry_of(row, as_of=as_of)


def children(tx: Tx, *, space: str, parent: str | None, as_of: datetime | None = None) -> list[Document]:
    """Return the children of a document, or the documents at the top, by name."""
    rows = tx.all("list_children", space=space, parent=parent or _TOP, at=until(as_of))
    return documents_of(tx, space, rows, as_of=as_of)


def list_all(tx: Tx, *, space: str, as_of: datetime | None = None) -> list[Document]:
    """Return every document of a space, as it was at a time."""
    return documents_of(tx, space, tx.all("list_documents", space=space, at=until(as_of)), as_of=as_of)


def entries(tx: Tx, *, space: str, as_of: datetime | None = None) -> list[DocumentEntry]:
    """Return every document of a space, as it was at a time, without its text."""
    rows = tx.all("list_document_entries", space=space, at=until(as_of))
    return [entry_of(row, as_of=as_of) for row in rows]


def versions(tx: Tx, *, space: str, document_id: str) -> list[Document]:
    """Return every version of a document, oldest first."""
    return documents_of(tx, space, tx.all("document_versions", space=space, id=document_id))


def versions_after(tx: Tx, *, space: str, refs: Sequence[Ref], as_of: datetime | None) -> dict[Ref, Ref]:
    """Return the version that followed each of some versions, if one did by a time."""
    ids, numbers = [ref.id for ref in refs], [ref.number for ref in refs]
    rows = tx.all("document_versions_after", space=space, ids=ids, numbers=numbers, at=until(as_of))
    kind = RefKind.DOCUMENT
    return {Ref(kind, row["id"], row["number"]): Ref(kind, row["id"], row["following"]) for row in rows}


def written_by(tx: Tx, *, space: str, run: str) -> list[Document]:
    """Return every version that a run wrote."""
    return documents_of(tx, space, tx.all("run_documents", space=space, run=run))


def deleted_by(tx: Tx, *, space: str, run: str) -> list[Document]:
    """Return the last versions of the documents that a run deleted."""
    return documents_of(tx, space, tx.all("deleted_documents", space=space, run=run))


def referrers(tx: Tx, *, space: str, document_id: str) -> list[tuple[str, ReferenceKind]]:
    """Return the current documents that refer to one, with the kind of each reference."""
    rows = tx.all("current_referrers", space=space, target=document_id)
    return [(row["source_id"], ReferenceKind(row["kind"])) for row in rows]


def sources(tx: Tx, *, space: str, document_id: str, version: int) -> list[DocumentSource]:
    """Return the sources of a version."""
    rows = tx.all("list_document_sources", space=space, document=document_id, version=version)
    return [DocumentSource(kind=SourceKind(row["kind"]), id=row["source_id"], number=row["number"]) for row in rows]


def sources_of(
    tx: Tx, *, space: str, versions: Sequence[tuple[str, int]]
) -> dict[tuple[str, int], list[DocumentSource]]:
    """Return the sources of some versions, by document id and version."""
    parameters = {"space": space, "ids": [name for name, _ in versions], "numbers": [number for _, number in versions]}
    by_version: dict[tuple[str, int], list[DocumentSource]] = {}
    for row in tx.all("sources_of_versions", **parameters) if versions else ():
        source = DocumentSource(kind=SourceKind(row["kind"]), id=row["source_id"], number=row["number"])
        by_version.setdefault((row["id"], row["version"]), []).append(source)
    return by_version


def texts(
    tx: Tx, *, space: str, versions: Iterable[tuple[str, int]]
) -> dict[tuple[str, int], tuple[DocumentDraft, tuple[DocumentSource, ...]]]:
    """Return the texts and sources of some versions; a redacted version has a placeholder."""
    keys = list(dict.fromkeys(versions))
    if not keys:
        return {}
    parameters = {"space": space, "ids": [name for name, _ in keys], "numbers": [number for _, number in keys]}
    links: dict[tuple[str, int], list[str]] = {}
    for row in tx.all("references_of_versions", **parameters):
        if row["kind"] == ReferenceKind.LINK:
            links.setdefault((row["id"], row["version"]), []).append(row["target_id"])
    sources_by_key = sources_of(tx, space=space, versions=keys)
    drafts: dict[tuple[str, int], tuple[DocumentDraft, tuple[DocumentSource, ...]]] = {}
    rows = tx.all("documents_of_versions", **parameters)
    words = hidden_words(tx, rows, space=space)
    for row in rows:
        key = (row["id"], row["version"])
        draft = DocumentDraft(
            slug=row["slug"], title=row["title"], description=row["description"], body=visible_body(row, words),
            links=tuple(links.get(key, ())),
        )  # fmt: skip
        drafts[key] = draft, tuple(sources_by_key.get(key, ()))
    return drafts


def thin(tx: Tx, *, space: str, document_id: str, version: int) -> int:
    """Drop the text of versions that jobs wrote up to a version; their existence and sources are kept."""
    return tx.run("thin_document", space=space, id=document_id, version=version)


def redact(tx: Tx, *, space: str, document_id: str, version: int, current: bool = False) -> bool:
    """Remove the text from a past version, or also a `current` one. Returns False if it does not exist."""
    key = {"space": space, "id": document_id, "version": version}
    redacted = tx.run("redact_document", **key, mark=_REDACTED, current=int(current)) == 1
    if redacted:
        tx.deletes = True
    return redacted


def search(tx: Tx, *, space: str, question: str, limit: int, view: TimeView = NOW) -> list[Document]:
    """Return documents that share words with a question, the best match first."""
    if not checked_limit(limit):
        return []
    rows = search_rows(tx, "search_documents", space=space, question=question, kind=RefKind.DOCUMENT, view=view)
    return documents_of(tx, space, rows[:limit], as_of=view.written_by)


def documents_of(
    tx: Tx, space: str, rows: Sequence[Row], *, as_of: datetime | None = None
) -> list[Document]:  # fmt: skip
    """Read documents from their rows, without lines that a person asked to forget, as they were at a time."""
    if not rows:
        return []
    references: dict[tuple[str, int], list[Row]] = {}
    ids, numbers = [row["id"] for row in rows], [row["version"] for row in rows]
    for reference in tx.all("references_of_versions", space=space, ids=ids, numbers=numbers):
        references.setdefault((reference["id"], reference["version"]), []).append(reference)
    words = hidden_words(tx, rows, space=space)
    return [_document(row, references.get((row["id"], row["version"]), ()), words, as_of) for row in rows]


def entry_of(row: Row, *, as_of: datetime | None = None) -> DocumentEntry:
    """Read a version of a document from its row, without its text, as it was at a time."""
    return DocumentEntry(**_entry_fields(row, as_of))


def hidden_words(tx: Tx, rows: Iterable[Row], *, space: str) -> HiddenWords:
    """Return the hidden words of a space, as far as these versions can have any: what a person wrote stays."""
    is_derived = any(row["author_kind"] != "user" for row in rows)
    return hidden.of_space(tx, space=space) if is_derived else HiddenWords()


def visible_body(row: Row, words: HiddenWords) -> str:
    """Return the text of a version without lines that a person asked to forget. What a person wrote stays."""
    return row["body"] if row["author_kind"] == "user" else words.visible(row["body"], written_at=row["valid_from"])


def _document(row: Row, references: Sequence[Row], words: HiddenWords, as_of: datetime | None) -> Document:
    def targets(kind: ReferenceKind) -> tuple[str, ...]:
        return tuple(reference["target_id"] for reference in references if reference["kind"] == kind)

    links, mentions = targets(ReferenceKind.LINK), targets(ReferenceKind.BODY)
    return Document(**_entry_fields(row, as_of), body=visible_body(row, words), links=links, mentions=mentions)


def _entry_fields(row: Row, as_of: datetime | None) -> dict[str, Any]:
    ends = from_micros_or_none(row["valid_to"])
    return {
        "id": row["id"],
        "version": row["version"],
        "slug": row["slug"],
        "title": row["title"],
        "description": row["description"],
        "parent": row["parent_id"] or None,
        "valid_from": from_micros(row["valid_from"]),
        "valid_to": None if ends is not None and as_of is not None and ends > as_of else ends,
        "created_at": from_micros(row["created_at"]),
        "author": Author(
            kind=row["author_kind"], id=row["author_id"], reason=row["reason"], token=row["token"], run=row["run"]
        ),
        "origin": Origin(row["origin"]),
        "redacted": bool(row["redacted"]),
        "tags": tuple(json.loads(row["tags"])),
        "metadata": json.loads(row["metadata"]),
    }
