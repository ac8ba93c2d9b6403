"""How dates are written: one pattern for each spelling, and what it means at a given time."""

import re
from collections.abc import Callable
from datetime import UTC, datetime

from bethink.recall.calendar import DAY, Stretch, day_of, midnight, month_start, pick, shifted, unit_at

Match = re.Match[str]
Make = Callable[[Match, datetime], Stretch | None]

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth",
    "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth",
)  # fmt: skip
_COUNTS = {
    "a": (1, 1), "an": (1, 1), "the": (1, 1), "one": (1, 1), "two": (2, 2), "three": (3, 3), "four": (4, 4),
    "five": (5, 5), "six": (6, 6), "seven": (7, 7), "eight": (8, 8), "nine": (9, 9), "ten": (10, 10),
    "eleven": (11, 11), "twelve": (12, 12), "couple": (2, 3), "few": (2, 5), "several": (3, 7),
}  # fmt: skip
_SEASONS = {"spring": 2, "summer": 5, "autumn": 8, "fall": 8, "winter": 11}
_DAYS_AGO = {
    "the day before yesterday": (2, 2), "yesterday": (1, 1), "today": (0, 0), "tonight": (0, 0), "tomorrow": (-1, -1),
    "this morning": (0, 0), "this afternoon": (0, 0), "this evening": (0, 0), "last night": (1, 0),
    "recently": (14, 0), "lately": (14, 0), "the other day": (14, 0),
}  # fmt: skip
_SAME = {"past": "last", "previous": "last", "current": "this", "coming": "next", "upcoming": "next"}

_MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
TO = r" ?(?:\b(?:to|and|until|till|through|thru)\b|[-\u2013\u2014]) ?(?:(?:the|early|late|mid)[ -]){0,2}"
COUNT = rf"\b(?P<n>\d{{1,3}}|(?:a )?(?:couple|few|several)(?: of)?|{'|'.join(_COUNTS)})"
_UNITS = ("hour", "day", "week", "month", "quarter", "year", "decade")
UNIT = f"(?P<unit>{'|'.join(_UNITS)})"
_M = rf"\b(?P<m>{_MONTH})"
_YEAR = r"(?:19|20)\d\d"
_TH = "(?:st|nd|rd|th)?"
_D = rf"(?<![\w.,/$-])(?:(?P<a>\d{{1,2}}){_TH}{TO})?(?P<d>\d{{1,2}})(?P<th>{_TH})\b(?![:%]|\.\d|,(?!{_YEAR})\d)"
_THEN_Y = rf"(?:(?:, ?| )(?:of )?(?P<y>{_YEAR})\b(?!-))?"
_SHORT = "Mon|Tues?|Wed|Thu(?:rs)?|Fri|Sat|Sun"
_ON_W = rf"(?:\b(?:{'|'.join(WEEKDAYS)}|{_SHORT})\.?,? (?:the )?)?"
_SOME = r"(?:\b(?P<which>last|this past|past|previous|this|current|next|coming|upcoming) )"
_WHICH = f"{_SOME}?"
_COUNTED = (
    r" ?(?:dollars?|euros?|pounds?|bucks|usd|eur|calories|kcal|steps|people|words|miles|km|kilomet\w+|met(?:er|re)s"
    r"|feet|ft|square|hours|minutes|seconds|days|weeks|times|followers|points|pages|tokens|lines|rows|items|mg|ml)\b"
)

_IN = re.compile(
    r"\b(?:in|during|since|until|till|before|after|around|through|throughout|over|early|late|mid|between"
    rf"|(?:end|start|beginning|middle|month|rest|all|week|weekend) of)[ -](?:the )?$|\b{_MONTH}(?:,? \d{{1,4}})?{TO}$",
    re.IGNORECASE,
)
_ON = re.compile(r"\b(?:on|since|by|until|till|before|after|around|from|to) (?:the )?$", re.IGNORECASE)
_NO_YEAR = re.compile(r"\b(?:version|room|number|no|page|line|port|model|size|issue|ticket)\.? ?$", re.IGNORECASE)
_ANY = re.compile(r"\b(?:an?|any|each|every|most) $", re.IGNORECASE)
_TO_MONTH = re.compile(TO + _MONTH, re.IGNORECASE)
_STOP = re.compile(r" ?(?:$|[^\w\s])")
_FIGURE = re.compile(r"\d")
_WORD = re.compile(r"\w+")


def _follows(lead: re.Pattern[str], match: Match) -> bool:
    return lead.search(match.string[max(0, match.start() - 32) : match.start()]) is not None


