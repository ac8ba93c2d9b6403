"""What memory wrote: the tree, every version, what changed, who wrote each line, and what it rests on."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from bethink.errors import NotFound
from bethink.model.documents import Document, DocumentEntry, SourceKind
from bethink.model.recall import Lineage, Ref, RefKind
from bethink.model.verbs.documents import (
    DOCUMENT_SOURCES,
    DOCUMENT_VERSIONS,
    RESTORE_DOCUMENT,
    TREE,
    UPDATE_DOCUMENT,
    DocumentRequest,
    DocumentSourcesRequest,
    RestoreDocumentRequest,
    TreeRequest,
    UpdateDocumentRequest,
)
from bethink.model.verbs.memory import EXPLAIN, ExplainRequest
from bethink.web import draw
from bethink.web.compare import blame, compare
from bethink.web.visit import Goto, Page, PageRoute, Twin, Visit

_SHOWN_VERSIONS = 8
_MOST_SOURCES = 20
_VIEWS = ("changes", "lines", "sources")


def _tree(visit: Visit) -> Twin:
    return TREE, TreeRequest(as_of=visit.moment)


async def documents(visit: Visit) -> Page | Goto:
    """Show the tree, and lead to the document that was changed last."""
    nodes = await visit.run(*_tree(visit))
    newest = max(nodes.values(), key=lambda each: (each.parent is not None, each.valid_from), default=None)
    if newest is not None:
        return Goto(visit.link("documents", newest.id))
    return Page(template="documents.html", values={"nodes": [], "document": None})


def _versions(visit: Visit) -> Twin:
    return DOCUMENT_VERSIONS, DocumentRequest(document_id=visit.names["document"])


async def document(visit: Visit) -> Page:
    """Show one document: two of its versions compared, its lines with their versions, or its sources."""
    name = visit.names["document"]
    nodes = await visit.run(*_tree(visit))
    versions = await _known(visit, name)
    newest = versions[-1].version
    after = _numbered(versions, visit.number("version", newest))
    before = _numbered(versions, visit.number("before", 0)) or _previous(versions, after)
    view = visit.ask("view") if visit.ask("view") in _VIEWS else "changes"
    lines = compare(before.body if before else "", after.body)
    values: dict[str, Any] = {
        "nodes": _outline(nodes),
        "document": after,
        "path": next((path for path, each in nodes.items() if each.id == name), ""),
        "before": before,
        "newest": newest,
        "gone": versions[-1].valid_to is not None and not visit.as_of,
        "versions": versions[-_SHOWN_VERSIONS:],
        "earlier": max(0, len(versions) - _SHOWN_VERSIONS),
        "ribbon": _ribbon(versions[-_SHOWN_VERSIONS:], after, before),
        "view": view,
        "lines": lines,
        "plus": sum(each.kind == "new" for each in lines),
        "minus": sum(each.kind == "gone" for each in lines),
        "blamed": _blamed(versions, after) if view == "lines" else [],
        "by": {each.version: each for each in versions},
        "sources": await _sources(visit, name, after.version) if view == "sources" else [],
        "may_edit": visit.may_change(UPDATE_DOCUMENT) and after.version == newest and after.valid_to is None,
        "may_restore": visit.may_change(RESTORE_DOCUMENT),
        "link": lambda **query: visit.link("documents", name, **({"view": view if view != "changes" else ""} | query)),
    }
    return Page(template="documents.html", values=values)


async def _known(visit: Visit, name: str) -> list[Document]:
    versions = await visit.run(*_versions(visit))
    if visit.moment is not None:
        versions = [each for each in versions if each.valid_from <= visit.moment]
    if not versions:
        raise NotFound(f"no document {name[:50]!r} here.", hint="Choose one from the tree.")
    return versions


def _numbered(versions: Sequence[Document], number: int) -> Any:
    return next((each for each in versions if each.version == number), versions[-1] if number else None)


def _previous(versions: Sequence[Document], after: Document) -> Document | None:
    return next((each for each in versions if each.version == after.version - 1), None)


def _outline(nodes: dict[str, DocumentEntry]) -> list[tuple[int, DocumentEntry]]:
    ordered = sorted(nodes.items(), key=lambda pair: pair[0].casefold().split("/"))
    return [(path.count("/") - 1, each) for path, each in ordered]


def _ribbon(versions: Sequence[Document], after: Document, before: Document | None) -> Any:
    # Each version has the same width, as its label does: how long it held is said in words.
    chosen = {after.version: "after"} | ({before.version: "before"} if before else {})
    width = 1 / len(versions)
    return draw.ribbon(
        [(place * width, (place + 1) * width, chosen.get(each.version, "")) for place, each in enumerate(versions)]
    )


def _blamed(versions: Sequence[Document], after: Document) -> list[tuple[str, int]]:
    return blame([(each.version, each.body) for each in versions if each.version <= after.version])


async def _sources(visit: Visit, name: str, version: int) -> list[Lineage]:
    found = await visit.run(DOCUMENT_SOURCES, DocumentSourcesRequest(document_id=name, version=version))
    kinds = {
        SourceKind.FACT: RefKind.FACT,
        SourceKind.MESSAGE: RefKind.MESSAGE,
        SourceKind.SESSION_MEMORY: RefKind.SESSION_MEMORY,
    }
    lines: list[Lineage] = []
    for each in found[:_MOST_SOURCES]:
        ref = Ref(kinds[each.kind], each.id, each.number)
        try:
            lines.append(await visit.run(EXPLAIN, ExplainRequest(ref=ref)))
        except NotFound:
            lines.append(Lineage(ref=ref, text=None))
    return lines


async def edit(visit: Visit) -> Page:
    """Show a document as a form."""
    versions = await _known(visit, visit.names["document"])
    return Page(template="edit.html", values={"document": versions[-1], "now": datetime.now(UTC)})


async def save(visit: Visit) -> Goto:
    """Write the next version of a document."""
    name = visit.names["document"]
    versions = await visit.run(*_versions(visit))
    if not versions:
        raise NotFound(f"no document {name[:50]!r}.", hint="Choose one from the tree.")
    draft = replace(
        versions[-1].draft(),
        title=visit.filled("title").strip(),
        description=visit.filled("description").strip(),
        body=visit.filled("body"),
    )
    expected = visit.filled_number("expected") or 0
    made = await visit.run(
        UPDATE_DOCUMENT,
        UpdateDocumentRequest(
            document_id=name, draft=draft, expected=expected, reason=visit.filled("reason").strip()[:200]
        ),
    )
    return Goto(visit.link("documents", name, version=made.version))


async def restore(visit: Visit) -> Goto:
    """Write an old version again as the newest."""
    name = visit.names["document"]
    version, expected = visit.filled_number("version") or 0, visit.filled_number("expected")
    request = RestoreDocumentRequest(document_id=name, version=version, expected=expected)
    made = await visit.run(RESTORE_DOCUMENT, request)
    return Goto(visit.link("documents", name, version=made.version))


ROUTES = (
    PageRoute(path="/s/{space}/documents", handler=documents, twin=_tree),
    PageRoute(path="/s/{space}/documents/{document}", handler=document, twin=_versions),
    PageRoute(path="/s/{space}/documents/{document}/edit", handler=edit),
    PageRoute(path="/s/{space}/documents/{document}/save", handler=save, method="POST"),
    PageRoute(path="/s/{space}/documents/{document}/restore", handler=restore, method="POST"),
)
