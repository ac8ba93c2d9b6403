"""Holds what a model claims against the messages it names: a claim without proof is refused, and counted."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from bethink.learn.answer import Draft
from bethink.learn.transcript import own_words
from bethink.model.records import Micros, Origin, Record
from bethink.model.rules import lowest, tells
from bethink.model.words import WORD, has_digit, key_words, names_in, negated, stem, words_of

_ENOUGH = 0.5
_LONGEST = 20_000
_NEAR = 2 * 366 * 86_400 * 1_000_000
_SENTENCE = re.compile(r"[.!?\n]+")
_CLAUSE = re.compile(r"[.!?;,\n]|\bbut\b")
_REPORTING_WORDS = """
    want wants prefer prefers like likes love loves need needs ask asks asked wish wishes expect expects always should
    must please favourite favorite name named called lives live living uses use using wants said says
"""
_REPORTING = frozenset(map(stem, _REPORTING_WORDS.split()))
"""By these a statement reports what was said; nobody says them of themselves in just these words."""


class Refusal(StrEnum):
    """Why a claim was refused."""

    MALFORMED = "malformed"
    NO_SOURCE = "no_source"
    NOT_NEW = "not_new"
    UNPROVEN = "unproven"
    NOT_THE_USERS_WORD = "not_the_users_word"
    ECHO = "echo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """A claim whose sources exist and say so, with the least trusted of their origins."""

    draft: Draft
    origin: Origin


_Spoken = tuple[set[str], bool]


def _spoken(part: str) -> _Spoken:
    """Return the words of a part of a text, and whether it denies something."""
    return {stem(word) for word in words_of(part)}, negated(part)


class _Evidence:
    """What a record says in its author's own words, taken apart once however many claims name it."""

    def __init__(self, record: Record) -> None:
        text = own_words(record.message.content)
        if len(text) > _LONGEST:
            text = f"{text[: _LONGEST // 2]}\n{text[-_LONGEST // 2 :]}"
        self.origin = Origin(record.message.origin or "import")
        self.said_at = record.recorded_at if record.message.said_at is None else record.message.said_at
        self.clauses = [_spoken(part) for part in _CLAUSE.split(text)]
        self.stems = {each for stems, _ in self.clauses for each in stems}


def prove(
    drafts: Sequence[Draft], records: Mapping[int, Record], *, start: int, shown: Sequence[str] = ()
) -> tuple[list[Proven], Counter[str]]:
    """Sort claims into those that the records prove and, counted by reason, those that they do not.

    `start` is the number of the last record learnt from before: a claim must rest on something newer. `shown` is what
    memory gave to the session: an assistant that repeats it proves nothing.
    """
    told = [_spoken(part) for text in shown for part in _SENTENCE.split(text)]
    proven: list[Proven] = []
    refused: Counter[str] = Counter()
    known: dict[int, _Evidence] = {}
    for draft in drafts:
        if not draft.sources or any(number not in records for number in draft.sources):
            refused[Refusal.NO_SOURCE] += 1
            continue
        known |= {number: _Evidence(records[number]) for number in draft.sources if number not in known}
        sources = [known[number] for number in draft.sources]
        reason = Refusal.NOT_NEW if draft.sources[-1] <= start else _refusal(draft, sources)
        if reason is None and told and _repeats(draft, sources, told):
            reason = Refusal.ECHO
        if reason is None:
            entities = _named(draft, sources)
            origin = lowest(each.origin for each in sources)
            proven.append(Proven(draft=replace(draft, entities=entities), origin=origin))
        else:
            refused[reason] += 1
    return proven, refused


def _refusal(draft: Draft, sources: Sequence[_Evidence]) -> Refusal | None:
    if not tells(draft.kind):
        return None if _says(draft, sources, enough=_ENOUGH) else Refusal.UNPROVEN
    # Only what the user wrote may tell an agent what to do: neither a tool's text nor an echo of it.
    users = [each for each in sources if each.origin == "user"]
    foreign = any(each.origin not in ("user", "assistant") for each in sources)
    return None if users and not foreign and _says(draft, users, enough=1.0) else Refusal.NOT_THE_USERS_WORD


def _repeats(draft: Draft, sources: Sequence[_Evidence], told: Sequence[_Spoken]) -> bool:
    """Say whether only an assistant says so, in words of what memory has shown it."""
    users = [each for each in sources if each.origin == "user"]
    if lowest(each.origin for each in sources) != "assistant" or (users and _says(draft, users, enough=_ENOUGH)):
        return False
    wanted = {stem(word) for word in key_words(draft.statement)} - _REPORTING
    return any(wanted <= stems and denies == negated(draft.statement) for stems, denies in told)


def _says(draft: Draft, sources: Sequence[_Evidence], *, enough: float) -> bool:
    """Names, numbers and the first word of a claim must be in its sources, and so must `enough` of its key words.

    The clause of a source that comes closest to it must deny what it denies, and affirm what it affirms.
    """
    there = {each for source in sources for each in source.stems}
    dates = _dates(draft, sources)
    wanted = {stem(word) for word in key_words(draft.statement) if word not in dates} - _REPORTING
    strict = {stem(word) for word in _strict(draft.statement) if word not in dates} - _REPORTING
    if not wanted or not strict <= there or len(wanted & there) < enough * len(wanted):
        return False
    closest = max(len(wanted & stems) for source in sources for stems, _ in source.clauses)
    denies = negated(draft.statement)
    return any(
        denied == denies for source in sources for stems, denied in source.clauses if len(wanted & stems) == closest
    )


def _strict(statement: str) -> set[str]:
    first = WORD.search(statement)
    beginning = key_words(first[0]) if first else []
    names = {*names_in(statement), *(word for word in words_of(statement) if has_digit(word))}
    # Where nothing parts the words, the first of them is the whole sentence.
    return names | set(beginning) if len(beginning) == 1 else names


def _named(draft: Draft, sources: Sequence[_Evidence]) -> tuple[str, ...]:
    there = {each for source in sources for each in source.stems}
    return tuple(name for name in draft.entities if {stem(word) for word in words_of(name)} <= there)


def _dates(draft: Draft, sources: Sequence[_Evidence]) -> set[str]:
    """Return how dates may be spelt that were worked out from when things were said, none far from that time."""
    said = [source.said_at for source in sources]
    near = [
        moment
        for moment in (draft.valid_from, draft.valid_to)
        if moment is not None and any(abs(moment - each) <= _NEAR for each in said)
    ]
    return {part for moment in (*said, *near) for part in _spelt(moment)}


def _spelt(moment: Micros) -> set[str]:
    try:
        day = datetime.fromtimestamp(moment / 1_000_000, UTC)
    except (ValueError, OverflowError, OSError):
        return set()
    parts = day.strftime("%Y %m %d %B %b %A %a").split()
    return {part.casefold() for part in parts} | {str(day.day), str(day.month)}
