"""Find the times that a question mentions, and spell out a moment as the words of a date."""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import cache, partial
from typing import NamedTuple

from bethink.base.frozen import frozen
from bethink.memory.recall.calendar import DAY, Stretch, shifted, unit_at, within
from bethink.memory.recall.calendars import Calendar, calendar, date_words, folded
from bethink.memory.recall.date_rules import FLOATING, MAKE, DateMatch
from bethink.memory.recall.languages import languages_of
from bethink.model.moments import Micros, to_micros

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_FIRST, _LAST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)
_FIGURE = re.compile(r"\d")
_WORD = re.compile(r"\w+")


@frozen
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
    plain, at = folded(text), within(now)
    found: list[_Said] = []
    for language in languages_of(text):
        if may_name_a_time(plain, language):
            said, plain = _found(plain, at, calendar(language))
            found += said
    opened = [_opened(plain, said, at) for said in _joined(plain, sorted(found, key=lambda said: said.start))]
    named = dict.fromkeys(DateSpan(start=to_micros(s), end=to_micros(e), precision=name) for s, e, name in opened)
    return list(named), "".join(" " if blank == "\0" else char for char, blank in zip(text, plain, strict=True))


def may_name_a_time(text: str, language: str) -> bool:
    """Return whether any rule of a language could match. Most questions contain neither a digit nor a date word."""
    words = _plain_date_words(language)
    return not words or _FIGURE.search(text) is not None or not words.isdisjoint(_WORD.findall(text.lower()))


@cache
def _plain_date_words(language: str) -> frozenset[str]:
    return frozenset(map(folded, date_words(language)))


class _Said(NamedTuple):
    start: int
    end: int
    stretch: Stretch
    calendar: Calendar
    dated: bool = False
    again: Callable[[datetime], Stretch | None] | None = None
    """Evaluates the same words at another time; None if they always mean the same."""
    joined: bool = False


def _found(text: str, now: datetime, words: Calendar) -> tuple[list[_Said], str]:
    """Return the dates in a text, and the text with all of them blanked out."""
    said: list[_Said] = []
    for rule, pattern in words.rules:
        for match in pattern.finditer(text):
            found, make = DateMatch(match, words), MAKE[rule]
            try:
                stretch = make(found, now)
            except (ValueError, OverflowError):  # no such month, or a year out of range
                continue
            if stretch is None:
                continue
            floats = rule in FLOATING and not found.dated and not found.part("which")
            again = partial(make, found) if floats else None
            joined = stretch.precision == "range" and bool(found.part("a"))
            said.append(_Said(match.start(), match.end(), stretch, words, found.dated, again, joined))
            text = text[: match.start()] + "\0" * len(match[0]) + text[match.end() :]
    return said, text


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
    gap, leads = text[first.end : last.start], last.calendar.leads
    if not leads["to"].fullmatch(gap):
        return None
    if leads["and"].search(gap) and not leads["between"].search(text[max(0, first.start - 16) : first.start]):
        return None
    start, end = first.stretch, last.stretch
    if first.dated and last.again:
        end = last.again(start.start + 365 * DAY) or end
    if first.again:
        start = first.again(end.start) or start
    both = Stretch(start.start, end.end, "range")
    return _Said(first.start, last.end, both, last.calendar, joined=True) if both.start < both.end else None


def _opened(text: str, said: _Said, now: datetime) -> Stretch:
    """Apply the words beside a time that open it to one side ("since") or count from it ("two days after")."""
    leads = said.calendar.leads
    before = leads["before"].search(text[max(0, said.start - 40) : said.start])
    match = before or leads["after"].match(text[said.end : said.end + 40])
    if match is None:
        return said.stretch
    lead = DateMatch(match, said.calendar)
    how, (start, end, _) = lead.meaning("before" if before else "after", "how"), said.stretch
    if lead.part("n") and how in ("after", "before"):
        count, unit = lead.number[1], lead.unit
        origin, steps = (end, count - 1) if how == "after" else (start, -count)
        try:
            return Stretch(shifted(origin, unit, steps), shifted(origin, unit, steps + 1), unit)
        except (ValueError, OverflowError):  # a year out of range
            return said.stretch
    if said.joined and how in ("since", "until"):  # "desde marzo hasta mayo" is closed on both sides
        return said.stretch
    if how in ("since", "after"):
        start, tomorrow = start if how == "since" else end, unit_at("day", now).end
        return Stretch(start, tomorrow if start < tomorrow else _LAST, "open")
    return Stretch(_FIRST, start if how == "before" else end, "open")
