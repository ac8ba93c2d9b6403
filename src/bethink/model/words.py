"""Significant words of a text, for comparing texts by meaning."""

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterable
from functools import lru_cache

WORD = re.compile(r"\w+")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NEGATION = re.compile(r"\b(?:not|no|never|none|neither|nor|without|cannot|\w{1,20}n['\u2019]t)\b", re.IGNORECASE)
_NEGATIONS = frozenset(["not", "no", "never", "none", "neither", "nor", "without", "cannot"])
_STEM = 5
_REPEATED = 0.6
"""Share of the significant words of a text that a repetition has."""
_ENDINGS = ("ing", "ed", "es", "s")
_COMMON_WORDS = """
    a an and are as at be been but by can did do does for from had has have he her his i if in into is it its me my no
    not of on or our she so than that the their them then there they this to was we were what when which who will with
    would you your user users s t re ve ll d m
"""
_COMMON = frozenset(_COMMON_WORDS.split())


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case. Scripts without spaces are split into pairs of characters."""
    if text.isascii():  # most texts are, and need no normalization
        return WORD.findall(text.lower())
    normal = unicodedata.normalize("NFKC", text).casefold()
    if not _WIDE.search(normal):
        return WORD.findall(normal)
    words: list[str] = []
    for word in WORD.findall(normal):
        if _WIDE.search(word):
            words += [word[start : start + 2] for start in range(max(1, len(word) - 1))]
        else:
            words.append(word)
    return words


def key_words(text: str) -> list[str]:
    """Return the significant words of a text, in order."""
    return [word for word in words_of(text) if word not in _COMMON]


def key_stems(text: str) -> frozenset[str]:
    """Return the stems of the significant words of a text."""
    return stems_of_words(key_words(text))


def stems_of_words(words: Iterable[str]) -> frozenset[str]:
    """Return the stems of some words."""
    return frozenset(map(stem, words))


def is_repeated(meaning: Collection[str], stems: Collection[str]) -> bool:
    """Return whether a text with these stems repeats one with the key stems `meaning`: most of them, at least two."""
    shared = sum(word in stems for word in meaning)
    return shared >= max(min(2, len(meaning)), _REPEATED * len(meaning))


@lru_cache(maxsize=8_192)  # a recall stems a hundred words, most of them repeatedly
def stem(word: str) -> str:
    """Cut a word to its stem, so that its ending does not matter. A word with a digit is returned unchanged."""
    return word if has_digit(word) else _without_ending(word)[:_STEM].rstrip("e") or word


@lru_cache(maxsize=8_192)  # as above
def trim_ending(word: str) -> str:
    """Remove only the ending of a word."""
    return _without_ending(word).rstrip("e") or word


def _without_ending(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word if word.endswith("ss") else word[: -len(ending)]
    return word


def has_digit(word: str) -> bool:
    """Return whether a word contains a digit."""
    return not word.isalpha() and any(mark.isdigit() for mark in word)


def is_negated(text: str) -> bool:
    """Return whether a text is negated."""
    return _is_negated(text, words_of(text))


def gist(text: str) -> str:
    """Return a digest of the meaning of a sentence. Case, punctuation, common words and endings do not matter.

    The order of the words and negation matter.
    """
    words = words_of(text)
    # Only endings are cut, unlike in `stem`: Stockport is not Stockholm.
    meaning = [trim_ending(word) for word in words if word not in _COMMON] or words
    return hashlib.blake2b(f"{' '.join(meaning)}\n{_is_negated(text, words)}".encode(), digest_size=16).hexdigest()


def _is_negated(text: str, words: Collection[str]) -> bool:
    if text.isascii() and "n't" not in text.lower():  # most texts: looking words up costs a tenth of the search
        return not _NEGATIONS.isdisjoint(words)
    return _NEGATION.search(text) is not None
