"""Applies the changes of a run to the tree, all or none, and undoes them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from bethink.errors import ConflictError, InvalidRequestError, NotFoundError
from bethink.memory.documents import tree
from bethink.model.consolidation import DocumentChange, DocumentTree
from bethink.model.documents import (
    MEMORY,
    ROOT,
    SUMMARY,
    Author,
    Document,
    DocumentDraft,
    DocumentSource,
    Provenance,
    SourceKind,
    steps_of,
)
from bethink.model.records import Origin
from bethink.model.rules import least_trusted
from bethink.store import documents, facts, holds
from bethink.store.db import Tx
from bethink.store.documents import WrittenVersion

_EMPTY = "Nothing is known here anymore."
_PAST_OVERVIEWS = 10
"""Number of past versions of an overview that keep their text: each is complete, and the next repeats it. Under a legal
hold, all versions keep it."""
_DATA = Origin("document")


def read_tree(tx: Tx, *, space: str) -> DocumentTree:
    """Return the documents below `~/memory` by path, with their sources."""
    below = f"{ROOT}/"
    pages = {
        path: page for path, page in tree.everything(tx, space=space).items() if path == ROOT or path.startswith(below)
    }
    behind = documents.sources_of(tx, space=space, versions=[(page.id, page.version) for page in pages.values()])
    return DocumentTree(
        documents=pages, sources={path: behind.get((page.id, page.version), []) for path, page in pages.items()}
    )


def apply(
    tx: Tx, changes: Sequence[DocumentChange], *, space: str, author: Author, quoted: bool
) -> dict[str, tuple[str, int]]:  # fmt: skip
    """Write every change and return the version that each became.

    Parents are written before children; deletions come last, the deepest first. Text that only quotes facts is trusted
    as much as the least of them; text of a model is trusted as any other text. The caller has locked the facts of the
    space, so that no legal hold is placed in the meantime. Raises `VersionConflictError` if a document has changed
    since it was read.
    """
    tree.ensure_root(tx, space=space)
    pages = _read_pages(tx, changes, space=space)
    on_hold = holds.find_active(tx, space=space) is not None
    versions: dict[str, WrittenVersion] = {}
    for change in sorted(_writes(changes), key=lambda item: _depth(item.path)):
        provenance = _provenance(tx, change, author, space, quoted=quoted)
        item = versions[change.path] = _write(tx, change, pages, space=space, provenance=provenance)
        pages.ids[change.path] = item.document_id
        last_thinned = item.version - _PAST_OVERVIEWS - 1
        if change.path in (MEMORY, SUMMARY) and not on_hold and last_thinned > 0:
            documents.thin(tx, space=space, document_id=item.document_id, version=last_thinned)
    documents.publish(tx, versions.values(), space=space)
    for change in sorted(_deletions(changes), key=lambda item: -_depth(item.path)):
        _delete(tx, change, space=space, provenance=_provenance(tx, change, author, space, quoted=quoted))
    return {path: (item.document_id, item.version) for path, item in versions.items()}


class _Pages(NamedTuple):
    """The ids of all documents by path, and those that change with their sources."""

    ids: dict[str, str]
    current: Mapping[str, Document]
    sources: Mapping[tuple[str, int], Sequence[DocumentSource]]


def _read_pages(tx: Tx, changes: Iterable[DocumentChange], *, space: str) -> _Pages:
    changed = [change.document_id for change in _writes(changes) if change.document_id is not None]
    current = documents.find_all(tx, space=space, document_ids=changed)
    versions = [(document.id, document.version) for document in current.values()]
    return _Pages(
        ids={path: entry.id for path, entry in tree.entries(tx, space=space).items()},
        current=current,
        sources=documents.sources_of(tx, space=space, versions=versions),
    )


def undo(tx: Tx, *, space: str, run: str) -> None:
    """Restore every document to its text before a run. Raises `ConflictError` if one was changed again since."""
    by_document: dict[str, list[Document]] = {}
    for document in documents.written_by(tx, space=space, run=run):
        by_document.setdefault(document.id, []).append(document)
    deleted = [
        document for document in documents.deleted_by(tx, space=space, run=run) if document.id not in by_document
    ]
    _restore_deleted(tx, deleted, space=space, run=run)
    for versions in by_document.values():
        last = versions[-1]
        current = documents.find(tx, space=space, document_id=last.id)
        if current is None or current.version != last.version:
            raise ConflictError(
                f"Document {last.id} was changed after {run}.", hint="Restore its version with documents.restore()."
            )
        before = [document for document in documents.versions(tx, space=space, document_id=last.id)
                  if document.version < versions[0].version]  # fmt: skip
        if before:
            tree.restore(
                tx, space=space, document_id=last.id, version=before[-1].version, expected=current.version,
                author=_undoing(before[-1], run),
            )  # fmt: skip
    created = [versions[-1] for versions in by_document.values() if versions[0].version == 1]
    for document in sorted(created, key=lambda item: -_depth(tree.path_of(tx, item, space=space))):
        author = _undoing(document, run)
        tree.delete(tx, space=space, document_id=document.id, expected=document.version, author=author)


def _restore_deleted(tx: Tx, deleted: list[Document], *, space: str, run: str) -> None:
    """Restore deleted documents, each after its parent and the documents it links to."""
    waiting = {document.id: document for document in deleted}
    while waiting:
        ready = [
            document
            for document in waiting.values()
            if document.parent not in waiting and not set(document.links) & set(waiting)
        ] or list(waiting.values())  # fmt: skip
        for document in ready:
            author = _undoing(document, run)
            tree.restore(
                tx, space=space, document_id=document.id, version=document.version, expected=None, author=author
            )
            del waiting[document.id]


def _undoing(before: Document, run: str) -> Author:
    # With the original author: derived documents stay derived, and are kept up to date.
    return replace(before.author, reason=f"undo {run}", run=f"undo:{run}")


def _writes(changes: Iterable[DocumentChange]) -> list[DocumentChange]:
    return [change for change in changes if change.draft is not None]


def _deletions(changes: Iterable[DocumentChange]) -> list[DocumentChange]:
    return [change for change in changes if change.draft is None and change.document_id is not None]


def _depth(path: str) -> int:
    return len(steps_of(path) or ())


def _provenance(tx: Tx, change: DocumentChange, author: Author, space: str, *, quoted: bool) -> Provenance:
    cited_facts = [source.id for source in change.sources if source.kind is SourceKind.FACT]
    known_origins = facts.origins_of(tx, space=space, fact_ids=cited_facts)
    origins = [known_origins.get(fact_id, _DATA) for fact_id in cited_facts]
    if not quoted or len(origins) < len(change.sources):
        origins.append(_DATA)  # a session summary may repeat anyone's words, and so may a sentence of a model
    return Provenance(author=author, origin=least_trusted(origins or [_DATA]), sources=change.sources)


def _write(
    tx: Tx, change: DocumentChange, pages: _Pages, *, space: str, provenance: Provenance
) -> WrittenVersion:  # fmt: skip
    assert change.draft is not None  # noqa: S101 - only writes come here
    above, _, slug = change.path.rpartition("/")
    if above not in pages.ids or not (above == ROOT or above.startswith(f"{ROOT}/")):
        raise InvalidRequestError(f"{change.path} has no parent below {ROOT}.", hint="Write its parent first.")
    draft = replace(change.draft, parent=pages.ids[above], slug=slug)
    if change.document_id is None or change.expected is None:
        return tree.create_version(tx, draft, space=space, provenance=provenance)
    current = pages.current.get(change.document_id)
    if current is None:
        raise NotFoundError(f"No document {change.document_id!r} in space {space!r}.")
    sources = pages.sources.get((current.id, current.version), ())
    return tree.update_version(
        tx, draft, current, space=space, expected=change.expected, provenance=provenance, sources=sources
    )


def _delete(tx: Tx, change: DocumentChange, *, space: str, provenance: Provenance) -> None:
    assert change.document_id is not None  # noqa: S101 - only deletions come here
    assert change.expected is not None  # noqa: S101
    dependents = tree.dependents(tx, space=space, document_id=change.document_id)
    if not dependents:
        tree.delete(tx, space=space, document_id=change.document_id, expected=change.expected, author=provenance.author)
        return
    # Another document links to it or is below it, so it stays without its text.
    current = tree.get(tx, space=space, document_id=change.document_id)
    empty = DocumentDraft(slug=current.slug, title=current.title, body=_EMPTY, parent=current.parent, links=())
    tree.update(tx, empty, space=space, document_id=change.document_id, expected=change.expected, provenance=provenance)
