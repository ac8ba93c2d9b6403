"""What a date means at a given time: one rule for each kind of date, in whatever language it is written."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from bethink.memory.recall.calendar import DAY, Stretch, day_of, midnight, month_start, pick, shifted, unit_at
from bethink.memory.recall.calendars import Calendar

_STOP = re.compile(r" ?(?:$|[^\w\s])")
_AHEAD = {"last": -1, "this": 0, "next": 1}


class DateMatch(NamedTuple):
    """What a pattern of a calendar has matched."""

    match: re.Match[str]
    calendar: Calendar

    def part(self, name: str) -> str:
        """Return a named group of the match in lower case, or an empty string."""
        return (self.match.groupdict().get(name) or "").lower()

    def follows(self, lead: str) -> bool:
        """Return whether such words stand before the match."""
        match = self.match
        before = match.string[max(0, match.start() - 32) : match.start()]
        return self.calendar.leads[lead].search(before) is not None

    def meaning(self, table: str, group: str) -> str:
        """Return the key that a group of the match has in a table, or an empty string."""
        return self.calendar.meaning(table, self.part(group).rstrip("."))

    def ambiguous(self) -> bool:
        """Return whether its month is written like another word, such as "may"."""
        return self.calendar.leads["ambiguous"].fullmatch(self.match["m"]) is not None

    @property
    def which(self) -> str:
        """Return "last", "this", "next", or an empty string."""
        return self.meaning("which", "which")

    @property
    def unit(self) -> str:
        """Return the unit of which it has a number, such as "week"."""
        return self.meaning("duals", "dual") or self.meaning("units", "unit")

    @property
    def number(self) -> tuple[int, int]:
        """Return the least and the greatest number of units that it can mean."""
        if self.part("dual"):
            return 2, 2
        written = self.part("n")
        meant = self.meaning("counts", "n").split() or [str(_number(written) if written else 1)]
        return int(meant[0]), int(meant[-1])

    @property
    def dated(self) -> bool:
        """Return whether it names its year."""
        return bool(self.part("y") or self.part("year_at"))

    def year(self, now: datetime) -> int | None:
        """Return the year that it names, as a number or as "last year"."""
        named = self.meaning("named", "year_at")
        return now.year + int(named.split()[1]) if named else int(self.part("y") or 0) or None


Make = Callable[[DateMatch, datetime], Stretch | None]
_HAN = "〇一二三四五六七八九"


def _number(written: str) -> int:
    """Return the number that figures or Han numerals below 100 stand for."""
    if written.isdigit():
        return int(written)
    tens, ten, ones = written.replace("两", "二").rpartition("十")
    return 10 * (max(_HAN.find(tens), 1) if tens else 1 if ten else 0) + (max(_HAN.find(ones), 0) if ones else 0)


def _yearly(found: DateMatch, make: Callable[[int], Stretch | None], now: datetime, which: str = "") -> Stretch | None:
    year = found.year(now)
    return make(year) if year else pick(which, lambda ahead: make(now.year + ahead), now)


def _months(year: int, month: int, precision: str, count: int) -> Stretch:
    index = year * 12 + month
    return Stretch(month_start(index), month_start(index + count), precision)


def _is_other_word(found: DateMatch) -> bool:
    """Return whether "may" or "march" is the verb: in lower case and without any other sign of a date."""
    match = found.match
    at_start = match.start() == 0 and found.calendar.leads["ambiguous_at_start"].fullmatch(match["m"])
    if not (at_start or found.ambiguous()):
        return False
    named = found.dated or found.part("of") or (found.part("th") and match.start("m") < match.start("d"))
    return not (named or found.follows("on") or _STOP.match(match.string, match.end()))


def _month_of(found: DateMatch) -> int:
    written = found.part("m")
    return int(written) - 1 if written.isdigit() else int(found.meaning("months", "m"))


def _day(found: DateMatch, now: datetime) -> Stretch | None:
    ordinal, month_at = found.meaning("ordinals", "d"), found.meaning("named", "month_at")
    day = int(ordinal) + 1 if ordinal else _number(found.part("d"))
    if month_at:
        of = unit_at("month", now, int(month_at.split()[1])).start
        return day_of(of.year, of.month, day)
    if _is_other_word(found):
        return None
    first, month = _number(found.part("a")) if found.part("a") else day, _month_of(found) + 1
    return _yearly(found, lambda year: day_of(year, month, first, day if first != day else None), now)


def _figures(found: DateMatch, now: datetime) -> Stretch | None:
    first, second, year = int(found.part("a")), int(found.part("b")), int(found.part("y"))
    if year < 100:
        year += 2000 if year + 2000 <= now.year + 10 else 1900
    month_first, day_first = day_of(year, first, second), day_of(year, second, first)
    if found.calendar.day_first or found.part("mark") == ".":
        return day_first or month_first
    return month_first or day_first


def _iso(found: DateMatch, _: datetime) -> Stretch | None:
    year, month, day = int(found.part("y")), int(found.part("month")), found.part("d")
    return day_of(year, month, int(day)) if day else unit_at("month", datetime(year, month, 1, tzinfo=UTC))


def _month(found: DateMatch, now: datetime) -> Stretch | None:
    match, which, month = found.match, found.which, _month_of(found)
    if month not in range(12) or (which == "this" and found.ambiguous()):
        return None
    to_month = found.calendar.leads["to_month"].match(match.string, match.end())
    named = which or found.dated or found.part("sure") or found.follows("in") or to_month
    return _yearly(found, lambda year: _months(year, month, "month", 1), now, which) if named else None


def _season(found: DateMatch, now: datetime) -> Stretch | None:
    which, month = found.which, int(found.meaning("seasons", "season"))
    named = which or found.dated or found.part("sure") or found.follows("in")
    return _yearly(found, lambda year: _months(year, month, "season", 3), now, which) if named else None


def _quarter(found: DateMatch, _: datetime) -> Stretch:
    return _months(int(found.part("y")), 3 * int(found.part("quarter")) - 3, "quarter", 3)


def _year(found: DateMatch, now: datetime) -> Stretch | None:
    first, last = int(found.part("y")), int(found.part("until") or found.part("y"))
    if first > now.year + 10 or last < first or found.follows("not_a_year"):
        return None
    return _months(first, 0, "year" if first == last else "range", 12 * (last - first + 1))


def _decade(found: DateMatch, _: datetime) -> Stretch:
    return _months(int(found.part("y")), 0, "decade", 120)


def _days(found: DateMatch, now: datetime) -> Stretch:
    ago = found.meaning("days", "days").split()
    first, last, today = int(ago[0]), int(ago[-1]), midnight(now)
    return Stretch(today - first * DAY, today + (1 - last) * DAY, "day" if first == last else "range")


def _ago(found: DateMatch, now: datetime) -> Stretch:
    (least, most), unit = found.number, found.unit
    first, last = unit_at(unit, now, -most), unit_at(unit, now, -least)
    return Stretch(first.start, last.end, unit if least == most else "range")


def _rolling(found: DateMatch, now: datetime) -> Stretch:
    today = unit_at("day", now)
    return Stretch(shifted(today.start, found.unit, -found.number[1]), today.end, "range")


def _named(found: DateMatch, now: datetime) -> Stretch:
    unit, ahead = found.meaning("named", "named").split()
    return unit_at(unit, now, int(ahead))


def _unit(found: DateMatch, now: datetime) -> Stretch:
    return unit_at(found.unit, now, _AHEAD[found.which])


def _weekend(found: DateMatch, now: datetime) -> Stretch | None:
    def nth(ahead: int) -> Stretch:
        saturday = unit_at("week", now, ahead).start + 5 * DAY
        return Stretch(saturday, saturday + 2 * DAY, "weekend")

    week = found.meaning("named", "week_at")
    return nth(int(week.split()[1])) if week else pick(found.which, nth, now)


def _weekday(found: DateMatch, now: datetime) -> Stretch | None:
    which, full, week = found.which, found.meaning("weekdays", "w"), found.meaning("named", "week_at")
    if found.follows("any") or (not full and not (which or found.follows("on"))):
        return None
    number = int(full or found.meaning("short_weekdays", "w"))

    def nth(ahead: int) -> Stretch:
        return unit_at("day", unit_at("week", now, ahead).start + number * DAY)

    return nth(int(week.split()[1])) if week else pick(which or "last", nth, now)


MAKE: dict[str, Make] = {
    "iso": _iso, "figures": _figures, "day": _day, "month": _month, "quarter": _quarter, "season": _season,
    "days": _days, "ago": _ago, "rolling": _rolling, "named": _named, "unit": _unit, "weekend": _weekend,
    "weekday": _weekday, "decade": _decade, "year": _year,
}  # fmt: skip
"""The rule for each name in `calendars.RULES`."""

FLOATING = ("day", "month", "season", "weekday")
"""Rules whose result depends on the current time, unless a year or a word like "last" is given."""
