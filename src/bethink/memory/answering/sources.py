"""The memories that a sentence cites, and what is read from each only when a sentence has a number."""

from datetime import date, datetime, timedelta
from functools import cached_property

from bethink.base.language.detect import DEFAULT, detect
from bethink.base.language.numbers import number_runs, numbers_in
from bethink.memory.answering.amounts import Amount, ClockTime, amounts_in, split_clock_times
from bethink.memory.answering.days import DateSpan, Point, read_dates
from bethink.memory.answering.prompt import describe
from bethink.model.recall import Match
from bethink.model.words import key_stems

_DAY = timedelta(days=1)


class DatedText:
    """The dates, times of day and amounts of a text that was said at some moment."""

    def __init__(self, text: str, at: datetime) -> None:
        self.text = text
        self.at = at

    @cached_property
    def _date_parts(self) -> tuple[list[Point], list[DateSpan], str, str]:
        return read_dates(self.text, self.at)

    @property
    def points(self) -> list[Point]:
        """The dates that the text mentions, earliest first."""
        return self._date_parts[0]

    @property
    def spans(self) -> list[DateSpan]:
        """All times that the text mentions, such as weeks."""
        return self._date_parts[1]

    @property
    def date_words(self) -> str:
        """The parts of the text that mention dates."""
        return self._date_parts[2]

    @cached_property
    def _split(self) -> tuple[list[ClockTime], str]:
        return split_clock_times(self._date_parts[3])

    @property
    def clock_times(self) -> list[ClockTime]:
        """The times of day in the text."""
        return self._split[0]

    @property
    def plain(self) -> str:
        """The text without dates and times of day."""
        return self._split[1]

    @cached_property
    def amounts(self) -> list[Amount]:
        """The amounts in the text."""
        return amounts_in(self.plain)


class Source(DatedText):
    """A memory that the model received, with its line in the prompt and the stems of the line."""

    def __init__(self, item: Match) -> None:
        super().__init__(item.text, item.said_at)
        self.item = item
        self.line = f"{item.text} ({', '.join(describe(item))})"
        self.stems = key_stems(self.line)

    @property
    def said_on(self) -> Point:
        """The day on which it was said."""
        return Point(self.item.said_at.date())

    @cached_property
    def moments(self) -> list[datetime]:
        """The dates of a fact, and the moment at which the memory was said."""
        fact, said_at = self.item.fact, self.item.said_at
        moments = [] if fact is None else [fact.event_from, fact.event_to, fact.valid_from, fact.valid_to]
        return [said_at, *(moment for moment in moments if moment is not None)]

    @cached_property
    def days(self) -> list[Point]:
        """All dates that the memory states, and the day on which it was said."""
        fact = self.item.fact
        ends = [] if fact is None else [fact.event_to, fact.valid_to]
        days: set[date] = {moment.date() for moment in self.moments}
        days |= {(end - _DAY).date() for end in ends if end is not None}  # a day ends where the next begins
        return [*self.points, *map(Point, days)]

    @cached_property
    def event_days(self) -> list[Point]:
        """The dates on which the event happened: those it mentions, else that of the fact or of the message."""
        fact = self.item.fact
        if fact is not None and fact.event_from is not None:
            return [Point(fact.event_from.date())]
        return self.points or [self.said_on]

    @cached_property
    def numbers(self) -> set[int]:
        """All values that numbers of the line can have."""
        return _numbers_in(self.line)

    @cached_property
    def other_numbers(self) -> set[int]:
        """Numbers that are written in another way than amounts, such as in words of another language."""
        return _numbers_in(self.plain) - {int(amount.value) for amount in self.amounts}


def _numbers_in(text: str) -> set[int]:
    """Return the values of numbers in a text. Number words of other languages, such as "to", are words in English."""
    if detect(text) == DEFAULT:
        return {value for run in number_runs(text) for value in run}
    return numbers_in(text)
