"""Find the times that a question mentions."""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import cache, partial
from typing import NamedTuple

from bethink.base.frozen import frozen
from bethink.memory.recall.calendar import DAY, Stretch, clamp, shift, unit_at
from bethink.memory.recall.calendars import Calendar, calendar, date_words, fold_accents
from bethink.memory.recall.date_rules import FLOATING, MAKE, RECENT, DateMatch, is_relative
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

    `precision` is hour, day, week, weekend, month, quarter, season, year, decade, range, open if one side is open, or
    recent for a vague time such as "lately".
    """

    start: Micros
    end: Micros
    precision: str
    future: bool = False
    """True if it has not begun. It may be the time of an event, but nothing was said at it yet."""

    @property
    def vague(self) -> bool:
        """True for a time such as "lately", which prefers what was said then but excludes nothing earlier."""
        return self.precision == RECENT


def spans(question: str, now: datetime) -> list[DateSpan]:
    """Return the times that a question mentions, in order. Without a year or week, the most recent one is meant.

    Days are UTC days, so something said near midnight may fall on the day before or after.
    """
    return times(question, now)[0]


def times(question: str, now: datetime) -> tuple[list[DateSpan], str]:
    """Return the times that a question mentions, like `spans`, and its text without them."""
    text = " ".join(question.replace("\0", " ").split())
    plain, at = fold_accents(text), clamp(now)
    mentions: list[_Mention] = []
    for language in languages_of(text):
        if may_mention_time(plain, language):
            mention, plain = _find_mentions(plain, at, calendar(language))
            mentions += mention
    stretches = [
        _apply_lead(plain, mention, at)
        for mention in _join_ranges(plain, sorted(mentions, key=lambda mention: mention.start))
    ]
    unique_spans = dict.fromkeys(
        DateSpan(start=to_micros(s), end=to_micros(e), precision=name, future=s > at) for s, e, name in stretches
    )
    return list(unique_spans), "".join(" " if blank == "\0" else char for char, blank in zip(text, plain, strict=True))


def may_mention_time(text: str, language: str) -> bool:
    """Return whether any rule of a language could match. Most questions contain neither a digit nor a date word."""
    words = _plain_date_words(language)
    return not words or _FIGURE.search(text) is not None or not words.isdisjoint(_WORD.findall(text.lower()))


@cache
def _plain_date_words(language: str) -> frozenset[str]:
    return frozenset(map(fold_accents, date_words(language)))


class _Mention(NamedTuple):
    start: int
    end: int
    stretch: Stretch
    calendar: Calendar
    has_year: bool = False
    reevaluate: Callable[[datetime], Stretch | None] | None = None
    """Resolves the same words at another time; None if their meaning is fixed."""
    is_range: bool = False
    is_relative: bool = False
    """Whether the words name a time by the moment at which they were said, such as "last Friday"."""


def relative_times(text: str, said_at: datetime) -> list[tuple[str, Stretch]]:
    """Return the times that a message names relative to when it was said, each with its words.

    Times that contain this moment, such as "this week", and words that may mean another time are left out.
    """
    plain, at = fold_accents(text.replace("\0", " ")), clamp(said_at)
    mentions: list[_Mention] = []
    for language in languages_of(text):
        if may_mention_time(plain, language):
            new, plain = _find_mentions(plain, at, calendar(language))
            mentions += (mention for mention in new if mention.is_relative)
    return [
        (text[mention.start : mention.end], mention.stretch)
        for mention in sorted(mentions, key=lambda mention: mention.start)
        if mention.stretch.precision != "hour" and not mention.stretch.start <= at < mention.stretch.end
    ]


def _find_mentions(text: str, now: datetime, words: Calendar) -> tuple[list[_Mention], str]:
    """Return the dates in a text, and the text with all of them blanked out."""
    mentions: list[_Mention] = []
    for rule, pattern in words.rules:
        for match in pattern.finditer(text):
            date, make = DateMatch(match, words), MAKE[rule]
            try:
                stretch = make(date, now)
            except (ValueError, OverflowError):  # no such month, or a year out of range
                continue
            if stretch is None:
                continue
            floats = rule in FLOATING and not date.has_year and not date.part("which")
            again = partial(make, date) if floats else None
            joined = stretch.precision == "range" and bool(date.part("a"))
            mentions.append(
                _Mention(
                    match.start(), match.end(), stretch, words, date.has_year, again, joined, is_relative(rule, date)
                )
            )  # fmt: skip
            text = text[: match.start()] + "\0" * len(match[0]) + text[match.end() :]
    return mentions, text


def _join_ranges(text: str, mentions: list[_Mention]) -> Iterable[_Mention]:
    last: _Mention | None = None
    for mention in mentions:
        both = _range(text, last, mention) if last else None
        if last and both is None:
            yield last
        last = both or mention
    if last:
        yield last


def _range(text: str, first: _Mention, last: _Mention) -> _Mention | None:
    gap, leads = text[first.end : last.start], last.calendar.leads
    if not leads["to"].fullmatch(gap):
        return None
    if leads["and"].search(gap) and not leads["between"].search(text[max(0, first.start - 16) : first.start]):
        return None
    start, end = first.stretch, last.stretch
    if first.has_year and last.reevaluate:
        end = last.reevaluate(start.start + 365 * DAY) or end
    if first.reevaluate:
        start = first.reevaluate(end.start) or start
    both = Stretch(start.start, end.end, "range")
    return _Mention(first.start, last.end, both, last.calendar, is_range=True) if both.start < both.end else None


def _apply_lead(text: str, mention: _Mention, now: datetime) -> Stretch:
    """Apply the words next to a time that open it to one side ("since") or count from it ("two days after")."""
    leads = mention.calendar.leads
    before = leads["before"].search(text[max(0, mention.start - 40) : mention.start])
    match = before or leads["after"].match(text[mention.end : mention.end + 40])
    if match is None:
        return mention.stretch
    lead = DateMatch(match, mention.calendar)
    relation, (start, end, _) = lead.meaning("before" if before else "after", "how"), mention.stretch
    if lead.part("n") and relation in ("after", "before"):
        count, unit = lead.number[1], lead.unit
        origin, steps = (end, count - 1) if relation == "after" else (start, -count)
        try:
            return Stretch(shift(origin, unit, steps), shift(origin, unit, steps + 1), unit)
        except (ValueError, OverflowError):  # a year out of range
            return mention.stretch
    if mention.is_range and relation in ("since", "until"):  # "desde marzo hasta mayo" is closed on both sides
        return mention.stretch
    if relation in ("since", "after"):
        start, tomorrow = start if relation == "since" else end, unit_at("day", now).end
        return Stretch(start, tomorrow if start < tomorrow else _LAST, "open")
    return Stretch(_FIRST, start if relation == "before" else end, "open")
