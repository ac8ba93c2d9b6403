"""The calendar in UTC: its units, moving by them, and choosing among what comes back every year or week."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

DAY = timedelta(days=1)
# A year short of either end, so that the days and months beside these can be named, too.
_FIRST, _LAST = datetime(2, 1, 1, tzinfo=UTC), datetime(9998, 12, 31, tzinfo=UTC)
_FIXED = {"hour": timedelta(hours=1), "day": DAY, "week": 7 * DAY}
_MONTHS_IN = {"month": 1, "quarter": 3, "year": 12, "decade": 120}


class Stretch(NamedTuple):
    """From a moment until another, which it leaves out."""

    start: datetime
    end: datetime
    precision: str


def within(at: datetime) -> datetime:
    """Return a moment, or the first or last one that has days and months beside it."""
    return min(max(at, _FIRST), _LAST)


def midnight(at: datetime) -> datetime:
    """Return the beginning of a day."""
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


def month_start(index: int) -> datetime:
    """Return the beginning of a month, where months are counted from the year 0."""
    return datetime(index // 12, index % 12 + 1, 1, tzinfo=UTC)


def shifted(at: datetime, unit: str, count: int) -> datetime:
    """Move by so many units; where a month is too short for the day, to its last."""
    if unit in _FIXED:
        return at + count * _FIXED[unit]
    first = month_start(at.year * 12 + at.month - 1 + count * _MONTHS_IN[unit])
    longest = (month_start(first.year * 12 + first.month) - first).days
    return at.replace(year=first.year, month=first.month, day=min(at.day, longest))


def unit_at(unit: str, at: datetime, ahead: int = 0) -> Stretch:
    """Return the unit of the calendar that a moment lies in, or the one so many further on."""
    if unit in _MONTHS_IN:
        size = _MONTHS_IN[unit]
        index = (at.year * 12 + at.month - 1) // size + ahead
        return Stretch(month_start(index * size), month_start((index + 1) * size), unit)
    start = at.replace(minute=0, second=0, microsecond=0) if unit == "hour" else midnight(at)
    start += ahead * _FIXED[unit] - (start.weekday() * DAY if unit == "week" else timedelta())
    return Stretch(start, start + _FIXED[unit], unit)


def day_of(year: int, month: int, day: int, until: int | None = None) -> Stretch | None:
    """Return a day of a year, or the days of a month until another; None where it has no such day."""
    try:
        start = datetime(year, month, day, tzinfo=UTC)
        end = datetime(year, month, until or day, tzinfo=UTC) + DAY
    except ValueError:
        return None
    return Stretch(start, end, "range" if until else "day") if start < end else None


def pick(which: str, nth: Callable[[int], Stretch | None], now: datetime) -> Stretch | None:
    """Choose the last one that began, or that is over, or this one, or the next, as `which` says.

    `nth` makes the one so many years or weeks ahead, or None where there is none.
    """
    if which == "this":
        before = nth(-1)  # a winter begins in the year before
        return before if before and before.start <= now < before.end else nth(0)
    if which == "next":
        return next((found for ahead in range(10) if (found := nth(ahead)) and found.start > now), None)
    past = (found for ahead in range(0, -10, -1) if (found := nth(ahead)) and found.start <= now)
    return next((found for found in past if which != "last" or found.end <= now), None)
