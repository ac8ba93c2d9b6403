"""Resolve dates at a given time: one rule for each kind of date, in every language."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from bethink.memory.recall.calendar import DAY, Stretch, day_of, midnight, month_start, pick, shift, unit_at
from bethink.memory.recall.calendars import Calendar

RECENT = "recent"
"""The precision of a vague time, such as "lately"."""
_RECENT_DAYS = 14
_STOP = re.compile(r" ?(?:$|[^\w\s])")
_AHEAD = {"last": -1, "this": 0, "next": 1}


class DateMatch(NamedTuple):
    """The match of a calendar pattern in a text."""

    match: re.Match[str]
    calendar: Calendar

    def part(self, name: str) -> str:
        """Return a named group of the match in lower case, or an empty string."""
        return (self.match.groupdict().get(name) or "").lower()

    def follows(self, lead: str) -> bool:
        """Return whether one of these lead words precedes the match."""
        match = self.match
        before = match.string[max(0, match.start() - 32) : match.start()]
        return self.calendar.leads[lead].search(before) is not None

    def meaning(self, table: str, group: str) -> str:
        """Return the key that a group of the match has in a table, or an empty string."""
        return self.calendar.meaning(table, self.part(group).rstrip("."))

    def is_ambiguous(self) -> bool:
        """Return whether the name of the month is also another word, such as "may"."""
        return self.calendar.leads["ambiguous"].fullmatch(self.match["m"]) is not None

    @property
    def which(self) -> str:
        """Return "last", "this", "next", or an empty string."""
        return self.meaning("which", "which")

    @property
    def unit(self) -> str:
        """Return the unit that the number counts, such as "week"."""
        return self.meaning("duals", "dual") or self.meaning("units", "unit")

    @property
    def number(self) -> tuple[int, int]:
        """Return the minimum and maximum number of units."""
        if self.part("dual"):
            return 2, 2
        digits = self.part("n")
        bounds = self.meaning("counts", "n").split() or [str(_number(digits) if digits else 1)]
        return int(bounds[0]), int(bounds[-1])

    @property
    def has_year(self) -> bool:
        """Return whether the date names its year."""
        return bool(self.part("y") or self.part("year_at"))

    def year(self, now: datetime) -> int | None:
        """Return the year of the date, named as a number or as "last year"."""
        relative = self.meaning("named", "year_at")
        return now.year + int(relative.split()[1]) if relative else int(self.part("y") or 0) or None


Make = Callable[[DateMatch, datetime], Stretch | None]
_HAN = "〇一二三四五六七八九"


def _number(digits: str) -> int:
    """Return the value of digits or of Han numerals below 100."""
    if digits.isdigit():
        return int(digits)
    tens, ten, ones = digits.replace("两", "二").rpartition("十")
    return 10 * (max(_HAN.find(tens), 1) if tens else 1 if ten else 0) + (max(_HAN.find(ones), 0) if ones else 0)


def _yearly(date: DateMatch, make: Callable[[int], Stretch | None], now: datetime, which: str = "") -> Stretch | None:
    year = date.year(now)
    return make(year) if year else pick(which, lambda ahead: make(now.year + ahead), now)


def _months(year: int, month: int, precision: str, count: int) -> Stretch:
    index = year * 12 + month
    return Stretch(month_start(index), month_start(index + count), precision)


def _is_other_word(date: DateMatch) -> bool:
    """Return whether "may" or "march" is a verb: lowercase and without any other sign of a date."""
    match = date.match
    at_start = match.start() == 0 and date.calendar.leads["ambiguous_at_start"].fullmatch(match["m"])
    if not (at_start or date.is_ambiguous()):
        return False
    is_date = date.has_year or date.part("of") or (date.part("th") and match.start("m") < match.start("d"))
    return not (is_date or date.follows("on") or _STOP.match(match.string, match.end()))


def _month_of(date: DateMatch) -> int:
    digits = date.part("m")
    return int(digits) - 1 if digits.isdigit() else int(date.meaning("months", "m"))


def _day(date: DateMatch, now: datetime) -> Stretch | None:
    ordinal, month_at = date.meaning("ordinals", "d"), date.meaning("named", "month_at")
    day = int(ordinal) + 1 if ordinal else _number(date.part("d"))
    if month_at:
        start_of_month = unit_at("month", now, int(month_at.split()[1])).start
        return day_of(start_of_month.year, start_of_month.month, day)
    if _is_other_word(date):
        return None
    first, month = _number(date.part("a")) if date.part("a") else day, _month_of(date) + 1
    return _yearly(date, lambda year: day_of(year, month, first, day if first != day else None), now)


def _figures(date: DateMatch, now: datetime) -> Stretch | None:
    first, second, year = int(date.part("a")), int(date.part("b")), int(date.part("y"))
    if year < 100:
        year += 2000 if year + 2000 <= now.year + 10 else 1900
    month_first, day_first = day_of(year, first, second), day_of(year, second, first)
    if date.calendar.day_first or date.part("mark") == ".":
        return day_first or month_first
    return month_first or day_first


def _iso(date: DateMatch, _: datetime) -> Stretch | None:
    year, month, day = int(date.part("y")), int(date.part("month")), date.part("d")
    return day_of(year, month, int(day)) if day else unit_at("month", datetime(year, month, 1, tzinfo=UTC))


def _month(date: DateMatch, now: datetime) -> Stretch | None:
    match, which, month = date.match, date.which, _month_of(date)
    if month not in range(12) or (which == "this" and date.is_ambiguous()):
        return None
    to_month = date.calendar.leads["to_month"].match(match.string, match.end())
    is_month = which or date.has_year or date.part("sure") or date.follows("in") or to_month
    return _yearly(date, lambda year: _months(year, month, "month", 1), now, which) if is_month else None


def _season(date: DateMatch, now: datetime) -> Stretch | None:
    which, month = date.which, int(date.meaning("seasons", "season"))
    is_season = which or date.has_year or date.part("sure") or date.follows("in")
    return _yearly(date, lambda year: _months(year, month, "season", 3), now, which) if is_season else None


def _quarter(date: DateMatch, _: datetime) -> Stretch:
    return _months(int(date.part("y")), 3 * int(date.part("quarter")) - 3, "quarter", 3)


def _year(date: DateMatch, now: datetime) -> Stretch | None:
    first, last = int(date.part("y")), int(date.part("until") or date.part("y"))
    if first > now.year + 10 or last < first or date.follows("not_a_year"):
        return None
    return _months(first, 0, "year" if first == last else "range", 12 * (last - first + 1))


def _decade(date: DateMatch, _: datetime) -> Stretch:
    return _months(int(date.part("y")), 0, "decade", 120)


def _days(date: DateMatch, now: datetime) -> Stretch:
    ago = date.meaning("days", "days").split()
    first, last, today = int(ago[0]), int(ago[-1]), midnight(now)
    precision = RECENT if first >= _RECENT_DAYS else "day" if first == last else "range"
    return Stretch(today - first * DAY, today + (1 - last) * DAY, precision)


def _ago(date: DateMatch, now: datetime) -> Stretch:
    (min_count, max_count), unit = date.number, date.unit
    first, last = unit_at(unit, now, -max_count), unit_at(unit, now, -min_count)
    return Stretch(first.start, last.end, unit if min_count == max_count else "range")


def _rolling(date: DateMatch, now: datetime) -> Stretch:
    today = unit_at("day", now)
    return Stretch(shift(today.start, date.unit, -date.number[1]), today.end, "range")


def _relative_unit(date: DateMatch, now: datetime) -> Stretch:
    unit, ahead = date.meaning("named", "named").split()
    return unit_at(unit, now, int(ahead))


def _unit(date: DateMatch, now: datetime) -> Stretch:
    return unit_at(date.unit, now, _AHEAD[date.which])


def _weekend(date: DateMatch, now: datetime) -> Stretch | None:
    def nth(ahead: int) -> Stretch:
        saturday = unit_at("week", now, ahead).start + 5 * DAY
        return Stretch(saturday, saturday + 2 * DAY, "weekend")

    week = date.meaning("named", "week_at")
    return nth(int(week.split()[1])) if week else pick(date.which, nth, now)


def _weekday(date: DateMatch, now: datetime) -> Stretch | None:
    which, full, week = date.which, date.meaning("weekdays", "w"), date.meaning("named", "week_at")
    if date.follows("any") or (not full and not (which or date.follows("on"))):
        return None
    number = int(full or date.meaning("short_weekdays", "w"))

    def nth(ahead: int) -> Stretch:
        return unit_at("day", unit_at("week", now, ahead).start + number * DAY)

    return nth(int(week.split()[1])) if week else pick(which or "last", nth, now)


MAKE: dict[str, Make] = {
    "iso": _iso, "figures": _figures, "day": _day, "month": _month, "quarter": _quarter, "season": _season,
    "days": _days, "ago": _ago, "rolling": _rolling, "named": _relative_unit, "unit": _unit, "weekend": _weekend,
    "weekday": _weekday, "decade": _decade, "year": _year,
}  # fmt: skip
"""The rule for each name in `calendars.RULES`."""

FLOATING = ("day", "month", "season", "weekday")
"""Rules whose result depends on the current time, unless the text has a year or a word like "last"."""

_RELATIVE = ("days", "ago", "named", "unit")


def is_relative(rule: str, date: DateMatch) -> bool:
    """Return whether the words of a date have one meaning at one time: "last Friday" has, "Friday" has not."""
    return rule in _RELATIVE or any(map(date.part, ("which", "year_at", "month_at", "week_at")))
