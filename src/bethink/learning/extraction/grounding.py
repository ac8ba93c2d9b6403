"""Find names and numbers of a statement that stand nowhere in what was said. What words mean is not judged here."""

import re
import unicodedata
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import cache
from importlib import resources

from bethink.language import MARKS, all_stop_words, is_unspaced, terms_of
from bethink.language.letters import words_in
from bethink.language.numbers import number_runs, numbers_in

_WORD = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{MARKS}])*")
_LEAST_SHARED = 4
_SHORTEST_STEM = 3
_CASE_ENDING = 3


class Ground:
    """The words of a conversation, read once for any number of statements to check."""

    def __init__(self, texts: Iterable[str]) -> None:
        said = [unicodedata.normalize("NFKC", text) for text in texts]
        self._words = frozenset(word for text in said for word in words_in(text))
        self._stems = frozenset(term for text in said for term in terms_of(text))
        self._signs = frozenset("".join(word for word in self._words if is_unspaced(word)))

    def foreign_names(self, statement: str) -> list[str]:
        """Return the words of a statement that look like names and were not said.

        In scripts with capital letters those are capitalised words, also the nouns of German; in other scripts, where
        nothing tells a name, every word that is not a function word.
        """
        text = unicodedata.normalize("NFKC", statement)
        return [word for match in _WORD.finditer(text) for word in _runs(match[0]) if self._is_foreign(word)]

    def _is_foreign(self, word: str) -> bool:
        folded = words_in(word)
        if not folded or folded[0] in _may_have():
            return False
        if is_unspaced(folded[0]):
            return self._is_unsaid_run(folded[0])
        if word[0].lower() != word[0].upper() and not word[0].isupper():
            return False
        return not any(self._was_said(part) for part in folded)

    def _was_said(self, word: str) -> bool:
        if word in self._words or not self._stems.isdisjoint(terms_of(word)):
            return True
        return any(_is_form(word, said) for said in self._words)

    def _is_unsaid_run(self, run: str) -> bool:
        """Return whether two characters side by side were not said and are not part of a function word."""
        pairs = [run[place : place + 2] for place in range(len(run) - 1)]
        common = all_stop_words()
        unsaid = [sign not in self._signs and sign not in common for sign in run]
        return any(
            first and second and pair not in common and pair not in _own_words("pair")
            for pair, first, second in zip(pairs, unsaid, unsaid[1:], strict=False)
        )


def foreign_numbers(
    statement: str, said: Iterable[str], dates: Iterable[datetime | None], years: Iterable[int]
) -> list[str]:
    """Return the numbers of a statement that were neither said nor belong to one of its dates."""
    allowed = {value for text in said for value in numbers_in(text)} | set(years)
    for date in dates:
        if date is not None:
            before = date - timedelta(days=1)  # the end of a day is the beginning of the next
            allowed |= {date.year, date.month, date.day, before.year, before.month, before.day, date.year % 100}
    return [
        str(whole)
        for whole, *groups in number_runs(statement)
        if whole not in allowed and not all(group in allowed for group in groups)
    ]


def _runs(word: str) -> list[str]:
    """Split a word where a script without spaces begins or ends."""
    found: list[str] = []
    for sign in word:
        if found and is_unspaced(found[-1][0]) == is_unspaced(sign):
            found[-1] += sign
        else:
            found.append(sign)
    return found


def _is_form(word: str, said: str) -> bool:
    """Return whether two words can be forms of one: parts of a compound, or the same with another ending."""
    shorter, longer = sorted((word, said), key=len)
    if len(shorter) < _SHORTEST_STEM:
        return False
    if len(shorter) >= _LEAST_SHARED and shorter in longer:
        return True
    if word.isascii():
        return False  # languages that inflect names rarely do without letters of their own
    shared = next(
        (place for place, pair in enumerate(zip(word, said, strict=False)) if pair[0] != pair[1]), len(shorter)
    )
    return shared >= max(_SHORTEST_STEM, len(shorter) - 2) and len(longer) - shared <= _CASE_ENDING


@cache
def _may_have() -> frozenset[str]:
    return all_stop_words() | _own_words("user") | _own_words("date")


@cache
def _own_words(kind: str) -> frozenset[str]:
    """Return words that a statement may have of its own."""
    text = (resources.files("bethink.learning.extraction") / "statement_words.txt").read_text(encoding="utf-8")
    lines = (line.partition(": ") for line in text.splitlines())
    return frozenset(
        part for name, _, words in lines if name == kind for word in words.split() for part in words_in(word)
    )
