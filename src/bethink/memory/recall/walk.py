"""Follows a memory over several steps: back to its sources, and on to derived data."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from bethink.model.moments import from_micros
from bethink.model.recall import LineageStep, LineageWalk
from bethink.model.refs import Ref, RefKind
from bethink.model.views import NOW, TimeView
from bethink.store import search
from bethink.store.db import Tx

_MAX_STEPS = 200
"""The maximum number of memories that a walk lists. The others are counted."""
_MAX_NEIGHBORS = 1_000
"""The maximum number of neighbors of one kind in each step."""
_EXCERPT = 300

_BACK = {
    RefKind.FACT: ("walk_from_facts",),
    RefKind.DOCUMENT: ("walk_from_documents",),
    RefKind.SESSION_SUMMARY: ("walk_from_session_summaries",),
    RefKind.MESSAGE: (),
}
_ON = {
    RefKind.MESSAGE: ("walk_to_facts", "walk_to_session_summaries", "walk_to_documents"),
    RefKind.FACT: ("walk_to_documents",),
    RefKind.SESSION_SUMMARY: ("walk_to_documents",),
    RefKind.DOCUMENT: (),
}


class _Visit(NamedTuple):
    ref: Ref
    step: int
    neighbor: Ref


def walk(tx: Tx, *, space: str, ref: Ref, depth: int, view: TimeView = NOW) -> LineageWalk:
    """Return the memories up to `depth` steps before and after one: the nearest, and the number of others."""
    visited: dict[tuple[Ref, bool], _Visit] = {}
    beyond = 0
    for ways, sign in ((_BACK, -1), (_ON, 1)):
        level = [ref]
        for step in range(1, depth + 1):
            level, omitted = _expand(tx, ways, level, space=space, visited=visited, step=sign * step)
            beyond += omitted
            if not level:
                break
    reached = sorted(visited.values(), key=lambda visit: (abs(visit.step), -visit.step, visit.ref.parts))
    beyond += max(0, len(reached) - _MAX_STEPS)
    listed = reached[:_MAX_STEPS]
    texts = search.texts(tx, space=space, refs=dict.fromkeys(visit.ref for visit in listed), view=view)
    # In another view, what is missing was said or written later.
    steps = (_step(visit, texts) for visit in listed if view.is_now or visit.ref in texts)
    return LineageWalk(steps=tuple(steps), beyond=beyond if view.is_now else 0)


def _expand(
    tx: Tx,
    ways: Mapping[RefKind, tuple[str, ...]],
    level: Iterable[Ref],
    *,
    space: str,
    visited: dict[tuple[Ref, bool], _Visit],
    step: int,
) -> tuple[list[Ref], int]:
    """Add the memories one step further, and return them with the number of omitted ones."""
    by_kind: dict[RefKind, list[Ref]] = {}
    for ref in level:
        by_kind.setdefault(ref.kind, []).append(ref)
    new: list[Ref] = []
    omitted: set[Ref] = set()
    for kind, refs in by_kind.items():
        params = {"ids": [ref.id for ref in refs], "numbers": [ref.number for ref in refs], "kind": kind}
        for query in ways[kind]:
            for row in tx.all(query, space=space, limit=_MAX_NEIGHBORS, **params):
                near = Ref(RefKind(row["kind"]), row["id"], row["number"] or 0)
                if (near, step > 0) in visited:
                    continue
                if len(new) >= _MAX_STEPS:
                    omitted.add(near)
                    continue
                visited[near, step > 0] = _Visit(near, step, Ref(kind, row["from_id"], row["from_number"]))
                new.append(near)
    return new, len(omitted)


def _step(reached: _Visit, texts: Mapping[Ref, search.Text]) -> LineageStep:
    text = texts.get(reached.ref)
    if text is None:
        return LineageStep(ref=reached.ref, step=reached.step, via=reached.neighbor, text=None)
    return LineageStep(
        ref=reached.ref,
        step=reached.step,
        via=reached.neighbor,
        text=text.text[:_EXCERPT],
        origin=text.origin,
        at=from_micros(text.at),
    )
