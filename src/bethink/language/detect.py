"""Recognise the language of a text by its function words, to choose a stemmer."""

from collections.abc import Iterable
from functools import cache
from importlib import resources
from itertools import islice

from bethink.language.letters import is_latin, words_in

DEFAULT = "english"
_TELLING = 64
"""By how many different words a text is recognised."""


def detect(text: str) -> str:
    """Return the language of a text in Latin script, named as Snowball names it; English if it cannot be told."""
    return language_of(dict.fromkeys(words_in(text)))


def language_of(words: Iterable[str]) -> str:
    """Return the language with the most function words among the first different words of a text in lower case."""
    found = function_words().keys() & islice(words, _TELLING)
    # Nothing can have more than English, if English has all of them.
    return DEFAULT if _english().issuperset(found) else likely_languages(found)[0]


def likely_languages(words: Iterable[str]) -> tuple[str, ...]:
    """Return the languages with the most function words among some words; all of them if there is no such word.

    English comes first if it is among them, then they come in the order in which they are listed.
    """
    known, found = function_words(), dict[str, int]()
    for word in known.keys() & words:
        for language in known[word]:
            found[language] = found.get(language, 0) + 1
    if not found:
        return languages()
    most = max(found.values())
    return tuple([language for language in languages() if found.get(language) == most])


@cache
def _english() -> frozenset[str]:
    return frozenset(word for word, spoken in function_words().items() if DEFAULT in spoken)


@cache
def languages() -> tuple[str, ...]:
    """Return the languages in Latin script that are told apart, English first."""
    return tuple(name for name, _ in _lists())


@cache
def function_words() -> dict[str, tuple[str, ...]]:
    """Return for each function word the languages that have it."""
    found: dict[str, tuple[str, ...]] = {}
    for name, words in _lists():
        for word in dict.fromkeys(words):
            assert is_latin(word), word  # noqa: S101 - a mistake in our own file
            found[word] = (*found.get(word, ()), name)
    return found


def _lists() -> list[tuple[str, list[str]]]:
    text = (resources.files("bethink.language") / "function_words.txt").read_text(encoding="utf-8")
    lines = [line.partition(":") for line in text.splitlines() if line and not line.startswith("#")]
    return [(name, [part for word in words.split() for part in words_in(word)]) for name, _, words in lines]
