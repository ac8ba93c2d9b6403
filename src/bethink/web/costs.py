"""What models cost, day by day, as a drawing and as sums."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta

from markupsafe import Markup

from bethink.base.frozen import frozen
from bethink.model.jobs import Spending, Usage
from bethink.web import draw
from bethink.web.text import money

COLOURS = 6
"""So many names have a colour of their own; the others share one."""


@frozen(kw_only=False)
class CostDay:
    """What a day cost, by name."""

    day: date
    parts: Mapping[str, Usage]

    @property
    def usage(self) -> Usage:
        """The sum."""
        return sum(self.parts.values(), Usage())


def by_day(spent: Iterable[Spending]) -> list[CostDay]:
    """Return each day on which something was spent, the newest first."""
    found: dict[date, dict[str, Usage]] = {}
    for each in spent:
        found.setdefault(each.day, {})[each.name] = each.usage
    return [CostDay(day, found[day]) for day in sorted(found, reverse=True)]


def by_name(spent: Iterable[Spending]) -> list[tuple[str, Usage]]:
    """Return what each name cost in all, the most expensive first."""
    found: dict[str, Usage] = {}
    for each in spent:
        found[each.name] = found.get(each.name, Usage()) + each.usage
    return sorted(found.items(), key=lambda pair: (-pair[1].cost, -pair[1].calls, pair[0]))


def chart(days: Sequence[CostDay], first: date, last: date, names: Sequence[str], cap: int | None = None) -> Markup:
    """Draw a column for each day from the first to the last, stacked by name; the cap is a line."""
    known = {each.day: each for each in days}
    costs = [each.usage.cost for each in days]
    top = max([*costs, 1])
    if cap is not None and cap <= 3 * top:
        top = max(top, cap)
    count = (last - first).days + 1
    width = 1_000 / count
    parts: list[Markup] = []
    for place in range(count):
        found = known.get(first + timedelta(days=place))
        if found is not None:
            parts += _column(found, names, x=place * width, width=width, scale=100 / top)
    parts.append(draw.rect("base", 0, 100, 1_000, 1))
    if cap is not None and cap <= top:
        parts.append(draw.rect("limit limit-hard", 0, 100 - 100 * cap / top, 1_000, 1))
    spent = sum(costs)
    label = f"{money(spent)} from {first} to {last}, at most {money(max([*costs, 0]))} a day"
    return draw.drawing("costs", 102, parts, label)


def _column(day: CostDay, names: Sequence[str], *, x: float, width: float, scale: float) -> list[Markup]:
    gap, y = (width * 0.14 if width > 4 else 0), 100.0
    rest = sum(usage.cost for name, usage in day.parts.items() if name not in names[:COLOURS])
    costs = [(f"c-{place}", day.parts[name].cost) for place, name in enumerate(names[:COLOURS]) if name in day.parts]
    found: list[Markup] = []
    for kind, cost in (*costs, ("c-rest", rest)):
        if cost:
            height = max(cost * scale, 0.8)
            y -= height
            found.append(draw.rect(kind, x + gap, y, width - 2 * gap, height))
    return found
