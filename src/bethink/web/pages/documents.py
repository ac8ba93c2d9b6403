"""What memory wrote: the tree, every version, what changed, who wrote each line, and what it rests on."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from bethink.errors import NotFound
from bethink.model.documents import Document, DocumentEntry, SourceKind
from bethink.model.operations.documents import (
    BLAME,
    DOCUMENT_HISTORY,
    DOCUMENT_SOURCES,
    GET_DOCUMENT,
    OUTLINE,
    RESTORE_DOCUMENT,
    TREE,
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
from bethink.model.recall import Lineage, Ref, RefKind
from bethink.web import draw
from bethink.web.compare import compare
from bethink.web.visit import Goto, MenuItem, Page, PageRoute, Twin, Visit

_SHOWN_VERSIONS = 8
_HISTORY = 200
_DEEPEST = 8
_MOST_SOURCES = 20
_VIEWS = ("changes", "lines", "sources")
_KINDS = {
    SourceKind.FACT: RefKind.FACT,
    SourceKind.MESSAGE: RefKind.MESSAGE,
    SourceKind.SESSION_MEMORY: RefKind.SESSION_MEMORY,
}


class Node(NamedTuple):
    """A line of the tree. `more` leads to the rest of its siblings, if there are many."""

    depth: int
    entry: DocumentEntry
    children: int
    more: bool = False


def _top(visit: Visit) -> Twin:
    return OUTLINE, OutlineRequest(as_of=visit.moment)


async def documents(visit: Visit) -> Page | Goto:
    """Lead to the first document below the top of the tree that says something."""
    top = await visit.run(*_top(visit))
    if not top.items:
        return Page(template="documents.html", values={"document": None})
    first = top.items[0].document
    below = await visit.run(OUTLINE, OutlineRequest(document_id=first.id, as_of=visit.moment))
    newest = max((each.document for each in below.items), key=lambda each: each.valid_from, default=first)
    return Goto(visit.link("documents", newest.id))


def _history(visit: Visit) -> Twin:
    return DOCUMENT_HISTORY, DocumentHistoryRequest(document_id=visit.names["document"], limit=_HISTORY)


async def document(visit: Visit) -> Page:
    """Show one document: two of its versions compared, its lines with their versions, or its sources."""
    name = visit.names["document"]
    history = await _known(visit)
    newest = history[-1]
    chosen = _numbered(history, visit.number("version", newest.version)) or newest
    previous = _numbered(history, visit.number("before", chosen.version - 1))
    after = await _at(visit, name, chosen.valid_from)
    before = await _at(visit, name, previous.valid_from) if previous else None
    view = visit.ask("view") if visit.ask("view") in _VIEWS else "changes"
    lines = compare(before.body if before else "", after.body)
    nodes, path = await _tree(visit, newest)
    place = history.index(chosen)
    first = min(max(place - _SHOWN_VERSIONS + 2, 0), max(len(history) - _SHOWN_VERSIONS, 0))
    shown = history[first : first + _SHOWN_VERSIONS]
    gone = newest.valid_to is not None and not visit.as_of
    values: dict[str, Any] = {
        "nodes": nodes,
        "path": "" if gone else path,
        "document": after,
        "before": before,
        "newest": newest.version,
        "gone": gone,
        "versions": shown,
        "earlier": first,
        "later": len(history) - first - len(shown),
        "ribbon": _ribbon(shown, after, before),
        "view": view,
        "lines": lines,
        "plus": sum(each.kind == "new" for each in lines),
        "minus": sum(each.kind == "gone" for each in lines),
        "blame": await _blame(visit, name, after.version) if view == "lines" else None,
        "sources": await _sources(visit, name, after.version) if view == "sources" else [],
        "may_edit": visit.may_change(UPDATE_DOCUMENT) and after.version == newest.version and not gone,
        "may_restore": visit.may_change(RESTORE_DOCUMENT),
        "link": _linked(visit, name, "" if view == "changes" else view),
    }
    return Page(template="documents.html", values=values)


def _linked(visit: Visit, name: str, view: str) -> Callable[..., str]:
    """Return what links to other versions and views of a document; the view stays unless another is asked for."""

    def link(**query: object) -> str:
        return visit.link("documents", name, **({"view": view} | query))

    return link


async def _known(visit: Visit) -> list[DocumentEntry]:
    """Return the versions that there were at the moment looked from, the oldest first."""
    page = await visit.run(*_history(visit))
    moment = visit.moment
    found = [each for each in reversed(page.items) if moment is None or each.valid_from <= moment]
    if not found:
        raise NotFound("no such document here.", hint="Choose one from the tree.")
    return found


def _numbered(history: Sequence[DocumentEntry], number: int) -> DocumentEntry | None:
    return next((each for each in history if each.version == number), None)


async def _at(visit: Visit, name: str, moment: datetime) -> Document:
    return await visit.run(GET_DOCUMENT, GetDocumentRequest(document_id=name, as_of=moment))


async def _tree(visit: Visit, chosen: DocumentEntry) -> tuple[list[Node], str]:
    """Return the tree, open along the way to one document, and the path of that."""
    way: list[DocumentEntry] = [chosen]
    while way[0].parent is not None and len(way) < _DEEPEST:
        request = GetDocumentRequest(document_id=way[0].parent, as_of=visit.moment)
        try:
            way.insert(0, await visit.run(GET_DOCUMENT, request))
        except NotFound:
            break
    is_open = {each.id for each in way}

    async def below(parent: str | None, depth: int) -> list[Node]:
        page = await visit.run(OUTLINE, OutlineRequest(document_id=parent, as_of=visit.moment))
        found: list[Node] = []
        for each in page.items:
            found.append(Node(depth, each.document, each.children, more=False))
            if each.document.id in is_open and each.children and depth < _DEEPEST:
                found += await below(each.document.id, depth + 1)
        if page.next is not None and found:
            found[-1] = found[-1]._replace(more=True)
        return found

    return await below(None, 0), "~/" + "/".join(each.slug for each in way)


def _ribbon(versions: Sequence[DocumentEntry], after: Document, before: Document | None) -> Any:
    # Each version has the same width, as its label does: how long it held is said in words.
    chosen = {after.version: "after"} | ({before.version: "before"} if before else {})
    width = 1 / len(versions)
    return draw.ribbon(
        [(place * width, (place + 1) * width, chosen.get(each.version, "")) for place, each in enumerate(versions)]
    )


async def _blame(visit: Visit, name: str, version: int) -> Any:
    found = await visit.run(BLAME, BlameRequest(document_id=name, version=version))
    return {"lines": found.lines, "by": {each.version: each for each in found.versions}}


async def _sources(visit: Visit, name: str, version: int) -> list[Lineage]:
    found = await visit.run(DOCUMENT_SOURCES, DocumentSourcesRequest(document_id=name, version=version))
    lines: list[Lineage] = []
    for each in found[:_MOST_SOURCES]:
        ref = Ref(_KINDS[each.kind], each.id, each.number)
        try:
            lines.append(await visit.run(EXPLAIN, ExplainRequest(ref=ref)))
        except NotFound:
            lines.append(Lineage(ref=ref, text=None))
    return lines


async def edit(visit: Visit) -> Page:
    """Show a document as a form."""
    visit.require(UPDATE_DOCUMENT)
    found = await visit.run(GET_DOCUMENT, GetDocumentRequest(document_id=visit.names["document"]))
    return Page(template="edit.html", values={"document": found})


async def save(visit: Visit) -> Goto:
    """Write the next version of a document."""
    name = visit.names["document"]
    found = await visit.run(GET_DOCUMENT, GetDocumentRequest(document_id=name))
    draft = replace(
        found.draft(),
        title=visit.filled("title").strip(),
        description=visit.filled("description").strip(),
        body=visit.filled("body"),
    )
    expected, reason = visit.filled_number("expected") or 0, visit.filled("reason").strip()[:200]
    request = UpdateDocumentRequest(document_id=name, draft=draft, expected=expected, reason=reason)
    made = await visit.run(UPDATE_DOCUMENT, request)
    return Goto(visit.link("documents", name, version=made.version))


async def restore(visit: Visit) -> Goto:
    """Write an old version again as the newest."""
    name = visit.names["document"]
    version, expected = visit.filled_number("version") or 0, visit.filled_number("expected")
    request = RestoreDocumentRequest(document_id=name, version=version, expected=expected)
    made = await visit.run(RESTORE_DOCUMENT, request)
    return Goto(visit.link("documents", name, version=made.version))


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
        operation=TREE,
        shortcut="d",
        position=60,
        templates=("documents", "edit"),
    ),
)
