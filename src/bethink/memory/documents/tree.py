"""Writes the tree of documents and enforces its rules: unique paths, no cycles, no dangling links."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from operator import itemgetter
from typing import TypeVar

from bethink.errors import ConflictError, DuplicateError, InvalidRequestError, NotFoundError, VersionConflictError
from bethink.model.changes import ChangeKind
from bethink.model.documents import (
    Author,
    Document,
    DocumentDraft,
    DocumentEntry,
    DocumentSource,
    Provenance,
    ReferenceKind,
    mentions_in,
    steps_of,
)
from bethink.model.ids import new_id, shard_for
from bethink.model.records import Origin
from bethink.model.refs import Ref, RefKind
from bethink.store import changes, documents, facts
from bethink.store.db import Tx
from bethink.store.documents import WrittenVersion

EntryT = TypeVar("EntryT", bound=DocumentEntry)

_ROOT_SLUG = "memory"
_ROOT_TITLE = "Memory"
_ROOT_DESCRIPTION = "All documents that memory maintains."
_SYSTEM = Provenance(author=Author(kind="job", id="memory", reason="the root of the tree"), origin=Origin("import"))


def get(tx: Tx, *, space: str, document_id: str, as_of: datetime | None = None) -> Document:
    """Return a document as it is now, or was at a time. Raises `NotFoundError`."""
    document = documents.find(tx, space=space, document_id=document_id, as_of=as_of)
    if document is None:
        raise NotFoundError(f"No document {document_id!r} in space {space!r}.")
    return document


def resolve(tx: Tx, *, space: str, path: str, as_of: datetime | None = None) -> Document | None:
    """Follow a path from the top. Returns None if it leads nowhere."""
    steps = steps_of(path) or ()
    if not steps:
        return None
    above = None
    for slug in steps[:-1]:
        above = documents.find_entry_in(tx, space=space, parent=above.id if above else None, slug=slug, as_of=as_of)
        if above is None:
            return None
    return documents.find_in(tx, space=space, parent=above.id if above else None, slug=steps[-1], as_of=as_of)


def path_of(tx: Tx, document: DocumentEntry, *, space: str) -> str:
    """Return the path of a document."""
    return "~/" + "/".join(ancestor.slug for ancestor in reversed(_ancestry(tx, document, space=space)))


def everything(tx: Tx, *, space: str, as_of: datetime | None = None) -> dict[str, Document]:
    """Return every document by its path, as the tree is now or was at a time."""
    return _by_path(documents.list_all(tx, space=space, as_of=as_of))


def entries(tx: Tx, *, space: str, as_of: datetime | None = None) -> dict[str, DocumentEntry]:
    """Return the same without the texts."""
    return _by_path(documents.entries(tx, space=space, as_of=as_of))


def _by_path(listed: Iterable[EntryT]) -> dict[str, EntryT]:
    by_id = {entry.id: entry for entry in listed}
    return dict(sorted(((_path(entry, by_id), entry) for entry in by_id.values()), key=itemgetter(0)))


def _path(document: DocumentEntry, among: Mapping[str, DocumentEntry]) -> str:
    slugs = [document.slug]
    while document.parent is not None and document.parent in among:
        document = among[document.parent]
        slugs.append(document.slug)
    return "~/" + "/".join(reversed(slugs))


def ensure_root(tx: Tx, *, space: str) -> str:
    """Return the id of the root of the documents that memory maintains, `~/memory`, creating it if needed."""
    facts.lock(tx, space=space)
    root = documents.find_entry_in(tx, space=space, parent=None, slug=_ROOT_SLUG)
    if root is not None:
        return root.id
    draft = DocumentDraft(slug=_ROOT_SLUG, title=_ROOT_TITLE, description=_ROOT_DESCRIPTION)
    return create(tx, draft, space=space, provenance=_SYSTEM).id


def create(
    tx: Tx, draft: DocumentDraft, *, space: str, provenance: Provenance, document_id: str | None = None
) -> Document:
    """Write the first version of a document. An id that was ever used is rejected."""
    new_version = create_version(tx, draft, space=space, provenance=provenance, document_id=document_id)
    return _publish(tx, new_version, space=space)


def create_version(
    tx: Tx, draft: DocumentDraft, *, space: str, provenance: Provenance, document_id: str | None = None
) -> WrittenVersion:
    """Write the first version of a document as `create` does, without publishing it."""
    tx.run("ensure_space", space=space, shard=shard_for(space), now=tx.now)
    facts.lock(tx, space=space)
    chosen = document_id or new_id("doc")
    if document_id is not None and documents.last_version(tx, space=space, document_id=chosen) is not None:
        raise DuplicateError(f"The id {chosen!r} was used before.", hint="Omit the id to have one created.")
    _check(tx, draft, space=space, document_id=chosen)
    return _write(tx, draft, None, space=space, document_id=chosen, provenance=provenance)


def update(
    tx: Tx, draft: DocumentDraft, *, space: str, document_id: str, expected: int, provenance: Provenance
) -> Document:
    """Write the next version, if the one that was read is still current. Without a change, nothing is written."""
    facts.lock(tx, space=space)
    current = get(tx, space=space, document_id=document_id)
    sources = documents.sources(tx, space=space, document_id=document_id, version=current.version)
    new_version = update_version(
        tx, draft, current, space=space, expected=expected, provenance=provenance, sources=sources
    )  # fmt: skip
    return _publish(tx, new_version, space=space)


def _publish(tx: Tx, new_version: WrittenVersion, *, space: str) -> Document:
    documents.publish(tx, [new_version], space=space)
    return get(tx, space=space, document_id=new_version.document_id)


def update_version(
    tx: Tx,
    draft: DocumentDraft,
    current: Document,
    *,
    space: str,
    expected: int,
    provenance: Provenance,
    sources: Sequence[DocumentSource],
) -> WrittenVersion:
    """Write the version after the `current` one with its `sources` as `update` does, without publishing it."""
    _check_version(current, expected)
    if provenance.author.kind == "job":  # a job must not change the tags and metadata that people set
        draft = replace(draft, tags=current.tags, metadata=current.metadata)
    if draft == current.draft() and set(provenance.sources) == set(sources):
        return WrittenVersion(current.id, current.version)
    _check(tx, draft, current, space=space, document_id=current.id)  # before its current version is closed
    at = _close(tx, current, space=space, run=provenance.author.run)
    last = documents.LastVersion(current.version, current.created_at, at, frozenset(sources))
    return _write(tx, draft, last, space=space, document_id=current.id, provenance=provenance)


def delete(tx: Tx, *, space: str, document_id: str, expected: int, author: Author) -> None:
    """End a document, if the version that was read is still current and nothing depends on it."""
    current = _current(tx, space=space, document_id=document_id, expected=expected)
    blocking = dependents(tx, space=space, document_id=document_id)
    if blocking:
        raise ConflictError(
            f"Other documents depend on document {document_id}: {', '.join(blocking[:5])}.",
            hint="Move or delete its children and remove the links to it first.",
        )
    _close(tx, current, space=space, run=author.run)
    ref = Ref(RefKind.DOCUMENT, document_id, current.version)
    changes.record(tx, space=space, kind=ChangeKind.DOCUMENT_DELETED, ref=ref)


def dependents(tx: Tx, *, space: str, document_id: str) -> list[str]:
    """Return the documents that block a deletion: children, and documents that link to this one."""
    referrers = documents.referrers(tx, space=space, document_id=document_id)
    return sorted({source for source, kind in referrers if kind is not ReferenceKind.BODY and source != document_id})


def restore(tx: Tx, *, space: str, document_id: str, version: int, expected: int | None, author: Author) -> Document:
    """Write an old version again as the newest. For a deleted document, `expected` is None."""
    facts.lock(tx, space=space)
    target = next(
        (
            candidate
            for candidate in documents.versions(tx, space=space, document_id=document_id)
            if candidate.version == version
        ),
        None,
    )
    if target is None:
        raise NotFoundError(f"Document {document_id!r} has no version {version}.")
    if target.redacted:
        raise ConflictError(f"Version {version} of {document_id} was redacted.", hint="Choose another version.")
    sources = documents.sources(tx, space=space, document_id=document_id, version=version)
    provenance = Provenance(author=author, origin=target.origin, sources=tuple(sources))
    current = documents.find(tx, space=space, document_id=document_id)
    if current is not None and expected is not None:
        return update(
            tx, target.draft(), space=space, document_id=document_id, expected=expected, provenance=provenance
        )
    if current is not None or expected is not None:
        raise VersionConflictError(
            f"Document {document_id} has changed since you read it.", current=current.version if current else None
        )
    _check(tx, target.draft(), space=space, document_id=document_id)
    last = documents.last_version(tx, space=space, document_id=document_id)
    new_version = _write(tx, target.draft(), last, space=space, document_id=document_id, provenance=provenance)
    return _publish(tx, new_version, space=space)


def _current(tx: Tx, *, space: str, document_id: str, expected: int) -> Document:
    facts.lock(tx, space=space)
    current = get(tx, space=space, document_id=document_id)
    _check_version(current, expected)
    return current


def _check_version(current: Document, expected: int) -> None:
    if current.version != expected:
        raise VersionConflictError(
            f"Document {current.id} is at version {current.version}; you read version {expected}.",
            current=current.version,
        )


def _close(tx: Tx, current: Document, *, space: str, run: str) -> datetime:
    # Never before its start, whatever the clock says: no two versions of a document may overlap.
    at = max(tx.now, current.valid_from + timedelta(microseconds=1))
    documents.close(tx, space=space, document_id=current.id, version=current.version, at=at, run=run)
    return at


def _write(
    tx: Tx,
    draft: DocumentDraft,
    last: documents.LastVersion | None,
    *,
    space: str,
    document_id: str,
    provenance: Provenance,
) -> WrittenVersion:
    mentions = _mentions_of(tx, draft.body, space=space, document_id=document_id)
    return documents.insert(
        tx, draft, space=space, document_id=document_id, last=last, provenance=provenance, mentions=mentions
    )


def _check(
    tx: Tx, draft: DocumentDraft, current: Document | None = None, *, space: str, document_id: str
) -> None:  # fmt: skip
    """Check where a document is and what it links to, as far as that differs from its current version.

    What a current version refers to exists: nothing is deleted while another document depends on it.
    """
    if current is None or (draft.parent, draft.slug) != (current.parent, current.slug):
        _check_path(tx, draft, space=space, document_id=document_id)
    for link in draft.links:
        if current is not None and link in current.links:
            continue
        if link == document_id or documents.find_entry(tx, space=space, document_id=link) is None:
            raise InvalidRequestError(f"{link!r} cannot be linked to.", hint="Link to another document that exists.")


def _check_path(tx: Tx, draft: DocumentDraft, *, space: str, document_id: str) -> None:
    if draft.parent is not None:
        parent = documents.find_entry(tx, space=space, document_id=draft.parent)
        if parent is None:
            raise InvalidRequestError(
                f"{draft.parent!r} cannot be a parent.", hint="Choose an existing document as its parent."
            )
        if any(ancestor.id == document_id for ancestor in _ancestry(tx, parent, space=space)):
            raise InvalidRequestError(
                "A document cannot be moved below itself.", hint="Move its child elsewhere first."
            )
    existing = documents.find_entry_in(tx, space=space, parent=draft.parent, slug=draft.slug)
    if existing is not None and existing.id != document_id:
        # The error does not name the document: a caller that may write may lack the scope to read.
        raise DuplicateError(
            f"The slug {draft.slug!r} is in use there.", hint="Choose another slug, or update that document."
        )


def _ancestry(tx: Tx, document: DocumentEntry, *, space: str) -> list[DocumentEntry]:
    """Return a document and all its ancestors."""
    line = [document]
    while line[-1].parent is not None:
        above = documents.find_entry(tx, space=space, document_id=line[-1].parent)
        if above is None or any(above.id == ancestor.id for ancestor in line):
            break
        line.append(above)
    return line


def _mentions_of(tx: Tx, body: str, *, space: str, document_id: str) -> list[str]:
    """Return the documents that a text mentions; unresolved mentions are left out."""
    mentions: dict[str, None] = {}
    for mention in mentions_in(body):
        if mention.startswith("~/") or "/" in mention:
            target = resolve(tx, space=space, path=mention if mention.startswith("~/") else f"~/{mention}")
        else:
            target = documents.find(tx, space=space, document_id=mention) or resolve(
                tx, space=space, path=f"~/{mention}"
            )
        if target is not None and target.id != document_id:
            mentions[target.id] = None
    return list(mentions)
