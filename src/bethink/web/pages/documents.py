"""Documents: the tree, all versions, changes, the version of each line, and sources."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from bethink.errors import NotFoundError
from bethink.model.documents import Document, DocumentEntry, SourceKind
from bethink.model.moments import LAST
from bethink.model.operations.documents import (
    BLAME,
    DOCUMENT_HISTORY,
    DOCUMENT_SOURCES,
    GET_DOCUMENT,
    LIST_DOCUMENTS,
    OUTLINE,
    RESTORE_DOCUMENT,
    UPDATE_DOCUMENT,
    BlameRequest,
    DocumentHistoryRequest,
    DocumentSourcesRequest,
    GetDocumentRequest,
    OutlineRequest,
    RestoreDocumentRequest,
    UpdateDocumentRequest,
)
from bethink.model.operations.memory import EXPLAIN, ExplainRequest
from bethink.model.recall import Lineage
from bethink.model.refs import Ref, RefKind
from bethink.web import draw
from bethink.web.compare import compare
from bethink.web.visit import Goto, MenuItem, PageRoute, PageView, Twin, Visit

_MAX_VERSIONS = 8
_HISTORY = 200
_MAX_DEPTH = 8
_MAX_SOURCES = 20
_VIEWS = ("changes", "lines", "sources")
_KINDS = {
    SourceKind.FACT: RefKind.FACT,
    SourceKind.MESSAGE: RefKind.MESSAGE,
    SourceKind.SESSION_SUMMARY: RefKind.SESSION_SUMMARY,
}


class Node(NamedTuple):
    """A row of the tree. `more` is set on the last listed sibling if there are others."""

    depth: int
    entry: DocumentEntry
    children: int
    more: bool = False


def _top(visit: Visit) -> Twin:
    return OUTLINE, OutlineRequest(**visit.times)


async def documents(visit: Visit) -> PageView | Goto:
    """Redirect to the most recently changed document below the first root."""
    top = await visit.run(*_top(visit))
    if not top.items:
        return PageView(template="documents.html", values={"document": None})
    first = top.items[0].document
    below = await visit.run(OUTLINE, OutlineRequest(document_id=first.id, **visit.times))
    newest = max((item.document for item in below.items), key=lambda item: item.valid_from, default=first)
    return Goto(visit.link("documents", newest.id))


def _history(visit: Visit) -> Twin:
    return DOCUMENT_HISTORY, DocumentHistoryRequest(document_id=visit.names["document"], limit=_HISTORY)


async def document(visit: Visit) -> PageView:
    """Show one document: two of its versions compared, its lines with their versions, or its sources."""
    name = visit.names["document"]
    history = await _load_history(visit)
    newest = history[-1]
    chosen = _find_version(history, visit.query_number("version", newest.version)) or newest
    previous = _find_version(history, visit.query_number("before", chosen.version - 1))
    after = replace(await _load_at(visit, name, chosen.valid_from), valid_to=chosen.valid_to)
    before = await _load_at(visit, name, previous.valid_from) if previous else None
    view = visit.query_value("view") if visit.query_value("view") in _VIEWS else "changes"
    lines = compare(before.body if before else "", after.body)
    nodes, path = await _tree(visit, newest)
    index = history.index(chosen)
    first = min(max(index - _MAX_VERSIONS + 2, 0), max(len(history) - _MAX_VERSIONS, 0))
    versions = history[first : first + _MAX_VERSIONS]
    is_deleted = newest.valid_to is not None and not visit.is_past
    values: dict[str, Any] = {
        "nodes": nodes,
        "path": "" if is_deleted else path,
        "document": after,
        "before": before,
        "newest": newest.version,
        "gone": is_deleted,
        "versions": versions,
        "earlier": first,
        "later": len(history) - first - len(versions),
        "ribbon": _ribbon(versions, after, before),
        "view": view,
        "lines": lines,
        "plus": sum(line.kind == "new" for line in lines),
        "minus": sum(line.kind == "gone" for line in lines),
        "blame": await _blame(visit, name, after.version) if view == "lines" else None,
        "sources": await _sources(visit, name, after.version) if view == "sources" else [],
        "may_edit": visit.may_change(UPDATE_DOCUMENT) and after.version == newest.version and not is_deleted,
        "may_restore": visit.may_change(RESTORE_DOCUMENT),
        "link": _link_builder(visit, name, "" if view == "changes" else view),
    }
    return PageView(template="documents.html", values=values)


def _link_builder(visit: Visit, name: str, view: str) -> Callable[..., str]:
    """Return a function that links to versions and views of a document. It keeps the view by default."""

    def link(**query: object) -> str:
        return visit.link("documents", name, **({"view": view} | query))

    return link


async def _load_history(visit: Visit) -> list[DocumentEntry]:
    """Return the versions that existed at the selected time, oldest first."""
    page = await visit.run(*_history(visit))
    until = visit.until or LAST
    versions = [
        replace(entry, valid_to=None) if entry.valid_to is not None and entry.valid_to > until else entry
        for entry in reversed(page.items)
        if entry.valid_from <= until
    ]
    if not versions:
        raise NotFoundError("Document not found in this space.", hint="Select a document from the tree.")
    return versions


def _find_version(history: Sequence[DocumentEntry], number: int) -> DocumentEntry | None:
    return next((entry for entry in history if entry.version == number), None)


async def _load_at(visit: Visit, name: str, moment: datetime) -> Document:
    return await visit.run(GET_DOCUMENT, GetDocumentRequest(document_id=name, as_of=moment))


async def _tree(visit: Visit, chosen: DocumentEntry) -> tuple[list[Node], str]:
    """Return the tree, expanded down to one document, and the path of that document."""
    ancestors: list[DocumentEntry] = [chosen]
    while ancestors[0].parent is not None and len(ancestors) < _MAX_DEPTH:
        request = GetDocumentRequest(document_id=ancestors[0].parent, **visit.times)
        try:
            ancestors.insert(0, await visit.run(GET_DOCUMENT, request))
        except NotFoundError:
            break
    open_ids = {entry.id for entry in ancestors}

    async def below(parent: str | None, depth: int) -> list[Node]:
        page = await visit.run(OUTLINE, OutlineRequest(document_id=parent, **visit.times))
        nodes: list[Node] = []
        for entry in page.items:
            nodes.append(Node(depth, entry.document, entry.children, more=False))
            if entry.document.id in open_ids and entry.children and depth < _MAX_DEPTH:
                nodes += await below(entry.document.id, depth + 1)
        if page.next and nodes:
            nodes[-1] = nodes[-1]._replace(more=True)
        return nodes

    return await below(None, 0), "~/" + "/".join(entry.slug for entry in ancestors)


def _ribbon(versions: Sequence[DocumentEntry], after: Document, before: Document | None) -> Any:
    # All versions have the same width, as their labels do. Their dates are shown as text.
    chosen = {after.version: "after"} | ({before.version: "before"} if before else {})
    width = 1 / len(versions)
    return draw.ribbon(
        [(index * width, (index + 1) * width, chosen.get(entry.version, "")) for index, entry in enumerate(versions)]
    )


async def _blame(visit: Visit, name: str, version: int) -> Any:
    result = await visit.run(BLAME, BlameRequest(document_id=name, version=version))
    return {"lines": result.lines, "by": {entry.version: entry for entry in result.versions}}


async def _sources(visit: Visit, name: str, version: int) -> list[Lineage]:
    sources = await visit.run(DOCUMENT_SOURCES, DocumentSourcesRequest(document_id=name, version=version))
    lines: list[Lineage] = []
    for source in sources[:_MAX_SOURCES]:
        ref = Ref(_KINDS[source.kind], source.id, source.number)
        try:
            lines.append(await visit.run(EXPLAIN, ExplainRequest(ref=ref, **visit.times)))
        except NotFoundError:
            lines.append(Lineage(ref=ref, text=None))
    return lines


async def edit(visit: Visit) -> PageView:
    """Show the edit form of a document."""
    visit.require(UPDATE_DOCUMENT)
    current = await visit.run(GET_DOCUMENT, GetDocumentRequest(document_id=visit.names["document"]))
    return PageView(template="edit.html", values={"document": current})


async def save(visit: Visit) -> Goto:
    """Save a new version of a document."""
    name = visit.names["document"]
    current = await visit.run(GET_DOCUMENT, GetDocumentRequest(document_id=name))
    draft = replace(
        current.draft(),
        title=visit.form_value("title").strip(),
        description=visit.form_value("description").strip(),
        body=visit.form_value("body"),
    )
    expected, reason = visit.form_number("expected") or 0, visit.form_value("reason").strip()[:200]
    request = UpdateDocumentRequest(document_id=name, draft=draft, if_version=expected, reason=reason)
    saved = await visit.run(UPDATE_DOCUMENT, request)
    return Goto(visit.link("documents", name, version=saved.version))


async def restore(visit: Visit) -> Goto:
    """Restore an old version as the newest."""
    name = visit.names["document"]
    version, expected = visit.form_number("version") or 0, visit.form_number("expected")
    request = RestoreDocumentRequest(document_id=name, version=version, if_version=expected)
    restored = await visit.run(RESTORE_DOCUMENT, request)
    return Goto(visit.link("documents", name, version=restored.version))


ROUTES = (
    PageRoute(path="/s/{space}/documents", handler=documents, twin=_top),
    PageRoute(path="/s/{space}/documents/{document}", handler=document, twin=_history),
    PageRoute(path="/s/{space}/documents/{document}/edit", handler=edit),
    PageRoute(path="/s/{space}/documents/{document}/save", handler=save, method="POST"),
    PageRoute(path="/s/{space}/documents/{document}/restore", handler=restore, method="POST"),
)
MENU = (
    MenuItem(
        section="Memory",
        name="Documents",
        step="documents",
        operation=LIST_DOCUMENTS,
        shortcut="d",
        position=60,
        templates=("documents", "edit"),
    ),
)
