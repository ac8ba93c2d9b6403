"""Applies the changes of a run to the tree, all or none, and undoes them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bethink.errors import Conflict, Invalid
from bethink.memory.documents import tree
from bethink.model.consolidation import Change, DocumentTree
from bethink.model.documents import (
    MEMORY,
    ROOT,
    SUMMARY,
    Author,
    Document,
    DocumentDraft,
    Provenance,
    SourceKind,
    steps_of,
)
from bethink.model.records import Origin
from bethink.model.rules import lowest
from bethink.store import documents, facts, holds
from bethink.store.db import Tx

_EMPTY = "Nothing is known here any more."
_PAST_OVERVIEWS = 10
"""How many past versions of an overview keep their text: each is complete, and the next repeats it. Under a legal hold
all of them do."""
_DATA = Origin("document")


def read_tree(tx: Tx, *, space: str) -> DocumentTree:
    """Return the documents below `~/memory` by path, with their sources."""
    below = f"{ROOT}/"
    found = {
        path: each for path, each in tree.everything(tx, space=space).items() if path == ROOT or path.startswith(below)
    }
    behind = documents.sources_of(tx, space=space, versions=[(each.id, each.version) for each in found.values()])
    return DocumentTree(
        documents=found, sources={path: behind.get((each.id, each.version), []) for path, each in found.items()}
    )


def apply(
    tx: Tx, changes: Sequence[Change], *, space: str, author: Author, quoted: bool
) -> dict[str, tuple[str, int]]:  # fmt: skip
    """Write every change and return the version that each became.

    Parents are written before children; deletions come last, the deepest first. Text that only quotes facts is trusted
    as the least of them; text that a model wrote is trusted as any other text. The caller has locked the facts of the
    space, so that no legal hold is placed meanwhile. Raises `Stale` if a document has changed since it was read.
    """
    tree.ensure_root(tx, space=space)
    held = holds.standing(tx, space=space) is not None
    written: dict[str, tuple[str, int]] = {}
    for change in sorted(_writes(changes), key=lambda each: _depth(each.path)):
        made = _write(tx, change, space=space, by=_provenance(tx, change, author, space, quoted=quoted))
        written[change.path] = (made.id, made.version)
        if change.path in (MEMORY, SUMMARY) and not held:
            documents.thin(tx, space=space, document_id=made.id, version=made.version - _PAST_OVERVIEWS - 1)
    for change in sorted(_deletions(changes), key=lambda each: -_depth(each.path)):
        _delete(tx, change, space=space, by=_provenance(tx, change, author, space, quoted=quoted))
    return written


def undo(tx: Tx, *, space: str, run: str) -> None:
    """Restore every document to its text before a run. Raises `Conflict` if one was changed again since."""
    written: dict[str, list[Document]] = {}
    for each in documents.written_by(tx, space=space, run=run):
        written.setdefault(each.id, []).append(each)
    deleted = [each for each in documents.deleted_by(tx, space=space, run=run) if each.id not in written]
    _bring_back(tx, deleted, space=space, run=run)
    for versions in written.values():
        last = versions[-1]
        current = documents.find(tx, space=space, document_id=last.id)
        if current is None or current.version != last.version:
            raise Conflict(
                f"document {last.id} was changed after {run}.", hint="Restore its version with documents.restore()."
            )
        before = [each for each in documents.versions(tx, space=space, document_id=last.id)
                  if each.version < versions[0].version]  # fmt: skip
        if before:
            tree.restore(
                tx, space=space, document_id=last.id, version=before[-1].version, expected=current.version,
                author=_undoing(before[-1], run),
            )  # fmt: skip
    made = [versions[-1] for versions in written.values() if versions[0].version == 1]
    for each in sorted(made, key=lambda found: -_depth(tree.path_of(tx, found, space=space))):
        author = _undoing(each, run)
        tree.delete(tx, space=space, document_id=each.id, expected=each.version, author=author)


def _bring_back(tx: Tx, deleted: list[Document], *, space: str, run: str) -> None:
    """Restore deleted documents, each after its parent and the documents it links to."""
    waiting = {each.id: each for each in deleted}
    while waiting:
        ready = [
            each for each in waiting.values() if each.parent not in waiting and not set(each.links) & set(waiting)
        ] or list(waiting.values())  # fmt: skip
        for each in ready:
            author = _undoing(each, run)
            tree.restore(tx, space=space, document_id=each.id, version=each.version, expected=None, author=author)
            del waiting[each.id]


def _undoing(before: Document, run: str) -> Author:
    # With the original author: what memory derived stays derived, and is kept up to date.
    return replace(before.author, reason=f"undo {run}", run=f"undo:{run}")


def _writes(changes: Iterable[Change]) -> list[Change]:
    return [each for each in changes if each.draft is not None]


def _deletions(changes: Iterable[Change]) -> list[Change]:
    return [each for each in changes if each.draft is None and each.document_id is not None]


def _depth(path: str) -> int:
    return len(steps_of(path) or ())


def _provenance(tx: Tx, change: Change, author: Author, space: str, *, quoted: bool) -> Provenance:
    told = [facts.find(tx, space=space, fact_id=each.id) for each in change.sources if each.kind is SourceKind.FACT]
    origins = [_DATA if fact is None else fact.origin for fact in told]
    if not quoted or len(origins) < len(change.sources):
        origins.append(_DATA)  # a session memory may repeat anyone's words, and so may a sentence of a model
    return Provenance(author=author, origin=lowest(origins or [_DATA]), sources=change.sources)


def _write(tx: Tx, change: Change, *, space: str, by: Provenance) -> Document:
    assert change.draft is not None  # noqa: S101 - only writes come here
    above = change.path.rpartition("/")[0]
    parent = tree.resolve(tx, space=space, path=above)
    if parent is None or not (above == ROOT or above.startswith(f"{ROOT}/")):
        raise Invalid(f"{change.path} has no parent below {ROOT}.", hint="Write its parent first.")
    draft = replace(change.draft, parent=parent.id, slug=change.path.rpartition("/")[2])
    if change.document_id is None or change.expected is None:
        return tree.create(tx, draft, space=space, by=by)
    return tree.update(tx, draft, space=space, document_id=change.document_id, expected=change.expected, by=by)


def _delete(tx: Tx, change: Change, *, space: str, by: Provenance) -> None:
    assert change.document_id is not None  # noqa: S101 - only deletions come here
    assert change.expected is not None  # noqa: S101
    held = tree.holders(tx, space=space, document_id=change.document_id)
    if not held:
        tree.delete(tx, space=space, document_id=change.document_id, expected=change.expected, author=by.author)
        return
    # Another document links to it, or is below it: it stays, without its text.
    current = tree.get(tx, space=space, document_id=change.document_id)
    empty = DocumentDraft(slug=current.slug, title=current.title, body=_EMPTY, parent=current.parent, links=())
    tree.update(tx, empty, space=space, document_id=change.document_id, expected=change.expected, by=by)