def part(match: Match, name: str) -> str:
    """Return a named group of a match in lower case, or an empty string."""
    return (match.groupdict().get(name) or "").lower()


def count_in(match: Match) -> tuple[int, int]:
    """Return the least and the greatest number of units that a match can mean."""
    words = [word for word in part(match, "n").split() if word not in ("a", "of")] or ["one"]
    return (int(words[0]), int(words[0])) if words[0].isdigit() else _COUNTS[words[0]]


def _which_in(match: Match) -> str:
    word = part(match, "which").rpartition(" ")[2]
    return _SAME.get(word, word)


def _number(names: tuple[str, ...], word: str) -> int:
    return next(index for index, name in enumerate(names) if name.startswith(word[:3].lower()))


def _yearly(match: Match, which: str, make: Callable[[int], Stretch | None], now: datetime) -> Stretch | None:
    year = part(match, "y")
    return make(int(year)) if year else pick(which, lambda ahead: make(now.year + ahead), now)


def _months(year: int, month: int, precision: str, count: int) -> Stretch:
    index = year * 12 + month
    return Stretch(month_start(index), month_start(index + count), precision)


def _is_verb(match: Match) -> bool:
    """Return whether "may" or "march" is the verb: in lower case and without any other sign of a date."""
    if match["m"] not in ("may", "march") and not (match["m"] == "May" and match.start() == 0):
        return False
    named = part(match, "y") or part(match, "of") or (part(match, "th") and match.start("m") < match.start("d"))
    return not (named or _follows(_ON, match) or _STOP.match(match.string, match.end()))


def _day(match: Match, now: datetime) -> Stretch | None:
    if _is_verb(match):
        return None
    day = int(match["d"]) if match["d"].isdigit() else _ORDINALS.index(match["d"].lower()) + 1
    first, month = int(part(match, "a") or day), _number(MONTHS, match["m"]) + 1
    return _yearly(match, "", lambda year: day_of(year, month, first, day if first != day else None), now)


def _figures(match: Match, now: datetime) -> Stretch | None:
    first, second, year = int(match["a"]), int(match["b"]), int(match["y"])
    if year < 100:
        year += 2000 if year + 2000 <= now.year + 10 else 1900
    month_first, day_first = day_of(year, first, second), day_of(year, second, first)
    return (day_first or month_first) if match["mark"] == "." else (month_first or day_first)


def _iso(match: Match, _: datetime) -> Stretch | None:
    year, month, day = int(match["y"]), int(match["month"]), match["d"]
    return day_of(year, month, int(day)) if day else unit_at("month", datetime(year, month, 1, tzinfo=UTC))


def _month(match: Match, now: datetime) -> Stretch | None:
    which, month = _which_in(match), _number(MONTHS, match["m"])
    verb = which == "this" and match["m"] in ("may", "march")
    named = which or part(match, "y") or _follows(_IN, match) or _TO_MONTH.match(match.string, match.end())
    return _yearly(match, which, lambda year: _months(year, month, "month", 1), now) if named and not verb else None


def _season(match: Match, now: datetime) -> Stretch | None:
    which, month = _which_in(match), _SEASONS[match["season"].lower()]
    named = which or part(match, "y") or _follows(_IN, match)
    return _yearly(match, which, lambda year: _months(year, month, "season", 3), now) if named else None


def _quarter(match: Match, _: datetime) -> Stretch:
    return _months(int(match["y"]), 3 * int(match["quarter"]) - 3, "quarter", 3)


def _year(match: Match, now: datetime) -> Stretch | None:
    first, last = int(match["y"]), int(match["until"] or match["y"])
    if first > now.year + 10 or last < first or _follows(_NO_YEAR, match):
        return None
    return _months(first, 0, "year" if first == last else "range", 12 * (last - first + 1))


def _decade(match: Match, _: datetime) -> Stretch:
    return _months(int(match["y"]), 0, "decade", 120)


def _days_ago(match: Match, now: datetime) -> Stretch:
    first, last = _DAYS_AGO[match[0].lower()]
    today = midnight(now)
    return Stretch(today - first * DAY, today + (1 - last) * DAY, "day" if first == last else "range")


def _ago(match: Match, now: datetime) -> Stretch:
    (least, most), unit = count_in(match), match["unit"].lower()
    first, last = unit_at(unit, now, -most), unit_at(unit, now, -least)
    return Stretch(first.start, last.end, unit if least == most else "range")


def _rolling(match: Match, now: datetime) -> Stretch:
    today = unit_at("day", now)
    return Stretch(shifted(today.start, match["unit"].lower(), -count_in(match)[1]), today.end, "range")


