"""Recall as an agent does it, with the reasons for each match, the excluded candidates, and the sources of a match."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from markupsafe import Markup

from bethink.model.operations.facts import LIST_FACTS, ListFactsRequest
from bethink.model.operations.memory import EXPLAIN, FORGET, RECALL, ExplainRequest, RecallRequest
from bethink.model.operations.sessions import LIST_SESSIONS, ListSessionsRequest
from bethink.model.recall import Candidate, Fate, RecallResult
from bethink.model.refs import Ref, RefKind
from bethink.web import draw
from bethink.web.lineage import chain_of, link_of
from bethink.web.visit import MenuItem, PageRoute, PageView, Twin, Visit

_STRIP = 200
"""Number of sessions and facts in the time strip: the newest, so that the cost is the same in any space."""
_COLUMNS = 120
_DEPTH = 5
_DAY = timedelta(days=1)

REASONS: Mapping[Fate, str] = {
    Fate.SUPERSEDED: "no longer current",
    Fate.DUPLICATE: "same content as a match",
    Fate.ENDED: "no longer valid",
    Fate.BEYOND_LIMIT: "ranked beyond the limit",
    Fate.OVER_BUDGET: "did not fit into the token budget",
    Fate.UNCERTAIN: "below the minimum certainty",
    Fate.UNRELATED: "only next to a match",
    Fate.QUESTION: "the question itself",
    Fate.ERASED: "text erased",
}
SIGNALS = (
    "words", "vector", "window", "session", "speaker", "recency", "learned", "date", "entity", "quoted", "usage",
    "evidence", "asks", "reranker",
)  # fmt: skip
"""The signals, in the order in which a bar stacks them."""


def _recall_request(visit: Visit) -> RecallRequest | None:
    question = visit.query_value("q").strip()
    if not question:
        return None
    kinds = tuple(RefKind(kind) for kind in visit.query.get("kind", ()) if kind in set(RefKind))
    return RecallRequest(
        question=question,
        limit=min(max(visit.query_number("limit", 5), 1), 100),
        budget=visit.query_number("budget", 0) or None,
        **visit.times,
        kinds=kinds or tuple(RefKind),
        explain=True,
    )


def _twin(visit: Visit) -> Twin | None:
    request = _recall_request(visit)
    return None if request is None else (RECALL, request)


async def recall(visit: Visit) -> PageView:
    """Show the matches for a question, with explanations."""
    request = _recall_request(visit)
    result = None if request is None else await visit.run(RECALL, request)
    chain = None
    ref = visit.query_value("ref") or (result[0].ref if result else "")
    if result is not None and ref:
        chain = await chain_of(visit, Ref.coerce(ref))
    values: dict[str, Any] = {
        "asked": request,
        "found": result,
        "chain": chain,
        "kinds": request.kinds if request else tuple(RefKind),
        "all_kinds": tuple(RefKind),
        "strip": await strip_of(visit),
        "link": partial(_match_link, visit),
        **({} if result is None else _explanation(result)),
    }
    return PageView(template="recall.html", values=values)


def _match_link(visit: Visit, ref: Ref) -> str:
    """Return the address of the same question with another match selected."""
    query = {name: list(values) for name, values in visit.query.items()} | {"ref": str(ref)}
    return visit.link("recall", **query)


def _explanation(result: RecallResult) -> dict[str, Any]:
    by_ref = {candidate.ref: candidate for candidate in result.candidates}
    max_score = max([*(_height(candidate) for candidate in result.candidates), 0.1])
    used = {
        name for candidate in result.candidates for name, signal in candidate.signals.items() if signal.added > 0.0005
    }
    names = [name for name in (*SIGNALS, *sorted(used - set(SIGNALS))) if name in used]
    excluded: dict[Fate, list[Candidate]] = {}
    for candidate in result.candidates:
        if candidate.fate is not Fate.SHOWN:
            excluded.setdefault(candidate.fate, []).append(candidate)
    ordered = sorted(excluded.items(), key=lambda pair: list(REASONS).index(pair[0]) if pair[0] in REASONS else 99)
    return {
        "by": by_ref,
        "names": names,
        "most": max_score,
        "bars": {candidate.ref: _bar(candidate, names, max_score) for candidate in result.candidates},
        "left": [(fate, REASONS.get(fate, ""), _group_versions(group)) for fate, group in ordered],
    }


def _height(candidate: Candidate) -> float:
    return sum(max(signal.added, 0.0) for signal in candidate.signals.values())


def _bar(candidate: Candidate, names: Sequence[str], max_score: float) -> Markup:
    parts = [(name, candidate.signals[name].added) for name in names if name in candidate.signals]
    label = ", ".join(f"{name} {added:.2f}" for name, added in parts if added >= 0.005)
    return draw.stacked_bar(parts, max_score, f"Score {candidate.score:.2f}: {label}")


def _group_versions(group: Sequence[Candidate]) -> list[tuple[Candidate, int]]:
    """Group the versions of a document under the best one."""
    first: dict[object, Candidate] = {}
    more: dict[object, int] = {}
    for candidate in group:
        key = (candidate.ref.kind, candidate.ref.id) if candidate.ref.kind is RefKind.DOCUMENT else candidate.ref
        more[key] = more.get(key, -1) + 1
        first.setdefault(key, candidate)
    return [(candidate, more[key]) for key, candidate in first.items()]


class Strip(NamedTuple):
    """A time strip for selecting a date."""

    drawing: Markup
    first: datetime
    days: int
    selected: int


async def strip_of(visit: Visit) -> Strip | None:
    """Return the time strip of a space, or None if it has no sessions."""
    sessions = await visit.run(LIST_SESSIONS, ListSessionsRequest(limit=_STRIP))
    at = sorted(item.started_at or item.session.created_at for item in sessions)
    if not at:
        return None
    now = datetime.now(UTC)
    facts = await visit.run(LIST_FACTS, ListFactsRequest(limit=_STRIP))
    learned = [item.recorded_at for item in facts if item.recorded_at is not None]
    first = min([*at, *learned]).replace(hour=0, minute=0, second=0, microsecond=0) - _DAY
    last = max([*at, *learned]) + _DAY
    days = max((last - first).days, 1)
    columns = min(days, _COLUMNS)
    counts = [0] * columns

    def position(moment: datetime) -> float:
        return min(max((moment - first) / (days * _DAY), 0.0), 1.0)

    for item in at:
        counts[min(int(position(item) * columns), columns - 1)] += 1
    selected = visit.moment or now
    drawing = draw.strip(
        counts,
        [position(item) for item in learned if position(item) > 0],
        position(selected),
        f"{len(at)} sessions and {len(learned)} facts over {days} days",
    )
    # The slider is at the end of a day, as the line is: 0 is before the first day, the right end is now.
    return Strip(drawing, first, days, min(max((selected - first).days + 1, 0), days))


async def lineage(visit: Visit) -> PageView:
    """Show one memory with its whole lineage."""
    chain = await chain_of(visit, Ref.coerce(visit.names["ref"]), depth=_DEPTH)
    values = {"chain": chain, "place": link_of(visit, chain.line.ref), "may_forget": visit.may_change(FORGET)}
    return PageView(template="lineage.html", values=values)


def _lineage_twin(visit: Visit) -> Twin:
    return EXPLAIN, ExplainRequest(ref=Ref.coerce(visit.names["ref"]), depth=_DEPTH, **visit.times)


ROUTES = (
    PageRoute(path="/s/{space}/recall", handler=recall, twin=_twin),
    PageRoute(path="/s/{space}/memories/{ref}", handler=lineage, twin=_lineage_twin),
)
MENU = (MenuItem(section="Memory", name="Recall", step="recall", operation=RECALL, shortcut="r", position=10),)
