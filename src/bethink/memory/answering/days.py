"""Dates in a text, resolved on the day when it was said, and the time between two of them."""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

from bethink.base.frozen import frozen
from bethink.memory.answering.amounts import Amount
from bethink.memory.recall.dates import DateSpan, times
from bethink.model.moments import from_micros

_LEAD = re.compile(
    r"\b(?:since|until|till|before|after|by|prior to|from)(?=\s+(?:the\s+)?(?:[^\W\d_]+\s+)?\d)", re.IGNORECASE
)
"""Words that open a date to one side. The date itself is compared."""
_FIGURES = re.compile(
    r"\b(on|since|until|till|by|from|to|before|after|of)\s+(?:the\s+)?(\d{1,2})/(\d{1,2})(?![/\d])", re.IGNORECASE
)
"""A month and a day without a year, which only count as a date after such a word."""
_COUNTED = re.compile(
    r"(?<![\w.,/-])(\d)(\d{3})(?=\s+(?!was\b|is\b|has\b|its\b|his\b|this\b|as\b|does\b|plus\b)[a-z]{2,}s\b)"
)
"""A number of four digits before a plural, which is not a year."""
_NAMING_DAY = re.compile(
    r"(?<!\bon )(?<!\blast )(?<!\bthis )(?<!\bnext )(?<!\bpast )(?<!\bsince )(?<!\buntil )(?<!\bby )"
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day(?=\s+(?-i:[a-z]))(?!\s+(?:i|we|and|to|or|at|in|it|the)\b)",
    re.IGNORECASE,
)
"""A weekday that names something, as in "Sunday mass", and not a date."""
_HALF_A_YEAR = 183
_LEVELS = {"day": 0, "month": 1, "year": 2}


@frozen(kw_only=False)
class Point:
    """A date that is exact to the day, month or year."""

    first: date
    level: str = "day"

    def __str__(self) -> str:
        return self.first.isoformat()[: {"day": 10, "month": 7, "year": 4}[self.level]]


def read_dates(text: str, at: datetime) -> tuple[list[Point], list[DateSpan], str, str]:
    """Return the dates of a text, earliest first, all times it mentions, their words, and the text without them."""
    dated = " ".join(_FIGURES.sub(lambda match: f"{match[1]} {_nearest_past(match, at)}", text).split())
    dated = _NAMING_DAY.sub("weekday", _COUNTED.sub(r"\1,\2", dated))
    opened, _ = times(dated, at)
    plain = _LEAD.sub("on", dated)
    spans, blanked = times(plain, at)
    points = {_nearest_year(point, dated, at) for span in (*spans, *opened) for point in _points_of(span)}
    words = "".join(letter if blank != letter else " " for letter, blank in zip(plain, blanked, strict=True))
    return sorted(points, key=lambda point: (point.first, point.level)), spans, " ".join(words.split()), blanked


def _points_of(span: DateSpan) -> Iterable[Point]:
    first, last = from_micros(span.start).date(), (from_micros(span.end) - timedelta(microseconds=1)).date()
    if span.precision in _LEVELS:
        yield Point(first, span.precision)
    elif span.precision == "range" and (first.month, first.day, last.month, last.day) == (1, 1, 12, 31):
        yield from (Point(first, "year"), Point(last.replace(month=1, day=1), "year"))


def _nearest_year(point: Point, text: str, at: datetime) -> Point:
    """Return a day that is named without a year in the year in which it is nearest, which may be ahead."""
    day = point.first
    if point.level != "day" or (at.date() - day).days <= _HALF_A_YEAR or str(day.year) in text:
        return point
    try:
        return Point(day.replace(year=day.year + 1))
    except ValueError:  # the 29th of February
        return point


def _nearest_past(match: re.Match[str], at: datetime) -> str:
    """Return a month and day in figures as the last such day before `at`, or unchanged if there is none."""
    for year in range(at.year, at.year - 8, -1):
        try:
            day = datetime(year, int(match[2]), int(match[3]), tzinfo=UTC)
        except ValueError:
            continue
        if day <= at:
            return day.date().isoformat()
    return match[0].split(maxsplit=1)[1]


def is_between(amount: Amount, first: Point, last: Point, *, is_about: bool) -> bool:
    """Return whether an amount of days, weeks, months or years is the time between two dates.

    Months and years are counted whole. If the sentence says "about", they may be rounded.
    """
    measure = amount.measure
    if measure is None or amount.value.denominator != 1:
        return False
    level = max(_LEVELS[first.level], _LEVELS[last.level])
    days = abs((last.first - first.first).days)
    if measure[0] == "second":
        week = measure[1] == 604_800
        if level > 0 or measure[1] < 86_400:
            return False
        return abs(days - int(amount.value) * (7 if week else 1)) <= ((3 if is_about else 1) if week else 0)
    if measure[0] != "month" or (measure[1] == 1 and level > 1):
        return False
    months = _months_between(first, last, level)
    unit = measure[1]
    units = int(months // unit)
    return amount.value in ({units, round(months / unit)} if is_about else {units})


def _months_between(first: Point, last: Point, level: int) -> Fraction:
    early, late = sorted((first.first, last.first))
    months = 12 * (late.year - early.year) + late.month - early.month
    if level == 2:
        return Fraction(12 * (late.year - early.year))
    if level == 1:
        return Fraction(months)
    return months + Fraction(late.day - early.day, 30) if late.day != early.day else Fraction(months)
