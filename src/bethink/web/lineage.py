"""Where a memory comes from and where it went, in the order in which it happened."""

from collections.abc import Sequence
from typing import NamedTuple

from bethink.errors import NotFound
from bethink.model.documents import Document
from bethink.model.operations.documents import GET_DOCUMENT, GetDocumentRequest
from bethink.model.operations.memory import EXPLAIN, ExplainRequest
from bethink.model.recall import Lineage, Ref, RefKind
from bethink.web.visit import Visit

_MOST_USES = 6


class LineageUse(NamedTuple):
    """A memory that was made of another: its newest version, what it is called, and how many versions there were."""

    ref: Ref
    title: str
    link: str
    earlier: int


class Chain(NamedTuple):
    """A lineage, with the memories it was used in by name."""

    line: Lineage
    uses: Sequence[LineageUse]
    more: int


async def chain_of(visit: Visit, ref: Ref, *, depth: int = 1) -> Chain:
    """Follow a memory both ways. With a depth, `walk` has what lies further away."""
    line = await visit.run(EXPLAIN, ExplainRequest(ref=ref, depth=depth))
    newest: dict[tuple[RefKind, str], list[Ref]] = {}
    for each in line.used_in:
        newest.setdefault((each.kind, each.id), []).append(each)
    uses: list[LineageUse] = []
    for refs in list(newest.values())[:_MOST_USES]:
        last = max(refs, key=lambda each: each.number)
        uses.append(LineageUse(last, await _title(visit, last), link_of(visit, last), len(refs) - 1))
    return Chain(line, uses, max(0, len(newest) - _MOST_USES))


async def _title(visit: Visit, ref: Ref) -> str:
    if ref.kind is not RefKind.DOCUMENT:
        return ""
    try:
        found: Document = await visit.run(GET_DOCUMENT, GetDocumentRequest(document_id=ref.id))
    except NotFound:  # it was deleted since
        return ""
    return found.title


def link_of(visit: Visit, ref: Ref) -> str:
    """Return the page that shows a memory in its place."""
    if ref.kind is RefKind.MESSAGE:
        return f"{visit.link('sessions', ref.id, at=ref.number)}#m{ref.number}"
    if ref.kind is RefKind.SESSION_MEMORY:
        return visit.link("sessions", ref.id)
    if ref.kind is RefKind.DOCUMENT:
        return visit.link("documents", ref.id, version=ref.number)
    return visit.link("facts", ref.id)
