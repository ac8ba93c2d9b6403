"""Model costs by day, job kind, model and space."""

import json
import math
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from bethink.model.jobs import SpendingBy, Usage
from bethink.model.operations.base import Empty
from bethink.model.operations.monitoring import (
    LIST_SETTINGS,
    LIST_SPACE_SPENDING,
    LIST_SPENDING,
    ListSpaceSpendingRequest,
    ListSpendingRequest,
)
from bethink.web.costs import COLORS, by_day, by_name, chart
from bethink.web.visit import MenuItem, PageRoute, PageView, Twin, Visit, address

_SPANS = (7, 30, 90, 365)
_SPANS_OF_SPACES = (7, 30)


def _grouping(visit: Visit) -> SpendingBy:
    return SpendingBy(visit.query_value("by")) if visit.query_value("by") in set(SpendingBy) else SpendingBy.DAY


def _span(visit: Visit) -> tuple[date, date]:
    days = visit.query_number("days", 30)
    spans = _SPANS_OF_SPACES if _grouping(visit) is SpendingBy.SPACE and not visit.space else _SPANS
    today = datetime.now(UTC).date()
    return today - timedelta(days=(days if days in spans else 30) - 1), today


def _list_request(visit: Visit) -> Twin:
    first, last = _span(visit)
    return LIST_SPENDING, ListSpendingRequest(by=_grouping(visit), since=_moment(first), until=_moment(last))


def _space_request(visit: Visit) -> Twin:
    first, last = _span(visit)
    return LIST_SPACE_SPENDING, ListSpaceSpendingRequest(since=_moment(first), until=_moment(last))


def _moment(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


async def cost(visit: Visit) -> PageView:
    """Show spending: one column per day, and totals below."""
    operation, request = _space_request(visit) if visit.space else _list_request(visit)
    spending = await visit.run(operation, request)
    (first, last), grouping = _span(visit), _grouping(visit)
    days, names = by_day(spending), by_name(spending)
    total = sum((cost_day.usage for cost_day in days), Usage())

    def link(**query: object) -> str:
        return visit.link("cost", **query) if visit.space else address("cost", **query)

    cap = None if visit.space else await _cap(visit)
    values: dict[str, Any] = {
        "by": grouping,
        "all_by": () if visit.space else tuple(SpendingBy),
        "span": (last - first).days + 1,
        "spans": _SPANS_OF_SPACES if grouping is SpendingBy.SPACE and not visit.space else _SPANS,
        "first": first,
        "last": last,
        "days": days,
        "names": [] if visit.space or grouping is SpendingBy.DAY else names,
        "colors": COLORS,
        "whole": total,
        "cap": cap,
        "most": max([*(cost_day.usage.cost for cost_day in days), 0]),
        "chart": chart(days, first, last, [name for name, _ in names], cap),
        "link": link,
    }
    return PageView(template="cost.html", values=values)


async def _cap(visit: Visit) -> int | None:
    """Return the daily limit in millionths of a dollar; None without a limit or without access to settings."""
    if not visit.may(LIST_SETTINGS):
        return None
    values = {entry.name: entry.value for entry in await visit.run(LIST_SETTINGS, Empty())}
    cap = json.loads(values.get("daily_budget", "null"))
    return round(cap * 1_000_000) if isinstance(cap, int | float) and math.isfinite(cap) else None


ROUTES = (
    PageRoute(path="/cost", handler=cost, twin=_list_request),
    PageRoute(path="/s/{space}/cost", handler=cost, twin=_space_request),
)
MENU = (
    MenuItem(section="Operations", name="Cost", step="cost", operation=LIST_SPACE_SPENDING, shortcut="c", position=30),
    MenuItem(
        section="Operations",
        name="Cost",
        step="cost",
        operation=LIST_SPENDING,
        shortcut="c",
        position=40,
        in_space=False,
    ),
)
