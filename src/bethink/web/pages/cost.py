"""What learning cost: by day, kind of work, model and space."""

import json
import math
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from bethink.model.jobs import SpendingBy, Usage
from bethink.model.operations.base import Empty
from bethink.model.operations.monitoring import (
    SETTINGS,
    SPACE_SPENDING,
    SPENDING,
    SpaceSpendingRequest,
    SpendingRequest,
)
from bethink.web.costs import COLOURS, by_day, by_name, chart
from bethink.web.visit import MenuItem, Page, PageRoute, Twin, Visit, address

_SPANS = (7, 30, 90, 365)
_SPANS_OF_SPACES = (7, 30)


def _by(visit: Visit) -> SpendingBy:
    return SpendingBy(visit.ask("by")) if visit.ask("by") in set(SpendingBy) else SpendingBy.DAY


def _span(visit: Visit) -> tuple[date, date]:
    days = visit.number("days", 30)
    spans = _SPANS_OF_SPACES if _by(visit) is SpendingBy.SPACE and not visit.space else _SPANS
    today = datetime.now(UTC).date()
    return today - timedelta(days=(days if days in spans else 30) - 1), today


def _listed(visit: Visit) -> Twin:
    first, last = _span(visit)
    return SPENDING, SpendingRequest(by=_by(visit), since=_moment(first), until=_moment(last))


def _of_space(visit: Visit) -> Twin:
    first, last = _span(visit)
    return SPACE_SPENDING, SpaceSpendingRequest(since=_moment(first), until=_moment(last))


def _moment(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


async def cost(visit: Visit) -> Page:
    """Show what was spent: a column for each day, and sums beneath."""
    verb, request = _of_space(visit) if visit.space else _listed(visit)
    spent = await visit.run(verb, request)
    (first, last), by = _span(visit), _by(visit)
    days, names = by_day(spent), by_name(spent)
    whole = sum((each.usage for each in days), Usage())

    def link(**query: object) -> str:
        return visit.link("cost", **query) if visit.space else address("cost", **query)

    cap = None if visit.space else await _cap(visit)
    values: dict[str, Any] = {
        "by": by,
        "all_by": () if visit.space else tuple(SpendingBy),
        "span": (last - first).days + 1,
        "spans": _SPANS_OF_SPACES if by is SpendingBy.SPACE and not visit.space else _SPANS,
        "first": first,
        "last": last,
        "days": days,
        "names": [] if visit.space or by is SpendingBy.DAY else names,
        "colours": COLOURS,
        "whole": whole,
        "cap": cap,
        "most": max([*(each.usage.cost for each in days), 0]),
        "chart": chart(days, first, last, [name for name, _ in names], cap),
        "link": link,
    }
    return Page(template="cost.html", values=values)


async def _cap(visit: Visit) -> int | None:
    """Return what may be spent in a day, in millionths of a dollar; None without a limit, or if it may not be seen."""
    if not visit.may(SETTINGS):
        return None
    found = {each.name: each.value for each in await visit.run(SETTINGS, Empty())}
    cap = json.loads(found.get("daily_spend_cap", "null"))
    return round(cap * 1_000_000) if isinstance(cap, int | float) and math.isfinite(cap) else None


ROUTES = (
    PageRoute(path="/cost", handler=cost, twin=_listed),
    PageRoute(path="/s/{space}/cost", handler=cost, twin=_of_space),
)
MENU = (
    MenuItem(section="Running", name="Cost", step="cost", operation=SPACE_SPENDING, shortcut="c", position=30),
    MenuItem(
        section="Running", name="Cost", step="cost", operation=SPENDING, shortcut="c", position=40, in_space=False
    ),
)
