"""Follows a memory over several steps: back to messages, and on to what was made of it."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from bethink.model.moments import from_micros
from bethink.model.recall import LineageStep, LineageWalk, Ref, RefKind
from bethink.store import search
from bethink.store.db import Tx

_MOST = 200
"""How many memories a walk lists. The others are counted."""
_LOOKED_AT = 1_000
"""How many neighbours of one kind are looked at in each step."""
_EXCERPT = 300

_BACK = {
    RefKind.FACT: ("walk_from_facts",),
    RefKind.DOCUMENT: ("walk_from_documents",),
    RefKind.SESSION_MEMORY: ("walk_from_session_memories",),
    RefKind.MESSAGE: (),
}
_ON = {
    RefKind.MESSAGE: ("walk_to_facts", "walk_to_session_memories", "walk_to_documents"),
    RefKind.FACT: ("walk_to_documents",),
    RefKind.SESSION_MEMORY: ("walk_to_documents",),
    RefKind.DOCUMENT: (),
}


class _Reached(NamedTuple):
    ref: Ref
    step: int
    beside: Ref


def walk(tx: Tx, *, space: str, ref: Ref, depth: int) -> LineageWalk:
    """Return what lies up to `depth` steps before and after a memory: the nearest ones, and how many more there are."""
    found: dict[tuple[Ref, bool], _Reached] = {}
    beyond = 0
    for ways, sign in ((_BACK, -1), (_ON, 1)):
        level = [ref]
        for step in range(1, depth + 1):
            level, left_out = _further(tx, ways, level, space=space, found=found, step=sign * step)
            beyond += left_out
            if not level:
                break
    reached = sorted(found.values(), key=lambda each: (abs(each.step), -each.step, each.ref.parts))
    beyond += max(0, len(reached) - _MOST)
    shown = reached[:_MOST]
    texts = search.texts(tx, space=space, refs=dict.fromkeys(each.ref for each in shown), as_of=None)
    return LineageWalk(steps=tuple(_step(each, texts) for each in shown), beyond=beyond)


def _further(
    tx: Tx,
    ways: Mapping[RefKind, tuple[str, ...]],
    level: Iterable[Ref],
    *,
    space: str,
    found: dict[tuple[Ref, bool], _Reached],
    step: int,
) -> tuple[list[Ref], int]:
    """Add what is one step further, and return it with the number of those there was no room for."""
    by_kind: dict[RefKind, list[Ref]] = {}
    for ref in level:
        by_kind.setdefault(ref.kind, []).append(ref)
    new: list[Ref] = []
    left_out: set[Ref] = set()
    for kind, refs in by_kind.items():
        asked = {"ids": [ref.id for ref in refs], "numbers": [ref.number for ref in refs], "kind": kind}
        for query in ways[kind]:
            for row in tx.all(query, space=space, limit=_LOOKED_AT, **asked):
                near = Ref(RefKind(row["kind"]), row["id"], row["number"] or 0)
                if (near, step > 0) in found:
                    continue
                if len(new) >= _MOST:
                    left_out.add(near)
                    continue
                found[near, step > 0] = _Reached(near, step, Ref(kind, row["from_id"], row["from_number"]))
                new.append(near)
    return new, len(left_out)


def _step(reached: _Reached, texts: Mapping[Ref, search.Text]) -> LineageStep:
    text = texts.get(reached.ref)
    if text is None:
        return LineageStep(ref=reached.ref, step=reached.step, beside=reached.beside, text=None)
    return LineageStep(
        ref=reached.ref,
        step=reached.step,
        beside=reached.beside,
        text=text.text[:_EXCERPT],
        origin=text.origin,
        at=from_micros(text.at),
    )
