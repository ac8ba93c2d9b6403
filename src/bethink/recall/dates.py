"""Find the times that a question mentions, and spell out a moment as the words of a date."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from bethink.model.moments import Micros, from_micros, to_micros
from bethink.recall.calendar import DAY, Stretch, shifted, unit_at, within
from bethink.recall.date_rules import (
    COUNT,
    FLOATING,
    MONTHS,
    RULES,
    TO,
    UNIT,
    WEEKDAYS,
    count_in,
    may_name_a_time,
    part,
)

_FIRST, _LAST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)
_GAP = re.compile(TO, re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween (?:the )?$", re.IGNORECASE)
_LEAD = re.compile(
    rf"(?:{COUNT} {UNIT}s? )?\b(?P<how>since|after|before|prior to|until|till|up to|by) (?:(?:the|about|around) )?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DateSpan:
    """A span of time in UTC; `end` is not part of it.

    `precision` is hour, day, week, weekend, month, quarter, season, year, decade, range, or open if one side is open.
    """

    start: Micros
    end: Micros
    precision: str


def spans(question: str, now: datetime) -> list[DateSpan]:
    """Return the times that a question mentions, in order. Without a year or week, the most recent one is meant.

    Days are UTC days, so something said near midnight may fall on the day before or after.
    """
    return times(question, now)[0]


def times(question: str, now: datetime) -> tuple[list[DateSpan], str]:
    """Return the times that a question mentions, like `spans`, and its text without them."""
    text = " ".join(question.replace("\0", " ").split())
    if not may_name_a_time(text):
        return [], text
    at = within(now)
    text, found = _found(text, at)
    opened = (_opened(text, said, at) for said in _joined(text, found))
    named = dict.fromkeys(DateSpan(start=to_micros(s), end=to_micros(e), precision=name) for s, e, name in opened)
    return list(named), text.replace("\0", " ")


def words_for(at: Micros) -> tuple[str, ...]:
    """Spell out a day for the full-text index: year, month, day and weekday."""
    day = within(from_micros(at))
    return (str(day.year), MONTHS[day.month - 1], str(day.day), WEEKDAYS[day.weekday()])


class _Said(NamedTuple):
    start: int
    end: int
    stretch: Stretch
    dated: bool = False
    again: Callable[[datetime], Stretch | None] | None = None
    """Evaluates the same words at another time; None if they always mean the same."""


def _found(text: str, now: datetime) -> tuple[str, list[_Said]]:
    """Return the text with all dates blanked out, and the dates in order."""
    found: list[_Said] = []
    for make, pattern in RULES:
        for match in pattern.finditer(text):
            try:
                stretch = make(match, now)
            except (ValueError, OverflowError):  # no such month, or a year out of range
                continue
            if stretch is None:
                continue
            dated = bool(part(match, "y"))
            floats = make in FLOATING and not dated and not part(match, "which")
            again = partial(make, match) if floats else None
            found.append(_Said(match.start(), match.end(), stretch, dated, again))
            text = text[: match.start()] + "\0" * len(match[0]) + text[match.end() :]
    return text, sorted(found, key=lambda said: said.start)


def _joined(text: str, found: list[_Said]) -> Iterable[_Said]:
    last: _Said | None = None
    for said in found:
        both = _range(text, last, said) if last else None
        if last and both is None:
            yield last
        last = both or said
    if last:
        yield last


def _range(text: str, first: _Said, last: _Said) -> _Said | None:
    gap = text[first.end : last.start]
    if not _GAP.fullmatch(gap) or ("and" in gap and not _BETWEEN.search(text[max(0, first.start - 16) : first.start])):
        return None
    start, end = first.stretch, last.stretch
    if first.dated and last.again:
        end = last.again(start.start + 365 * DAY) or end
    if first.again:
        start = first.again(end.start) or start
    return _Said(first.start, last.end, Stretch(start.start, end.end, "range")) if start.start < end.end else None


def _opened(text: str, said: _Said, now: datetime) -> Stretch:
    """Apply the words before a time that open it to one side ("since") or count from it ("two days after")."""
    lead = _LEAD.search(text[max(0, said.start - 40) : said.start])
    if lead is None:
        return said.stretch
    start, end, _ = said.stretch
    how, tomorrow = lead["how"].lower(), unit_at("day", now).end
    if lead["n"] and how in ("after", "before"):
        count, unit = count_in(lead)[1], lead["unit"].lower()
        origin, steps = (end, count - 1) if how == "after" else (start, -count)
        try:
            return Stretch(shifted(origin, unit, steps), shifted(origin, unit, steps + 1), unit)
        except (ValueError, OverflowError):  # a year out of range
            return said.stretch
    if how in ("since", "after"):
        start = start if how == "since" else end
        return Stretch(start, tomorrow if start < tomorrow else _LAST, "open")
    return Stretch(_FIRST, start if how in ("before", "prior to") else end, "open")
