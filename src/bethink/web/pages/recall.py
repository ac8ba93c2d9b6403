"""Ask as an agent would, and see why each line came back, what was left out, and where a line comes from."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from markupsafe import Markup

from bethink.model.operations.facts import LIST_FACTS, ListFactsRequest
from bethink.model.operations.memory import EXPLAIN, FORGET, RECALL, ExplainRequest, RecallRequest
from bethink.model.operations.sessions import LIST_SESSIONS, ListSessionsRequest
from bethink.model.recall import Candidate, Fate, Recall, Ref, RefKind
from bethink.web import draw
from bethink.web.lineage import chain_of, link_of
from bethink.web.visit import MenuItem, Page, PageRoute, Twin, Visit

_STRIP = 200
"""How many sessions and facts the strip of time shows: the newest, so that it costs the same in any space."""
_COLUMNS = 120
_DEPTH = 5
_DAY = timedelta(days=1)

REASONS: Mapping[Fate, str] = {
    Fate.SUPERSEDED: "no longer holds",
    Fate.DUPLICATE: "says the same as a line that is shown",
    Fate.ENDED: "its time has passed",
    Fate.BEYOND_LIMIT: "past the limit that was asked for",
    Fate.OVER_BUDGET: "did not fit the token budget",
    Fate.UNCERTAIN: "less certain than was asked for",
    Fate.UNRELATED: "only stands beside something that fits",
    Fate.QUESTION: "is the question itself",
    Fate.ERASED: "was erased",
}
SIGNALS = (
    "words", "vector", "window", "session", "speaker", "recency", "learnt", "date", "entity", "quoted", "usage",
    "evidence", "asks", "reranker",
)  # fmt: skip
"""The signals, in the order in which a bar stacks them."""


def _asked(visit: Visit) -> RecallRequest | None:
    question = visit.ask("q").strip()
    if not question:
        return None
    kinds = tuple(RefKind(each) for each in visit.query.get("kind", ()) if each in set(RefKind))
    return RecallRequest(
        question=question,
        limit=min(max(visit.number("limit", 5), 1), 100),
        budget=visit.number("budget", 0) or None,
        as_of=visit.moment,
        kinds=kinds or tuple(RefKind),
        explain=True,
    )


def _twin(visit: Visit) -> Twin | None:
    asked = _asked(visit)
    return None if asked is None else (RECALL, asked)


async def recall(visit: Visit) -> Page:
    """Show the answer to a question, explained."""
    asked = _asked(visit)
    found = None if asked is None else await visit.run(RECALL, asked)
    chain = None
    ref = visit.ask("ref") or (found.items[0].ref if found and found.items else "")
    if found and ref:
        chain = await chain_of(visit, Ref.read(ref))
    values: dict[str, Any] = {
        "asked": asked,
        "found": found,
        "chain": chain,
        "kinds": asked.kinds if asked else tuple(RefKind),
        "all_kinds": tuple(RefKind),
        "strip": await strip_of(visit),
        "link": partial(_chosen, visit),
        **(_explained(found) if found else {}),
    }
    return Page(template="recall.html", values=values)


def _chosen(visit: Visit, ref: Ref) -> str:
    """Return the same question with another line followed."""
    query = {name: list(values) for name, values in visit.query.items()} | {"ref": str(ref)}
    return visit.link("recall", **query)


def _explained(found: Recall) -> dict[str, Any]:
    by = {each.ref: each for each in found.candidates}
    most = max([*(_height(each) for each in found.candidates), 0.1])
    used = {name for each in found.candidates for name, signal in each.signals.items() if signal.added > 0.0005}
    names = [name for name in (*SIGNALS, *sorted(used - set(SIGNALS))) if name in used]
    left: dict[Fate, list[Candidate]] = {}
    for each in found.candidates:
        if each.fate is not Fate.SHOWN:
            left.setdefault(each.fate, []).append(each)
    ordered = sorted(left.items(), key=lambda pair: list(REASONS).index(pair[0]) if pair[0] in REASONS else 99)
    return {
        "by": by,
        "names": names,
        "most": most,
        "bars": {each.ref: _bar(each, names, most) for each in found.candidates},
        "left": [(fate, REASONS.get(fate, ""), _folded(group)) for fate, group in ordered],
    }


def _height(candidate: Candidate) -> float:
    return sum(max(signal.added, 0.0) for signal in candidate.signals.values())


def _bar(candidate: Candidate, names: Sequence[str], most: float) -> Markup:
    parts = [(name, candidate.signals[name].added) for name in names if name in candidate.signals]
    label = ", ".join(f"{name} {added:.2f}" for name, added in parts if added >= 0.005)
    return draw.stacked(parts, most, f"Score {candidate.score:.2f}: {label}")


def _folded(group: Sequence[Candidate]) -> list[tuple[Candidate, int]]:
    """Let the versions of one document stand behind the best of them."""
    first: dict[object, Candidate] = {}
    more: dict[object, int] = {}
    for each in group:
        key = (each.ref.kind, each.ref.id) if each.ref.kind is RefKind.DOCUMENT else each.ref
        more[key] = more.get(key, -1) + 1
        first.setdefault(key, each)
    return [(each, more[key]) for key, each in first.items()]


class Strip(NamedTuple):
    """A strip of time to choose a moment on."""

    drawing: Markup
    first: datetime
    days: int
    here: int


async def strip_of(visit: Visit) -> Strip | None:
    """Return when something was said and learnt in a space, or None where nothing was."""
    sessions = await visit.run(LIST_SESSIONS, ListSessionsRequest(limit=_STRIP))
    at = sorted(each.begun_at or each.session.created_at for each in sessions)
    if not at:
        return None
    now = datetime.now(UTC)
    facts = await visit.run(LIST_FACTS, ListFactsRequest(limit=_STRIP))
    learnt = [each.recorded_at for each in facts if each.recorded_at is not None]
    first = min([*at, *learnt]).replace(hour=0, minute=0, second=0, microsecond=0) - _DAY
    last = max([*at, *learnt]) + _DAY
    days = max((last - first).days, 1)
    columns = min(days, _COLUMNS)
    counts = [0] * columns

    def place(moment: datetime) -> float:
        return min(max((moment - first) / (days * _DAY), 0.0), 1.0)

    for each in at:
        counts[min(int(place(each) * columns), columns - 1)] += 1
    seen = visit.moment or now
    drawing = draw.strip(
        counts,
        [place(each) for each in learnt if place(each) > 0],
        place(seen),
        f"{len(at)} sessions and {len(learnt)} facts over {days} days",
    )
    # The slider stands at the end of a day, where the line is: at 0 before the first, at its right end now.
    return Strip(drawing, first, days, min(max((seen - first).days + 1, 0), days))


async def lineage(visit: Visit) -> Page:
    """Show one memory with its whole lineage."""
    chain = await chain_of(visit, Ref.read(visit.names["ref"]), depth=_DEPTH)
    values = {"chain": chain, "place": link_of(visit, chain.line.ref), "may_forget": visit.may_change(FORGET)}
    return Page(template="lineage.html", values=values)


def _lineage_twin(visit: Visit) -> Twin:
    return EXPLAIN, ExplainRequest(ref=Ref.read(visit.names["ref"]), depth=_DEPTH)


ROUTES = (
    PageRoute(path="/s/{space}/recall", handler=recall, twin=_twin),
    PageRoute(path="/s/{space}/memories/{ref}", handler=lineage, twin=_lineage_twin),
)
MENU = (MenuItem(section="Memory", name="Recall", step="recall", operation=RECALL, shortcut="r", position=10),)
