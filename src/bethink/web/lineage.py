"""The lineage of a memory for pages: its sources and its uses."""

from collections.abc import Sequence
from typing import NamedTuple

from bethink.errors import NotFoundError
from bethink.model.documents import Document
from bethink.model.operations.documents import GET_DOCUMENT, GetDocumentRequest
from bethink.model.operations.memory import EXPLAIN, ExplainRequest
from bethink.model.recall import Lineage
from bethink.model.refs import Ref, RefKind
from bethink.web.visit import Visit

_MAX_USES = 6


class LineageUse(NamedTuple):
    """A memory derived from another: its newest version, title, link and number of earlier versions."""

    ref: Ref
    title: str
    link: str
    earlier: int


class Chain(NamedTuple):
    """A lineage, with the titles of the memories derived from it."""

    line: Lineage
    uses: Sequence[LineageUse]
    more: int


async def chain_of(visit: Visit, ref: Ref, *, depth: int = 1) -> Chain:
    """Load the sources and uses of a memory. With `depth`, `walk` also has more distant steps."""
    line = await visit.run(EXPLAIN, ExplainRequest(ref=ref, depth=depth, **visit.times))
    newest: dict[tuple[RefKind, str], list[Ref]] = {}
    for use in line.derived:
        newest.setdefault((use.kind, use.id), []).append(use)
    uses: list[LineageUse] = []
    for refs in list(newest.values())[:_MAX_USES]:
        last = max(refs, key=lambda use: use.number)
        uses.append(LineageUse(last, await _title(visit, last), link_of(visit, last), len(refs) - 1))
    return Chain(line, uses, max(0, len(newest) - _MAX_USES))


async def _title(visit: Visit, ref: Ref) -> str:
    if ref.kind is not RefKind.DOCUMENT:
        return ""
    try:
        document: Document = await visit.run(GET_DOCUMENT, GetDocumentRequest(document_id=ref.id, **visit.times))
    except NotFoundError:  # deleted since
        return ""
    return document.title


def link_of(visit: Visit, ref: Ref) -> str:
    """Return the address of the page that shows a memory in context."""
    if ref.kind is RefKind.MESSAGE:
        return f"{visit.link('sessions', ref.id, at=ref.number)}#m{ref.number}"
    if ref.kind is RefKind.SESSION_SUMMARY:
        return visit.link("sessions", ref.id)
    if ref.kind is RefKind.DOCUMENT:
        return visit.link("documents", ref.id, version=ref.number)
    return visit.link("facts", ref.id)
