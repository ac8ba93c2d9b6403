"""What is held true, since when, until when, and what took its place."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from bethink.base.frozen import frozen
from bethink.model.facts import Fact
from bethink.model.operations.facts import FACT_VERSIONS, LIST_FACTS, PAGE_FACTS, FactRequest, PageFactsRequest
from bethink.model.operations.memory import CORRECT, FORGET, CorrectRequest
from bethink.model.pages import FactEntry, FactState
from bethink.model.recall import Ref, RefKind
from bethink.web import draw
from bethink.web.lineage import chain_of, link_of
from bethink.web.text import day
from bethink.web.visit import Goto, MenuItem, Page, PageRoute, Twin, Visit

_PAGE = 50


@frozen(kw_only=False)
class Row:
    """A fact with the time in which it held."""

    fact: Fact
    begin: datetime
    end: datetime | None
    bar: Markup
    successor: str | None = None
    successor_link: str = ""


def _listed(visit: Visit) -> Twin:
    state = visit.ask("state")
    return PAGE_FACTS, PageFactsRequest(
        state=FactState(state) if state in set(FactState) else None,
        subject=visit.ask("subject") or None,
        slot=visit.ask("slot") or None,
        as_of=visit.moment,
        limit=_PAGE,
        after=visit.ask("after"),
    )


async def facts(visit: Visit) -> Page:
    """List facts, each with a bar on one axis of time."""
    verb, request = _listed(visit)
    found = await visit.run(verb, request)
    rows, months = _rows(visit, found.items, visit.moment or datetime.now(UTC))
    chosen: dict[str, object] = {"state": request.state, "subject": request.subject, "slot": request.slot}

    def narrow(**query: object) -> str:
        return visit.link("facts", **(chosen | query))

    values: dict[str, Any] = {
        "rows": rows,
        "axis": draw.axis(months),
        "more": visit.link("facts", **chosen, after=found.next) if found.next else "",
        "chosen": chosen,
        "states": tuple(FactState),
        "holding": sum(each.state is FactState.HOLDS for each in found.items),
        "narrow": narrow,
    }
    return Page(template="facts.html", values=values)


def _rows(visit: Visit, found: Sequence[FactEntry], now: datetime) -> tuple[list[Row], list[tuple[str, float]]]:
    """Return the rows of a page by subject, on one axis of time, and where its months begin."""
    begins = [_begin(each.fact, now) for each in found]
    learnt = [each.fact.recorded_at or now for each in found]
    first = min([*begins, *learnt, now])
    whole = max((now - first).total_seconds(), 86_400.0)

    def place(at: datetime) -> float:
        return min(max((at - first).total_seconds() / whole, 0.0), 1.0)

    rows: list[Row] = []
    for each in _grouped(found, now):
        fact, begin = each.fact, _begin(each.fact, now)
        end = None if each.state is FactState.HOLDS else min(fact.retired_at or now, fact.valid_to or now)
        label = f"{fact.content} Held from {day(begin)} to {day(end) if end else 'today'}."
        until, known = place(end) if end else 1.0, place(fact.recorded_at or begin)
        bar = draw.held(min(place(begin), until), until, known, ended=end is not None, label=label)
        link = link_of(visit, each.successor) if each.successor else ""
        rows.append(Row(fact, begin, end, bar, each.successor_text, link))
    return rows, _months(first, now, place)


def _grouped(found: Sequence[FactEntry], now: datetime) -> list[FactEntry]:
    """Order facts by subject as they come, within one by slot, and within that by time."""
    subjects = {subject: place for place, subject in enumerate(dict.fromkeys(each.fact.subject for each in found))}
    slots: dict[object, datetime] = {}
    for each in found:
        slot, begin = (each.fact.subject, each.fact.slot or each.fact.id), _begin(each.fact, now)
        slots[slot] = min(slots.get(slot, begin), begin)

    def order(each: FactEntry) -> tuple[int, datetime, str, datetime]:
        slot = each.fact.slot or each.fact.id
        return subjects[each.fact.subject], slots[each.fact.subject, slot], slot, _begin(each.fact, now)

    return sorted(found, key=order)


def _begin(fact: Fact, now: datetime) -> datetime:
    return fact.valid_from or fact.happened_from or fact.recorded_at or now


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
MENU = (
    MenuItem(
        section="Memory",
        name="Facts",
        step="facts",
        operation=LIST_FACTS,
        shortcut="f",
        position=50,
        templates=("facts", "fact"),
    ),
)
