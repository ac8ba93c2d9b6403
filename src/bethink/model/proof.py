"""Checks whether messages state a fact, by comparing words. Meaning is not judged."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from bethink.model.framing import own_words
from bethink.model.records import Fact, FactKind, Origin, Record
from bethink.model.rules import tells
from bethink.model.words import WORD, has_digit, key_words, names_in, negated, stem, trimmed, words_of

ENOUGH = 0.5
_LONGEST = 20_000
_NEAR = timedelta(days=2 * 366)
_CLAUSE = re.compile(r"[.!?;,\n]|\bbut\b|\band(?=\s+not\b)", re.IGNORECASE)
_EXCEPT = re.compile(r"\W*(?:not|nor|never|neither)\b", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_DECIMALS = re.compile(r"(?<![\d.])(\d{1,20})\.(?=\d{1,20}(?![\d.]*\d))")
_PLURAL = re.compile(r"\b([A-Z]{2,20}|(?i:mon|tues|wednes|thurs|fri|satur|sun)day)s\b")
_REPORTED = """
    want wants prefer prefers like likes love loves need needs ask asks asked wish wishes expect expects always should
    must please favourite favorite name named called lives live living uses use using wants said says
"""
_REPORTING_WORDS = frozenset(_REPORTED.split())
REPORTING = frozenset(map(stem, _REPORTING_WORDS))
"""Words by which a statement reports what was said; people rarely use them in this form about themselves."""


class Statement(NamedTuple):
    """What is checked against messages: a sentence, its kind, and the time it refers to."""

    text: str
    kind: FactKind
    valid_from: datetime | None = None
    valid_to: datetime | None = None


class Clause(NamedTuple):
    """The words of a part of a text, in full and as stems; whether it is negated, and whether it begins with "not"."""

    words: frozenset[str]
    denies: bool
    excepts: bool


def clause_of(part: str) -> Clause:
    """Split a part of a text into words."""
    words = words_of(part)
    return Clause(frozenset((*words, *map(stem, words))), negated(part), _EXCEPT.match(part) is not None)


class Evidence:
    """The author's own words in a record, split once for any number of statements to check."""

    def __init__(self, record: Record) -> None:
        text = own_words(record.message.content)
        if len(text) > _LONGEST:
            text = f"{text[: _LONGEST // 2]}\n{text[-_LONGEST // 2 :]}"
        text = _plain(text)
        self.origin = Origin(record.message.origin or "import")
        self.said_at = record.message.said_at or record.recorded_at
        self.clauses = [clause_of(part) for part in _CLAUSE.split(text)]
        self.words = frozenset(words_of(text))
        self.trimmed = frozenset(map(trimmed, self.words))
        self.stems = frozenset(map(stem, self.words))


def still_said(fact: Fact, records: Sequence[Record]) -> bool:
    """Return whether a learnt fact would be learnt from these records alone."""
    statement = Statement(fact.content, fact.kind, fact.valid_from, fact.valid_to)
    return proves(statement, [Evidence(record) for record in records])


def proves(statement: Statement, sources: Sequence[Evidence]) -> bool:
    """Return whether sources state this. Instructions to an agent must be entirely in what the user wrote."""
    if not tells(statement.kind):
        return says(statement, sources, enough=ENOUGH)
    # Neither the text of a tool nor an echo of it counts.
    users = [each for each in sources if each.origin == "user"]
    foreign = any(each.origin not in ("user", "assistant") for each in sources)
    return bool(users) and not foreign and says(statement, users, enough=1.0)


def says(statement: Statement, sources: Sequence[Evidence], *, enough: float) -> bool:
    """Return whether sources hold `enough` of a statement's key words, and every name, number and first word.

    Names and numbers are compared in full, other words by their stems. The closest clause must be negated if and only
    if the statement is; "not this" after a comma negates what it names.
    """
    text = _plain(statement.text)
    dates = _dates(statement, sources)
    names = _names(text) - dates
    others = {stem(word) for word in key_words(text) if word not in dates | names} - REPORTING
    wanted = names | others
    words = frozenset[str]().union(*(source.words for source in sources))
    stems = frozenset[str]().union(*(source.stems for source in sources))
    if not wanted or not names <= words or len(names) + len(others & stems) < enough * len(wanted):
        return False
    first = _first(text)
    if first and first not in dates and not any(trimmed(first) in source.trimmed for source in sources):
        return False
    return _agrees(wanted, [clause for source in sources for clause in source.clauses], denies=negated(text))


def are_named(text: str, sources: Sequence[Evidence]) -> bool:
    """Return whether sources name something: words with a capital or a digit in full, other words by stems."""
    text = _plain(text)
    whole = {word for part in WORD.findall(text) if part[0].isupper() or has_digit(part) for word in words_of(part)}
    return all(
        any(word in source.words if word in whole else stem(word) in source.stems for source in sources)
        for word in words_of(text)
    )


def _agrees(wanted: set[str], clauses: Sequence[Clause], *, denies: bool) -> bool:
    if not denies:
        denied = {word for clause in clauses if clause.excepts for word in clause.words}
        affirmed = {word for clause in clauses if not clause.denies for word in clause.words}
        if wanted & (denied - affirmed):
            return False
    closest = max(len(wanted & clause.words) for clause in clauses)
    return any(clause.denies == denies for clause in clauses if len(wanted & clause.words) == closest)


def _plain(text: str) -> str:
    """Write a number as one word, and give days and abbreviations one spelling."""
    return _PLURAL.sub(r"\1", _DECIMALS.sub(r"\1_", _THOUSANDS.sub("", text)))


def _names(text: str) -> set[str]:
    numbers = (word for word in words_of(text) if has_digit(word))
    found = {word for name in names_in(text) if name not in _REPORTING_WORDS for word in words_of(name)}
    return found.union(numbers)


def _first(text: str) -> str | None:
    """Return the first word of a statement, which may be a name; None if it is a common word."""
    first = WORD.search(text)
    beginning = key_words(first[0]) if first else []
    # In scripts without spaces between words, the first word is the entire sentence.
    return beginning[0] if len(beginning) == 1 and stem(beginning[0]) not in REPORTING else None


def _dates(statement: Statement, sources: Sequence[Evidence]) -> set[str]:
    """Return the spellings of dates that were derived from when messages were said, if close to that time."""
    said = [source.said_at for source in sources]
    near = [
        moment
        for moment in (statement.valid_from, statement.valid_to)
        if moment is not None and any(abs(moment - each) <= _NEAR for each in said)
    ]
    return {part for moment in (*said, *near) for part in _spelt(moment)}


def _spelt(day: datetime) -> set[str]:
    parts = day.strftime("%Y %m %d %B %b %A %a").split()
    return {part.casefold() for part in parts} | {str(day.day), str(day.month)}
