"""Model costs per day: a chart and totals."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta

from markupsafe import Markup

from bethink.base.frozen import frozen
from bethink.model.jobs import Spending, Usage
from bethink.web import draw
from bethink.web.text import money

COLORS = 6
"""Number of names with a color of their own; the others share one."""


@frozen(kw_only=False)
class CostDay:
    """Usage of one day, by name."""

    day: date
    parts: Mapping[str, Usage]

    @property
    def usage(self) -> Usage:
        """Total usage of the day."""
        return sum(self.parts.values(), Usage())


def by_day(spending: Iterable[Spending]) -> list[CostDay]:
    """Return the days with spending, newest first."""
    days: dict[date, dict[str, Usage]] = {}
    for entry in spending:
        days.setdefault(entry.day, {})[entry.name] = entry.usage
    return [CostDay(day, days[day]) for day in sorted(days, reverse=True)]


def by_name(spending: Iterable[Spending]) -> list[tuple[str, Usage]]:
    """Return the total usage of each name, most expensive first."""
    totals: dict[str, Usage] = {}
    for entry in spending:
        totals[entry.name] = totals.get(entry.name, Usage()) + entry.usage
    return sorted(totals.items(), key=lambda pair: (-pair[1].cost, -pair[1].calls, pair[0]))


def chart(days: Sequence[CostDay], first: date, last: date, names: Sequence[str], cap: int | None = None) -> Markup:
    """Draw one column per day from `first` to `last`, stacked by name; the cap is a line."""
    by_date = {entry.day: entry for entry in days}
    costs = [entry.usage.cost for entry in days]
    top = max([*costs, 1])
    if cap is not None and cap <= 3 * top:
        top = max(top, cap)
    count = (last - first).days + 1
    width = 1_000 / count
    parts: list[Markup] = []
    for index in range(count):
        cost_day = by_date.get(first + timedelta(days=index))
        if cost_day is not None:
            parts += _column(cost_day, names, x=index * width, width=width, scale=100 / top)
    parts.append(draw.rect("base", 0, 100, 1_000, 1))
    if cap is not None and cap <= top:
        parts.append(draw.rect("limit limit-hard", 0, 100 - 100 * cap / top, 1_000, 1))
    total = sum(costs)
    label = f"{money(total)} from {first} to {last}, at most {money(max([*costs, 0]))} a day"
    return draw.drawing("costs", 102, parts, label)


def _column(day: CostDay, names: Sequence[str], *, x: float, width: float, scale: float) -> list[Markup]:
    gap, y = (width * 0.14 if width > 4 else 0), 100.0
    other_cost = sum(usage.cost for name, usage in day.parts.items() if name not in names[:COLORS])
    costs = [(f"c-{index}", day.parts[name].cost) for index, name in enumerate(names[:COLORS]) if name in day.parts]
    rects: list[Markup] = []
    for kind, cost in (*costs, ("c-rest", other_cost)):
        if cost:
            height = max(cost * scale, 0.8)
            y -= height
            rects.append(draw.rect(kind, x + gap, y, width - 2 * gap, height))
    return rects
