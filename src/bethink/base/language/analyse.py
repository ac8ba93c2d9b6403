"""Turn a text into the terms it is indexed under, and a word of a question into the terms it is searched by."""

from collections import Counter
from functools import cache, lru_cache

from bethink.base.language.detect import DEFAULT, language_of, languages, likely_languages
from bethink.base.language.letters import han_in, is_latin, is_unspaced, without_accents, words_in
from bethink.base.language.stems import Stems, stems_in

_COMMON = """
    a an and are as at be but by do for from have i if in is it me my not of on or so that the this to was we what with
    you your
"""
_UNASKED = frozenset(_COMMON.split())
"""English words that no question is searched by. They are a third of what is said, and are left out of the index."""


def terms_of(text: str) -> list[str]:
    """Return the terms of a text, with repeats: stems, and pairs of characters in scripts without spaces."""
    words = words_in(text)
    stems = _indexed_in(language_of(dict.fromkeys(words), text))
    if text.isascii():
        found = map(stems.__getitem__, words)
    else:
        found = (term for word in words for term in (pairs(word) if is_unspaced(word) else (stems[word],)))
    return [term for term in found if term]


def counted(text: str) -> dict[str, int]:
    """Return how often each term occurs in a text."""
    if not text.isascii():
        return Counter(terms_of(text))
    words = Counter(words_in(text))
    stems, found = _indexed_in(language_of(words, text)), dict[str, int]()
    for word, times in words.items():
        term = stems[word]
        found[term] = found.get(term, 0) + times
    found.pop("", None)
    return found


@cache
def _indexed_in(language: str) -> Stems:
    return Stems(language, silent=_UNASKED if language == DEFAULT else frozenset())


def parts_of(word: str) -> list[str]:
    """Return the parts that a word of a question is searched by: a path has several, most words have one."""
    return [part for run in words_in(word) for part in (pairs(run) if is_unspaced(run) else (run,))]


def asked_languages(question: str) -> tuple[str, ...]:
    """Return the languages that a question may be in: all, if it has no word to tell by."""
    return likely_languages(words_in(question), question)


@lru_cache(maxsize=4_096)
def asked_forms(part: str, spoken: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return every term that a part of a question may be indexed under: what language a text is in is a guess.

    The English stem comes first, then those of the languages that are `spoken`, by default all. Pass what `parts_of`
    returned.
    """
    if is_unspaced(part):
        return (part,)
    if not is_latin(part):
        return (stems_in(DEFAULT)[part],)
    named = (DEFAULT, *(spoken or languages()))
    spellings = dict.fromkeys((part, without_accents(part)))
    return tuple(dict.fromkeys(stems_in(language)[each] for each in spellings for language in named))


def pairs(run: str) -> list[str]:
    """Return every two characters that stand together, and each Han character, which may be a word of its own."""
    if len(run) == 1:
        return [run]
    return [*(run[place : place + 2] for place in range(len(run) - 1)), *han_in(run)]
