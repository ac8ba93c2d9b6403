"""Calendar arithmetic in UTC: units, shifting by them, and picking one of a yearly or weekly series."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

DAY = timedelta(days=1)
# One year short of both limits of `datetime`, so that the adjacent days and months exist.
_FIRST, _LAST = datetime(2, 1, 1, tzinfo=UTC), datetime(9998, 12, 31, tzinfo=UTC)
_FIXED = {"hour": timedelta(hours=1), "day": DAY, "week": 7 * DAY}
_MONTHS_IN = {"month": 1, "quarter": 3, "year": 12, "decade": 120}


class Stretch(NamedTuple):
    """The time from `start` up to, but not including, `end`."""

    start: datetime
    end: datetime
    precision: str


def clamp(at: datetime) -> datetime:
    """Clamp a moment to the range in which adjacent days and months exist."""
    return min(max(at, _FIRST), _LAST)


def midnight(at: datetime) -> datetime:
    """Return the beginning of a moment's day."""
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


def month_start(index: int) -> datetime:
    """Return the beginning of a month, given as the number of months since the year 0."""
    return datetime(index // 12, index % 12 + 1, 1, tzinfo=UTC)


def shift(at: datetime, unit: str, count: int) -> datetime:
    """Move a moment by `count` units. In a month that is too short for the day, use its last day."""
    if unit in _FIXED:
        return at + count * _FIXED[unit]
    first = month_start(at.year * 12 + at.month - 1 + count * _MONTHS_IN[unit])
    days_in_month = (month_start(first.year * 12 + first.month) - first).days
    return at.replace(year=first.year, month=first.month, day=min(at.day, days_in_month))


def unit_at(unit: str, at: datetime, ahead: int = 0) -> Stretch:
    """Return the calendar unit that contains a moment, or the one `ahead` units later."""
    if unit in _MONTHS_IN:
        size = _MONTHS_IN[unit]
        index = (at.year * 12 + at.month - 1) // size + ahead
        return Stretch(month_start(index * size), month_start((index + 1) * size), unit)
    start = at.replace(minute=0, second=0, microsecond=0) if unit == "hour" else midnight(at)
    start += ahead * _FIXED[unit] - (start.weekday() * DAY if unit == "week" else timedelta())
    return Stretch(start, start + _FIXED[unit], unit)


def day_of(year: int, month: int, day: int, until: int | None = None) -> Stretch | None:
    """Return one day, or the days of a month up to `until`; None if no such day exists."""
    try:
        start = datetime(year, month, day, tzinfo=UTC)
        end = datetime(year, month, until or day, tzinfo=UTC) + DAY
    except ValueError:
        return None
    return Stretch(start, end, "range" if until else "day") if start < end else None


def pick(which: str, nth: Callable[[int], Stretch | None], now: datetime) -> Stretch | None:
    """Return the "last" one that is over, "this" one, the "next" one, or by default the last one that began.

    `nth` returns the one that is N years or weeks ahead, or None if it does not exist.
    """
    if which == "this":
        before = nth(-1)  # a winter begins in the year before
        return before if before and before.start <= now < before.end else nth(0)
    if which == "next":
        return next((stretch for ahead in range(10) if (stretch := nth(ahead)) and stretch.start > now), None)
    past = (stretch for ahead in range(0, -10, -1) if (stretch := nth(ahead)) and stretch.start <= now)
    return next((stretch for stretch in past if which != "last" or stretch.end <= now), None)
