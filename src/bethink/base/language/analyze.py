"""Turns a text into index terms, and a word of a question into search terms."""

from collections import Counter
from collections.abc import Collection, Mapping
from functools import cache, lru_cache

from bethink.base.language.detect import DEFAULT, language_of, languages, likely_languages, possible_languages
from bethink.base.language.letters import han_in, is_latin, is_unspaced, without_accents, words_in
from bethink.base.language.stems import Stems, stems_in

_COMMON = """
    a an and are as at be but by do for from have i if in is it me my not of on or so that the this to was we what with
    you your
"""
_MAX_CACHED, _MAX_CACHED_WORD = 4_096, 40
_UNSEARCHED = frozenset(_COMMON.split())
"""English words that searches ignore. They are a third of all text, and are left out of the index."""


def terms_of(text: str) -> list[str]:
    """Return the terms of a text, with repeats: stems, and pairs of characters in scripts without spaces."""
    words = words_in(text)
    stems = _index_stems(language_of(dict.fromkeys(words), text))
    if text.isascii():
        terms = map(stems.__getitem__, words)
    else:
        terms = (term for word in words for term in (pairs(word) if is_unspaced(word) else (stems[word],)))
    return [term for term in terms if term]


def count_terms(text: str, words: Mapping[str, int] | None = None) -> dict[str, int]:
    """Return how often each term occurs in a text to index. The language of a short one is a guess.

    So its words are also indexed as words of the other languages that it may be in. Pass the `words` of the text, with
    how often each occurs, if they are known.
    """
    words = Counter(words_in(text)) if words is None else words
    spoken = possible_languages(words, text)
    likeliest, counts = spoken[0], dict[str, int]()
    if len(spoken) > 1 or not text.isascii():
        terms = _index_terms(spoken)
        for word, times in words.items():
            for term in terms[word]:
                counts[term] = counts.get(term, 0) + times
    else:
        stems = _index_stems(likeliest)
        for word, times in words.items():
            term = stems[word]
            counts[term] = counts.get(term, 0) + times
    counts.pop("", None)
    return counts


class _IndexTerms(dict[str, Collection[str]]):
    """The terms under which the words of texts in any of some languages are indexed, computed on first use."""

    def __init__(self, spoken: tuple[str, ...]) -> None:
        super().__init__()
        self._stems, self._others = _index_stems(spoken[0]), spoken[1:]

    def __missing__(self, word: str) -> Collection[str]:
        terms = self._terms_of(word)
        if len(word) <= _MAX_CACHED_WORD:
            if len(self) >= _MAX_CACHED:
                self.clear()
            self[word] = terms
        return terms

    def _terms_of(self, word: str) -> Collection[str]:
        if is_unspaced(word):
            return pairs(word)
        term = self._stems[word]
        if not self._others or not term or not is_latin(word):
            return (term,)
        return frozenset((term, *(stems_in(language)[word] for language in self._others)))


@lru_cache(maxsize=64)
def _index_terms(spoken: tuple[str, ...]) -> _IndexTerms:
    return _IndexTerms(spoken)


@cache
def _index_stems(language: str) -> Stems:
    return Stems(language, silent=_UNSEARCHED if language == DEFAULT else frozenset())


def parts_of(word: str) -> list[str]:
    """Return the parts that a word of a question is searched by: a path has several, most words have one."""
    return [part for run in words_in(word) for part in (pairs(run) if is_unspaced(run) else (run,))]


def question_languages(question: str) -> tuple[str, ...]:
    """Return the languages that a question may be in; all of them if no word indicates one."""
    return likely_languages(words_in(question), question)


@lru_cache(maxsize=4_096)
def search_forms(part: str, spoken: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return every term that a part of a question may be indexed under, since the language of a text is a guess.

    The English stem comes first, then those of the `spoken` languages (default: all). Pass a result of
    `parts_of`.
    """
    if is_unspaced(part):
        return (part,)
    if not is_latin(part):
        return (stems_in(DEFAULT)[part],)
    candidates = (DEFAULT, *(spoken or languages()))
    spellings = dict.fromkeys((part, without_accents(part)))
    return tuple(dict.fromkeys(stems_in(language)[spelling] for spelling in spellings for language in candidates))


def pairs(run: str) -> list[str]:
    """Return every two adjacent characters, and each Han character, which may be a word of its own."""
    if len(run) == 1:
        return [run]
    return [*(run[start : start + 2] for start in range(len(run) - 1)), *han_in(run)]
