"""Puts a run's changes into the tree, all of them or none, and takes them back."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bethink.errors import Conflict, Invalid
from bethink.learn import tree
from bethink.model.consolidation import Change, Shelf
from bethink.model.documents import ROOT, Author, Document, Draft, Provenance, SourceKind, steps_of
from bethink.model.records import Origin
from bethink.model.rules import lowest
from bethink.store import documents, facts
from bethink.store.db import Tx

_EMPTY = "Nothing is known here any more."
_DATA = Origin("document")


def shelf(tx: Tx, *, space: str) -> Shelf:
    """Return the documents below `~/memory` by their paths, with what each rests on."""
    found: dict[str, Document] = {}
    for each in documents.everything(tx, space=space):
        path = tree.path_of(tx, each, space=space)
        if path == ROOT or path.startswith(f"{ROOT}/"):
            found[path] = each
    sources = {
        path: documents.sources(tx, space=space, document_id=each.id, version=each.version)
        for path, each in found.items()
    }
    return Shelf(documents=dict(sorted(found.items())), sources=sources)


def apply(tx: Tx, changes: Sequence[Change], *, space: str, author: Author) -> None:
    """Write every change, parents before children and deletions last, deepest first. Raises `Stale` if one is late.

    A document is trusted as far as the least trusted of its sources.
    """
    tree.ensure_root(tx, space=space)
    for change in sorted(_writes(changes), key=lambda each: _depth(each.path)):
        _write(tx, change, space=space, by=_provenance(tx, change, author, space))
    for change in sorted(_deletions(changes), key=lambda each: -_depth(each.path)):
        _delete(tx, change, space=space, by=_provenance(tx, change, author, space))


def take_back(tx: Tx, *, space: str, run: str) -> None:
    """Restore every document to what it said before a run. Raises `Conflict` if one was changed again since."""
    written: dict[str, list[Document]] = {}
    for each in documents.written_by(tx, space=space, run=run):
        written.setdefault(each.id, []).append(each)
    deleted = {each.id: each for each in documents.deleted_by(tx, space=space, run=run) if each.id not in written}
    author = Author(kind="user", reason=f"undo {run}", run=f"undo:{run}")
    for each in _parents_first(deleted):
        tree.restore(tx, space=space, document_id=each.id, version=each.version, expected=None, author=author)
    for versions in written.values():
        last = versions[-1]
        current = documents.find(tx, space=space, document_id=last.id)
        if current is None or current.version != last.version:
            raise Conflict(f"document {last.id} was changed after {run}.", hint="Restore its version by hand.")
        before = versions[0].version - 1
        if before:
            tree.restore(tx, space=space, document_id=last.id, version=before, expected=current.version, author=author)
    made = [versions[-1] for versions in written.values() if versions[0].version == 1]
    for each in sorted(made, key=lambda found: -_depth(tree.path_of(tx, found, space=space))):
        tree.delete(tx, space=space, document_id=each.id, expected=each.version, author=author)


def _parents_first(deleted: dict[str, Document]) -> list[Document]:
    def depth(document: Document) -> int:
        above = deleted.get(document.parent or "")
        return 0 if above is None else 1 + depth(above)

    return sorted(deleted.values(), key=depth)


def _writes(changes: Iterable[Change]) -> list[Change]:
    return [each for each in changes if each.draft is not None]


def _deletions(changes: Iterable[Change]) -> list[Change]:
    return [each for each in changes if each.draft is None and each.document_id is not None]


def _depth(path: str) -> int:
    return len(steps_of(path) or ())


def _provenance(tx: Tx, change: Change, author: Author, space: str) -> Provenance:
    told = [facts.find(tx, space=space, fact_id=each.id) for each in change.sources if each.kind is SourceKind.FACT]
    origins = [_DATA if fact is None else fact.origin for fact in told]
    if len(origins) < len(change.sources):
        origins.append(_DATA)  # a session memory may hold words of anyone
    return Provenance(author=author, origin=lowest(origins or [_DATA]), sources=change.sources)


def _write(tx: Tx, change: Change, *, space: str, by: Provenance) -> None:
    assert change.draft is not None  # noqa: S101 - only writes come here
    above = change.path.rpartition("/")[0]
    parent = tree.resolve(tx, space=space, path=above)
    if parent is None or not (above == ROOT or above.startswith(f"{ROOT}/")):
        raise Invalid(f"{change.path} has no place in {ROOT}.", hint="Write its parent first.")
    draft = replace(change.draft, parent=parent.id, slug=change.path.rpartition("/")[2])
    if change.document_id is None or change.expected is None:
        tree.create(tx, draft, space=space, by=by)
    else:
        tree.update(tx, draft, space=space, document_id=change.document_id, expected=change.expected, by=by)


def _delete(tx: Tx, change: Change, *, space: str, by: Provenance) -> None:
    assert change.document_id is not None  # noqa: S101 - only deletions come here
    assert change.expected is not None  # noqa: S101
    held = tree.holders(tx, space=space, document_id=change.document_id)
    if not held:
        tree.delete(tx, space=space, document_id=change.document_id, expected=change.expected, author=by.author)
        return
    # Someone links to it, or hangs below it: it stays, and says nothing.
    current = tree.get(tx, space=space, document_id=change.document_id)
    empty = Draft(slug=current.slug, title=current.title, body=_EMPTY, parent=current.parent, links=())
    tree.update(tx, empty, space=space, document_id=change.document_id, expected=change.expected, by=by)
