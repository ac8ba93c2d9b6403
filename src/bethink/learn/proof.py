"""Holds what a model claims against the messages it names: a claim without proof is refused, and counted."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from bethink.learn.answer import Draft
from bethink.learn.transcript import without_injected
from bethink.model.records import Micros, Origin, Record
from bethink.model.rules import lowest, tells

_WORD = re.compile(r"\w+")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_STEM = 5
_ENDINGS = ("ing", "ed", "es", "s")
_ENOUGH = 0.5
_COMMON_WORDS = """
    a an and are as at be been but by can did do does for from had has have he her his i if in into is it its me my no
    not of on or our she so than that the their them then there they this to was we were what when which who will with
    would you your user users s t re ve ll d m
"""
_COMMON = frozenset(_COMMON_WORDS.split())


class Refusal(StrEnum):
    """Why a claim was refused."""

    MALFORMED = "malformed"
    NO_SOURCE = "no_source"
    NOT_NEW = "not_new"
    UNPROVEN = "unproven"
    NOT_THE_USERS_WORD = "not_the_users_word"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """A claim whose sources exist and say so, with the least trusted of their origins."""

    draft: Draft
    origin: Origin


def prove(drafts: Sequence[Draft], records: Mapping[int, Record], *, start: int) -> tuple[list[Proven], Counter[str]]:
    """Sort claims into those that the records prove and, counted by reason, those that they do not.

    `start` is the number of the last record learnt from before: a claim must rest on something newer.
    """
    proven: list[Proven] = []
    refused: Counter[str] = Counter()
    for draft in drafts:
        reason = _refusal(draft, records, start)
        if reason is None:
            origin = lowest(_origin(records[number]) for number in draft.sources)
            proven.append(Proven(draft=_with_known_entities(draft, records), origin=origin))
        else:
            refused[reason] += 1
    return proven, refused


def _refusal(draft: Draft, records: Mapping[int, Record], start: int) -> Refusal | None:
    if not draft.sources or any(number not in records for number in draft.sources):
        return Refusal.NO_SOURCE
    if draft.sources[-1] <= start:
        return Refusal.NOT_NEW
    sources = [records[number] for number in draft.sources]
    if tells(draft.kind):
        # Only what the user wrote may tell an agent what to do: neither a tool's text nor an echo of it.
        if any(_origin(record) not in ("user", "assistant") for record in sources):
            return Refusal.NOT_THE_USERS_WORD
        users = [record for record in sources if _origin(record) == "user"]
        return None if users and _says(users, draft) else Refusal.NOT_THE_USERS_WORD
    return None if _says(sources, draft) else Refusal.UNPROVEN


def _says(sources: Sequence[Record], draft: Draft) -> bool:
    """Names and numbers of a claim must all be in its sources, and at least half of its other key words."""
    text = " ".join(_text(record) for record in sources)
    there = _stems(text) | {stem for record in sources for stem in _stems(record.message.name or "")}
    dates = _dates(draft, sources)
    wanted = key_words(draft.statement) - dates
    if not wanted:
        return False
    strict = {word for word in wanted if any(mark.isdigit() for mark in word)} | names_in(draft.statement)
    if any(stem(word) not in there for word in strict - dates):
        return False
    found = sum(stem(word) in there for word in wanted)
    return found >= _ENOUGH * len(wanted)


def key_words(text: str) -> set[str]:
    """Return the words of a text that carry its meaning, in lower case."""
    return {word for word in _words(text) if word not in _COMMON}


def _words(text: str) -> list[str]:
    found: list[str] = []
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        if _WIDE.search(word):  # written without spaces: compare by pairs of signs
            found += [word[place : place + 2] for place in range(max(1, len(word) - 1))]
        else:
            found.append(word)
    return found


def names_in(statement: str) -> set[str]:
    """Return the names in a sentence, in lower case: capitalised words but for the first, which always is."""
    words = _WORD.findall(unicodedata.normalize("NFKC", statement))
    names = {word.casefold() for word in words[1:] if word[:1].isupper()}
    return names - _COMMON


def _stems(text: str) -> set[str]:
    return {stem(word) for word in _words(text)}


def stem(word: str) -> str:
    """Cut a word to its beginning, so that its endings do not matter; numbers stay whole."""
    if any(mark.isdigit() for mark in word):
        return word
    ending = next((each for each in _ENDINGS if word.endswith(each) and len(word) - len(each) >= 3), "")
    if ending and not word.endswith("ss"):
        word = word[: -len(ending)]
    return word[:_STEM].rstrip("e") or word


def _dates(draft: Draft, sources: Sequence[Record]) -> set[str]:
    """Return how dates may be spelt that were worked out from when things were said."""
    moments = [draft.valid_from, draft.valid_to, *(record.message.said_at for record in sources)]
    return {part for moment in moments if moment is not None for part in _spelt(moment)}


def _spelt(moment: Micros) -> set[str]:
    try:
        day = datetime.fromtimestamp(moment / 1_000_000, UTC)
    except (ValueError, OverflowError, OSError):
        return set()
    parts = day.strftime("%Y %m %d %B %b %A %a").split()
    return {part.casefold() for part in parts} | {str(day.day), str(day.month)}


def _text(record: Record) -> str:
    return without_injected(record.message.content)


def _origin(record: Record) -> Origin:
    return Origin(record.message.origin or "import")


def _with_known_entities(draft: Draft, records: Mapping[int, Record]) -> Draft:
    there = {stem for number in draft.sources for stem in _stems(_text(records[number]))} | _stems(draft.statement)
    known = tuple(name for name in draft.entities if all(stem(word) in there for word in _words(name)))
    return replace(draft, entities=known)
