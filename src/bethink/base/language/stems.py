"""Stems words with Snowball, by script and language."""

import re
from functools import cache
from threading import Lock
from typing import Protocol, cast

from bethink.base.language.letters import is_latin, without_accents

_MAX_LENGTH = 40
"""Longer words are not stemmed: they are keys or fragments of files."""

_MAX_STEMS = 100_000
"""Maximum number of cached stems per language. People mostly use a few thousand words."""

_DIGIT = re.compile(r"\d")
_SCRIPTS = (
    (re.compile("[\u0400-\u052f]"), "russian"),
    (re.compile("[\u0370-\u03ff\u1f00-\u1fff]"), "greek"),
    (re.compile("[\u0600-\u06ff\u0750-\u077f]"), "arabic"),
    (re.compile("[\u0900-\u097f]"), "hindi"),
    (re.compile("[\u0b80-\u0bff]"), "tamil"),
    (re.compile("[\u0530-\u058f]"), "armenian"),
)
_one_at_a_time = Lock()  # a stemmer keeps state while it runs


class _Stemmer(Protocol):
    def stemWord(self, word: str, /) -> str: ...  # noqa: N802 - PyStemmer's own name


class Stems(dict[str, str]):
    """Stems of lowercase words, without accents, computed on first use. The stem of a silent word is empty."""

    def __init__(self, language: str, silent: frozenset[str] = frozenset()) -> None:
        super().__init__()
        self._language = language
        self._silent = silent

    def __missing__(self, word: str) -> str:
        if len(self) >= _MAX_STEMS:
            self.clear()
        self[word] = stem = "" if word in self._silent else _stem(word, self._language)
        return stem


@cache
def stems_in(language: str) -> Stems:
    """Return the stems of a language. The language matters only for words in Latin script."""
    return Stems(language)


def _stem(word: str, language: str) -> str:
    if len(word) > _MAX_LENGTH or _DIGIT.search(word):
        return without_accents(word)
    stemmer_language = (
        language if is_latin(word) else next((name for script, name in _SCRIPTS if script.match(word)), None)
    )
    if stemmer_language is None:
        return without_accents(word)
    with _one_at_a_time:
        return without_accents(_stemmer(stemmer_language).stemWord(word)) or word


@cache
def _stemmer(language: str) -> _Stemmer:
    # Imported on first use, because reading and writing settings needs no stems.
    import Stemmer  # noqa: PLC0415

    # Its own cache is switched off: ours is shared by all threads.
    return cast("_Stemmer", Stemmer.Stemmer(language, 0))  # pyright: ignore[reportUnknownMemberType]
