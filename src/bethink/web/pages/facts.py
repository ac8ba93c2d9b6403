"""What is held true, since when, until when, and what took its place."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from bethink.model.recall import Ref, RefKind
from bethink.model.records import Fact
from bethink.model.verbs.facts import FACT_VERSIONS, LIST_FACTS, FactRequest, ListFactsRequest
from bethink.model.verbs.memory import CORRECT, FORGET, CorrectRequest
from bethink.web import draw
from bethink.web.lineage import chain_of
from bethink.web.text import day
from bethink.web.visit import Goto, Page, PageRoute, Twin, Visit

_PAGE = 50


@dataclass(frozen=True, slots=True)
class Row:
    """A fact with the time in which it held."""

    fact: Fact
    begin: datetime
    end: datetime | None
    bar: Markup
    successor: str | None = None
    successor_link: str = ""


def _listed(visit: Visit) -> Twin:
    return LIST_FACTS, ListFactsRequest(limit=_PAGE, after=visit.ask("after"), as_of=visit.moment)


async def facts(visit: Visit) -> Page:
    """List facts, each with a bar on one axis of time."""
    found = await visit.run(*_listed(visit))
    rows = _rows([(each, None, None) for each in found], visit.moment or datetime.now(UTC))
    more = visit.link("facts", after=found[-1].id) if len(found) == _PAGE else ""
    values: dict[str, Any] = {"rows": rows[0], "axis": draw.axis(rows[1]), "more": more}
    return Page(template="facts.html", values=values)


def _rows(
    found: Sequence[tuple[Fact, str | None, Ref | None]], now: datetime
) -> tuple[list[Row], list[tuple[str, float]]]:
    begins = [each.valid_from or each.happened_from or each.recorded_at or now for each, _, _ in found]
    learnt = [each.recorded_at or now for each, _, _ in found]
    first = min([*begins, *learnt, now])
    whole = max((now - first).total_seconds(), 86_400.0)

    def place(at: datetime) -> float:
        return min(max((at - first).total_seconds() / whole, 0.0), 1.0)

    rows: list[Row] = []
    for (fact, text, _), begin in zip(found, begins, strict=True):
        end = fact.retired_at or fact.valid_to
        ended = end is not None and end <= now
        label = f"{fact.content} Held from {day(begin)} to {day(end) if ended else 'today'}."
        until = place(end) if end is not None and ended else 1.0
        bar = draw.held(place(begin), until, place(fact.recorded_at or begin), ended=ended, label=label)
        rows.append(Row(fact, begin, end if ended else None, bar, text))
    return rows, _months(first, now, place)


def _months(first: datetime, now: datetime, place: Any) -> list[tuple[str, float]]:
    """Return where months begin, as many as can be read."""
    count = (now.year - first.year) * 12 + now.month - first.month + 1
    step = max(1, -(-count // 8))
    found: list[tuple[str, float]] = []
    for number in range(0, count + 1, step):
        year, month = divmod(first.year * 12 + first.month - 1 + number, 12)
        at = datetime(year, month + 1, 1, tzinfo=UTC)
        if first <= at <= now:
            found.append((f"{at:%b}" if at.month > step else f"{at:%b %Y}", place(at)))
    return found


async def fact(visit: Visit) -> Page:
    """Show one fact: its versions, its lineage, and a form to correct it."""
    name = visit.names["fact"]
    versions = await visit.run(FACT_VERSIONS, FactRequest(fact_id=name))
    number = versions[-1].version if versions else 0
    chain = await chain_of(visit, Ref(RefKind.FACT, name, visit.number("version", number)))
    current = bool(versions) and versions[-1].retired_at is None
    values: dict[str, Any] = {
        "versions": versions,
        "chain": chain,
        "fact": chain.line.fact,
        "may_correct": current and visit.may_change(CORRECT),
        "may_forget": visit.may_change(FORGET),
    }
    return Page(template="fact.html", values=values)


def _versions(visit: Visit) -> Twin:
    return FACT_VERSIONS, FactRequest(fact_id=visit.names["fact"])


async def correct(visit: Visit) -> Goto:
    """Write what a fact shall say from now on."""
    request = CorrectRequest(ref=Ref.read(visit.filled("ref")), text=visit.filled("text").strip())
    made = await visit.run(CORRECT, request)
    return Goto(visit.link("facts", made.ref.id, told="corrected"))


ROUTES = (
    PageRoute(path="/s/{space}/facts", handler=facts, twin=_listed),
    PageRoute(path="/s/{space}/facts/{fact}", handler=fact, twin=_versions),
    PageRoute(path="/s/{space}/facts/{fact}/correct", handler=correct, method="POST"),
)
