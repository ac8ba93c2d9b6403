"""Recognizes the language of a text by its function words and letters, to choose a stemmer."""

import re
import struct
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from itertools import islice

from bethink.base.language.letters import is_latin, words_in

DEFAULT = "english"
_ENGLISH = (DEFAULT,)
_LANE = 2
"""Bytes of the votes for one language."""
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
    votes, _ = _votes(islice(words, _MAX_WORDS), _with_letters(text))
    return languages()[votes.index(max(votes))]  # English comes first


def possible_languages(words: Iterable[str], text: str) -> tuple[str, ...]:
    """Return the languages that a text may be in, with that of `language_of` first; more than one if it is short.

    These are all that as many words indicate, or one word less if it seems not to be English: a name, or the ending of
    "Mum's", may be a word of another language.
    """
    first, letters = list(islice(words, _MAX_WORDS)), _with_letters(text)
    votes, function_word_count = _votes(first, letters)
    if not letters and votes[0] == function_word_count >= _DECISIVE:  # English has all of the function words
        return _ENGLISH
    top = max(votes)
    position = votes.index(top)
    if len(first) > _FEW_WORDS:
        return (languages()[position],)
    near = top - 1 if position else top
    return _with_votes(votes, near, position)


def likely_languages(words: Iterable[str], text: str) -> tuple[str, ...]:
    """Return the languages that most words of a text indicate; all of them if no word indicates any.

    English comes first, then the others in the order of the list.
    """
    votes, _ = _votes(words, _with_letters(text))
    return _with_votes(votes, max(votes))


def _with_votes(votes: Sequence[int], minimum: int, first: int = 0) -> tuple[str, ...]:
    """Return the languages with at least `minimum` votes, in the order of the list but for the one at `first`."""
    names = languages()
    others = [name for name, count in zip(names, votes, strict=True) if count >= minimum and name != names[first]]
    return (names[first], *others) if votes[first] >= minimum else tuple(others)


def _votes(words: Iterable[str], letters: dict[str, frozenset[str]]) -> tuple[tuple[int, ...], int]:
    """Return the number of words that indicate each language, in the order of the list, and that of function words."""
    by_word = _packed_votes()
    # This runs for every text that is stored. Adding numbers that hold a count for each language is quicker than a loop
    # over the languages of each word.
    total = sum([by_word[word] for word in {*words} if word in by_word and word not in letters])
    for word, indicated in letters.items():
        spoken = {*indicated, *function_words().get(word, ())}
        total += sum(_vote(languages().index(name)) for name in spoken)
    *votes, function_word_count = _unpack(total.to_bytes(_LANE * (len(languages()) + 1), "little"))
    return tuple(votes), function_word_count


def _vote(position: int) -> int:
    return 1 << (8 * _LANE * position)


@cache
def _packed_votes() -> dict[str, int]:
    """Return the votes of each function word as one number, with a further one that counts function words."""
    names = languages()
    return {
        word: sum(_vote(names.index(name)) for name in spoken) + _vote(len(names))
        for word, spoken in function_words().items()
    }


def _unpack(data: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(data) // _LANE}H", data)


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
