"""Recognise the language of a text by its function words and its letters, to choose a stemmer."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from importlib import resources
from itertools import islice

from bethink.base.language.letters import is_latin, words_in

DEFAULT = "english"
_TELLING = 64
"""By how many different words a text is recognised."""
_LETTERS = {
    "ğ": ("turkish",), "\u0131": ("turkish",), "ş": ("turkish", "romanian"),
    "ą": ("polish",), "ę": ("polish",), "ł": ("polish",), "ń": ("polish",), "ś": ("polish",), "ż": ("polish",),
    "ě": ("czech",), "ř": ("czech",), "ů": ("czech",), "ő": ("hungarian",), "ű": ("hungarian",),
    "ă": ("romanian",), "ț": ("romanian",), "ș": ("romanian",), "ñ": ("spanish",), "ã": ("portuguese",),
    "õ": ("portuguese",), "å": ("swedish", "danish", "norwegian"), "æ": ("danish", "norwegian"),
    "ø": ("danish", "norwegian"),
}  # fmt: skip
"""Letters that few of the languages have. A word with one of them counts as a function word does, but not in a name."""
_TELLS = re.compile(f"[{''.join(_LETTERS)}]")
_WRITTEN = re.compile(r"[^\W\d_]+")


def detect(text: str) -> str:
    """Return the language of a text in Latin script, named as Snowball names it; English if it cannot be told."""
    return language_of(dict.fromkeys(words_in(text)), text)


def language_of(words: Iterable[str], text: str) -> str:
    """Return the language that most of the first different words of a text tell: in lower case, and as written."""
    first, letters = list(islice(words, _TELLING)), _with_letters(text)
    # Nothing can have more function words than English, if English has all of them.
    is_english = not letters and _english().issuperset(function_words().keys() & first)
    return DEFAULT if is_english else _likely(first, letters)[0]


def likely_languages(words: Iterable[str], text: str) -> tuple[str, ...]:
    """Return the languages that most words of a text tell; all of them if no word tells any.

    English comes first if it is among them, then they come in the order in which they are listed.
    """
    return _likely(words, _with_letters(text))


def _likely(words: Iterable[str], letters: dict[str, frozenset[str]]) -> tuple[str, ...]:
    known, found = function_words(), dict[str, int]()
    for word in letters.keys() | set(words):
        for language in letters.get(word, frozenset()).union(known.get(word, ())):
            found[language] = found.get(language, 0) + 1
    if not found:
        return languages()
    most = max(found.values())
    return tuple([language for language in languages() if found.get(language) == most])


def _with_letters(text: str) -> dict[str, frozenset[str]]:
    """Return the languages that the letters of a word tell, for the first different words that are not capitalised."""
    if text.isascii():
        return {}
    composed = unicodedata.normalize("NFC", text)
    if not _TELLS.search(composed):
        return {}
    written = (word for word in _WRITTEN.findall(composed) if word[0].islower())
    return {
        word: frozenset(language for letter in told for language in _LETTERS[letter])
        for word in islice(dict.fromkeys(written), _TELLING)
        if (told := _TELLS.findall(word))
    }


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
    text = (resources.files("bethink.base.language") / "function_words.txt").read_text(encoding="utf-8")
    lines = [line.partition(":") for line in text.splitlines() if line and not line.startswith("#")]
    return [(name, [part for word in words.split() for part in words_in(word)]) for name, _, words in lines]
