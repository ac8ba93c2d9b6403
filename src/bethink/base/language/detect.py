"""Recognizes the language of a text by its function words and letters, to choose a stemmer."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from importlib import resources
from itertools import islice

from bethink.base.language.letters import is_latin, words_in

DEFAULT = "english"
_MAX_WORDS = 64
"""Number of different words that are examined to recognize a language."""
_FEW_WORDS = 20
"""A text with more different words is rarely taken for another language."""
_DECISIVE = 4
"""The function words that make a short text English if English has all of them."""
_LETTERS = {
    "ğ": ("turkish",), "\u0131": ("turkish",), "ş": ("turkish", "romanian"),
    "ą": ("polish",), "ę": ("polish",), "ł": ("polish",), "ń": ("polish",), "ś": ("polish",), "ż": ("polish",),
    "ě": ("czech",), "ř": ("czech",), "ů": ("czech",), "ő": ("hungarian",), "ű": ("hungarian",),
    "ă": ("romanian",), "ț": ("romanian",), "ș": ("romanian",), "ñ": ("spanish",), "ã": ("portuguese",),
    "õ": ("portuguese",), "å": ("swedish", "danish", "norwegian"), "æ": ("danish", "norwegian"),
    "ø": ("danish", "norwegian"),
}  # fmt: skip
"""Letters that few languages have. A word with one of them counts like a function word, except in a name."""
_RARE_LETTER = re.compile(f"[{''.join(_LETTERS)}]")
_LETTER_RUN = re.compile(r"[^\W\d_]+")


def detect(text: str) -> str:
    """Return the language of a text in Latin script, named as Snowball names it; English if undecided."""
    return language_of(dict.fromkeys(words_in(text)), text)


def language_of(words: Iterable[str], text: str) -> str:
    """Return the language that most of the first different words indicate: `words` in lower case, `text` as written."""
    first, letters = list(islice(words, _MAX_WORDS)), _with_letters(text)
    # No language can have more of the function words than English if English has all of them.
    is_english = not letters and _english().issuperset(function_words().keys() & first)
    return DEFAULT if is_english else _likely(first, letters)[0]


def possible_languages(words: Iterable[str], text: str) -> tuple[str, ...]:
    """Return the languages that a text may be in, with that of `language_of` first; more than one if it is short.

    These are all that as many words indicate, or one word less if it seems not to be English: a name, or the ending of
    "Mum's", may be a word of another language.
    """
    first, letters = list(islice(words, _MAX_WORDS)), _with_letters(text)
    common = function_words().keys() & first
    is_english = not letters and _english().issuperset(common)
    if is_english and len(common) >= _DECISIVE:
        return (DEFAULT,)
    votes = _votes(first, letters)
    top = max(votes.values(), default=0)
    likeliest = DEFAULT if is_english else next(name for name in languages() if votes.get(name, 0) == top)
    if len(first) > _FEW_WORDS:
        return (likeliest,)
    near = top if likeliest == DEFAULT else top - 1
    return (likeliest, *(name for name in languages() if votes.get(name, 0) >= near and name != likeliest))


def likely_languages(words: Iterable[str], text: str) -> tuple[str, ...]:
    """Return the languages that most words of a text indicate; all of them if no word indicates any.

    English comes first, then the others in the order of the list.
    """
    return _likely(words, _with_letters(text))


def _likely(words: Iterable[str], letters: dict[str, frozenset[str]]) -> tuple[str, ...]:
    votes = _votes(words, letters)
    if not votes:
        return languages()
    top = max(votes.values())
    return tuple([language for language in languages() if votes.get(language) == top])


def _votes(words: Iterable[str], letters: dict[str, frozenset[str]]) -> dict[str, int]:
    """Return the number of words that indicate each language."""
    languages_by_word, votes = function_words(), dict[str, int]()
    for word in letters.keys() | set(words):
        for language in letters.get(word, frozenset()).union(languages_by_word.get(word, ())):
            votes[language] = votes.get(language, 0) + 1
    return votes


def _with_letters(text: str) -> dict[str, frozenset[str]]:
    """Return the languages that rare letters indicate, for the first different words that are not capitalized."""
    if text.isascii():
        return {}
    composed = unicodedata.normalize("NFC", text)
    if not _RARE_LETTER.search(composed):
        return {}
    words = (word for word in _LETTER_RUN.findall(composed) if word[0].islower())
    return {
        word: frozenset(language for letter in letters for language in _LETTERS[letter])
        for word in islice(dict.fromkeys(words), _MAX_WORDS)
        if (letters := _RARE_LETTER.findall(word))
    }


@cache
def _english() -> frozenset[str]:
    return frozenset(word for word, spoken in function_words().items() if DEFAULT in spoken)


@cache
def languages() -> tuple[str, ...]:
    """Return the recognized languages in Latin script, English first."""
    return tuple(name for name, _ in _lists())


@cache
def function_words() -> dict[str, tuple[str, ...]]:
    """Return for each function word the languages that have it."""
    languages_by_word: dict[str, tuple[str, ...]] = {}
    for name, words in _lists():
        for word in dict.fromkeys(words):
            assert is_latin(word), word  # noqa: S101 - a mistake in our own file
            languages_by_word[word] = (*languages_by_word.get(word, ()), name)
    return languages_by_word


def _lists() -> list[tuple[str, list[str]]]:
    text = (resources.files("bethink.base.language") / "function_words.txt").read_text(encoding="utf-8")
    lines = [line.partition(":") for line in text.splitlines() if line and not line.startswith("#")]
    return [(name, [part for word in words.split() for part in words_in(word)]) for name, _, words in lines]