def _unit(match: Match, now: datetime) -> Stretch:
    return unit_at(match["unit"].lower(), now, {"last": -1, "this": 0, "next": 1}[_which_in(match)])


def _weekend(match: Match, now: datetime) -> Stretch | None:
    def nth(ahead: int) -> Stretch:
        saturday = unit_at("week", now, ahead).start + 5 * DAY
        return Stretch(saturday, saturday + 2 * DAY, "weekend")

    return pick(_which_in(match), nth, now)


def _weekday(match: Match, now: datetime) -> Stretch | None:
    which, number = _which_in(match), _number(WEEKDAYS, match["w"])
    short = match["w"].lower() not in WEEKDAYS
    if _follows(_ANY, match) or (short and not (which or _follows(_ON, match))):
        return None
    return pick(which or "last", lambda ahead: unit_at("day", unit_at("week", now, ahead).start + number * DAY), now)


_TRACES = frozenset(
    (
        *MONTHS, *(name[:3] for name in MONTHS), "sept", *WEEKDAYS, *(name[:3] for name in WEEKDAYS), "tues", "thurs",
        *_SEASONS, *(key.rpartition(" ")[2] for key in _DAYS_AGO), *_UNITS, *(f"{unit}s" for unit in _UNITS), "weekend",
    )
)  # fmt: skip


def may_name_a_time(text: str) -> bool:
    """Return whether any rule could match. Most questions contain neither a digit nor a date word."""
    if not text.isascii() or _FIGURE.search(text):
        return True
    return not _TRACES.isdisjoint(_WORD.findall(text.lower()))


FLOATING = (_day, _month, _season, _weekday)
"""Rules whose result depends on the current time, unless a year or a word like "last" is given."""

RULES: tuple[tuple[Make, re.Pattern[str]], ...] = tuple(
    (make, re.compile(pattern, re.IGNORECASE))
    for make, pattern in (
        (_iso, rf"(?<![\w.-])(?P<y>{_YEAR})[-/](?P<month>\d{{1,2}})(?:[-/](?P<d>\d{{1,2}}))?(?![\d/-])"),
        (_figures, rf"(?<![\w./-])(?P<a>\d\d?)(?P<mark>[./-])(?P<b>\d\d?)(?P=mark)(?P<y>{_YEAR})(?![\w/-]|\.\d)"),
        (_figures, r"(?<![\w./-])(?P<a>\d\d?)(?P<mark>/)(?P<b>\d\d?)/(?P<y>\d\d)(?![\w/-]|\.\d)"),
        (_day, rf"{_ON_W}{_D} (?P<of>of )?{_M}{_THEN_Y}"),
        (_day, rf"{_ON_W}{_M} (?:the )?{_D}{_THEN_Y}"),
        (_day, rf"\b(?P<d>{'|'.join(_ORDINALS)}) (?P<of>of ){_M}{_THEN_Y}"),
        (_month, rf"{_WHICH}{_M}{_THEN_Y}"),
        (_quarter, rf"\bQ(?P<quarter>[1-4]) (?:of )?(?P<y>{_YEAR})\b"),
        (_season, rf"{_WHICH}\b(?P<season>{'|'.join(_SEASONS)})\b{_THEN_Y}"),
        (_days_ago, rf"(?<!most )(?<!mostly )\b(?:{'|'.join(_DAYS_AGO)})\b"),
        (_ago, rf"{COUNT} {UNIT}s? (?:ago|back)\b"),
        (_rolling, rf"\b(?:last|past|previous) {COUNT} {UNIT}s?\b(?! of\b)"),
        (_rolling, rf"\b(?:the (?:last|past)|past) {UNIT}\b(?! of\b)"),
        (_unit, rf"{_SOME}{UNIT}\b(?! of\b)"),
        (_weekend, rf"(?:{_SOME}|\bthe )weekend\b"),
        (_weekday, rf"{_WHICH}\b(?P<w>{'|'.join(WEEKDAYS)}|(?-i:{_SHORT}))\b(?! (?:morn|afternoon|even|night)\w*s\b)"),
        (_decade, r"\b(?P<y>(?:19|20)\d0)s\b"),
        (
            _year,
            rf"(?<![\w.,$€£#'/:-])(?P<y>{_YEAR})(?: ?[-\u2013] ?(?P<until>{_YEAR}))?(?![\w%-]|[.,:/]\d|{_COUNTED})",
        ),
    )
)
"""Tried in this order. What one rule has matched is blanked out for the next ones."""
