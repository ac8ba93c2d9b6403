"""The words of corrections and of requests to forget, one file for each language, merged into one set of patterns.

A short message rarely shows its language, so every language's words are tried. Words that mean different things in
two languages are left out of the files.
"""

import re
import tomllib
from functools import cache
from importlib import resources
from typing import Any

from bethink.base.frozen import frozen
from bethink.base.language.stop import all_stop_words

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "pl", "ru", "tr", "zh", "ja")
_NEVER = r"(?!)"
_PUNCTUATION = r"[,.;:!?(\u2013\u2014\u3001\u3002\uff0c\uff1a\uff01-]"
_CLAUSE_START = rf"(?:^|(?<={_PUNCTUATION})|(?<={_PUNCTUATION}\s))"
_EDGE = r"(?![^\W\d_\u3040-\u30ff\u3400-\u9fff])"


@frozen
class Corrections:
    """The patterns of corrections in every language."""

    strong: re.Pattern[str]
    strong_anywhere: re.Pattern[str]
    weak: re.Pattern[str]
    exceptions: re.Pattern[str]
    negation: re.Pattern[str]
    negation_after: re.Pattern[str]
    but: re.Pattern[str]
    joined_by: re.Pattern[str]
    change: re.Pattern[str]
    contrasts: tuple[re.Pattern[str], ...]
    particles: re.Pattern[str]
    calendars: tuple[re.Pattern[str], ...]
    function_words: frozenset[str]


@frozen
class Forgetting:
    """The patterns of requests to forget in one language."""

    hints: re.Pattern[str]
    plain: tuple[re.Pattern[str], ...]
    forget: tuple[re.Pattern[str], ...]
    delete: tuple[re.Pattern[str], ...]
    erase: tuple[re.Pattern[str], ...]
    told: re.Pattern[str]
    about: tuple[re.Pattern[str], ...]
    just_said: tuple[re.Pattern[str], ...]
    pronoun: re.Pattern[str]
    everything: re.Pattern[str]
    topics: re.Pattern[str]
    persons: re.Pattern[str]
    articles: re.Pattern[str]
    please: re.Pattern[str]


@frozen
class Mentions:
    """Patterns of sentences that go on about somebody, and of clauses about something else, in every language."""

    they: re.Pattern[str]
    own: re.Pattern[str]
    generic: frozenset[str]


@cache
def mentions() -> Mentions:
    """Return the patterns of sentences that mention a person or a topic."""
    files = [_file(language) for language in LANGUAGES]
    return Mentions(
        they=re.compile(rf"(?:{_join_patterns(files, 'they')}){_EDGE}", re.IGNORECASE),
        own=re.compile(rf"(?:{_join_patterns(files, 'own')}){_EDGE}", re.IGNORECASE),
        generic=frozenset(" ".join(file.get("generic", "") for file in files).split()),
    )


@cache
def corrections() -> Corrections:
    """Return the patterns of corrections."""
    files = [_file(language) for language in LANGUAGES]
    return Corrections(
        strong=_at_start(files, "strong"),
        strong_anywhere=_any(_join_patterns(files, "strong_anywhere")),
        weak=_at_start(files, "weak"),
        exceptions=_any(_join_patterns(files, "exceptions")),
        negation=_word(_words_of(files, "not")),
        negation_after=_word(_words_of(files, "not_after")),
        but=re.compile(rf"[\s,]*(?:{_alternatives(_words_of(files, 'but'))})\b\s*", re.IGNORECASE),
        joined_by=re.compile(rf"\s(?:{_alternatives(_words_of(files, 'and'))})\s"),
        change=_change(files),
        contrasts=tuple(re.compile(pattern) for file in files for pattern in file.get("contrasts", ())),
        particles=re.compile(_join_patterns(files, "particles")),
        calendars=(_calendar(files, "weekdays"), _calendar(files, "months")),
        function_words=all_stop_words().union(*(file.get("function", "").split() for file in files)),
    )


@cache
def forgetting() -> tuple[Forgetting, ...]:
    """Return the patterns of requests to forget, by language."""
    return tuple(map(_forgetting, map(_file, LANGUAGES)))


def _file(language: str) -> dict[str, Any]:
    path = resources.files("bethink.memory.phrases") / "words" / f"{language}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _forgetting(file: dict[str, Any]) -> Forgetting:
    return Forgetting(
        hints=_any(file["hints"]),
        plain=_requests(file, "plain"),
        forget=_requests(file, "forget"),
        delete=_requests(file, "delete"),
        erase=_requests(file, "erase"),
        told=_any(file["told"]),
        about=_full_patterns(file["about"]),
        just_said=_full_patterns(file["said"]),
        pronoun=_any(file["pronoun"]),
        everything=_any(file["everything"]),
        topics=_any(file.get("topics", _NEVER)),
        persons=re.compile(file.get("persons", _NEVER)),
        articles=_any(file.get("articles", _NEVER)),
        please=re.compile(rf"(?:[\s,\u3001\uff0c]*(?:{file['please']}))+$", re.IGNORECASE),
    )


def _requests(file: dict[str, Any], key: str) -> tuple[re.Pattern[str], ...]:
    """Return patterns that match a request from the start of a clause to its end."""
    before = rf"(?:{file['frames']}[\s,\u3001\uff0c]*){{0,4}}"
    please = rf"(?:[\s,\u3001\uff0c]*(?:{file['please']}))*\s*"
    # What is named may go on after a comma, as in "alles, was ich ... erzählt habe", so that is tried first.
    ends = (r"[.!?;\u3002\uff01\uff1f]*$", r"[,\uff0c\u3001]")
    found_object = r"(?P<o>[^.!?;\u3002\uff01\uff1f\n]{1,120}?)"
    patterns = [pattern.replace("{o}", found_object) for pattern in file[key]]
    return tuple(
        re.compile(f"{before}(?:{pattern}){please}{end}", re.IGNORECASE) for end in ends for pattern in patterns
    )


def _full_patterns(patterns: list[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


def _any(alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{alternatives})", re.IGNORECASE)


def _at_start(files: list[dict[str, Any]], key: str) -> re.Pattern[str]:
    return re.compile(rf"{_CLAUSE_START}(?:{_join_patterns(files, key)}){_EDGE}", re.IGNORECASE)


def _word(alternatives: list[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{_alternatives(alternatives)})\b", re.IGNORECASE)


def _alternatives(listed: list[str]) -> str:
    return "|".join(sorted(set(listed), key=len, reverse=True))


def _words_of(files: list[dict[str, Any]], key: str) -> list[str]:
    return [word for file in files for word in file.get(key, ())]


def _join_patterns(files: list[dict[str, Any]], key: str) -> str:
    return "|".join(file[key] for file in files if key in file) or _NEVER


def _change(files: list[dict[str, Any]]) -> re.Pattern[str]:
    """Return the pattern of words by which something changes from then on."""
    spaced = "|".join(file["change"] for file in files if not file.get("particles"))
    unspaced = "|".join(file["change"] for file in files if file.get("particles"))
    return re.compile(rf"\b(?:{spaced})\b|{unspaced}", re.IGNORECASE)


def _calendar(files: list[dict[str, Any]], key: str) -> re.Pattern[str]:
    spaced = "|".join(file[key] for file in files if not file.get("particles"))
    unspaced = "|".join(file[key] for file in files if file.get("particles"))
    return re.compile(rf"\b(?:{spaced})s?\b|{unspaced}", re.IGNORECASE)
