"""Find names and numbers of a statement that the conversation does not contain. Meaning is not judged here."""

import re
import unicodedata
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from functools import cache
from importlib import resources

from bethink.base.language import MARKS, all_stop_words, is_unspaced, stop_words, terms_of
from bethink.base.language.detect import language_of
from bethink.base.language.letters import words_in
from bethink.base.language.numbers import number_runs
from bethink.base.language.stop import STOP_CODES
from bethink.memory.recall.dates import times
from bethink.model.moments import from_micros

_WORD = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{MARKS}])*")
_UNIT = re.compile(r"(?<=\d)\s?[^\W\d_]{1,3}\b")
"""A unit, as in 5 GB: a short word after a number."""
_KANA = re.compile("[\u3040-\u309f]")
"""Hiragana, in which Japanese writes endings and function words, and hardly any name."""
_CYRILLIC_ENDING = re.compile(
    "[\u0430\u0435\u0438\u043e\u0443\u044b\u044d\u044e\u044f\u0451\u0439\u044c\u043c\u0432\u0445]{0,3}"
)
_OPENING = re.compile(r"(?:^|[^\w\s,)\]]|[.!?:;\u2026]['\")\]]*|\n)\s*\Z")
"""The characters before the first word of a sentence, a heading, a list item or a quotation."""
_WITH_DIGITS = re.compile(r"[^\W\d_]+\d[^\W_]*")
_NAME_CONTINUES = re.compile(r"[ '\u2019-](?=[^\W\d_])(?-i:[A-Z\u00c0-\u00de\u0410-\u042f])")
_ALWAYS_SPOKEN = ("en", "ru", "ar", "hi", "ko", "ja", "zh")
_MIN_SHARED = 4
_MIN_STEM = 3
_MAX_ENDING = 3
_MAX_DATED = 20_000
"""Characters of a text in which dates are found."""
_DATED = ("day", "month", "weekend", "week", "range")


def capitalized_words(statement: str) -> list[str]:
    """Return the capitalized words of a statement that are not function words, in lower case."""
    words = (match[0] for match in _WORD.finditer(unicodedata.normalize("NFKC", statement)) if match[0][0].isupper())
    return [part for word in words for part in words_in(word) if part not in _allowed_words()]


class Ground:
    """The words of a conversation, prepared once to check any number of statements."""

    def __init__(self, texts: Iterable[str]) -> None:
        normalized = [unicodedata.normalize("NFKC", text) for text in texts]
        words = [word for text in normalized for word in words_in(text)]
        self._words = frozenset(words)
        self._stems = frozenset(term for text in normalized for term in terms_of(text))
        self._signs = frozenset("".join(word for word in self._words if is_unspaced(word)))
        self._spoken = _stop_words_in(words, "\n".join(normalized))

    def foreign_names(self, statement: str) -> list[str]:
        """Return the words of a statement that look like names and were not said.

        In scripts with capital letters those are capitalized words, including German nouns; in other scripts, which
        do not mark names, every word that is not a function word.
        """
        text = _UNIT.sub(" ", unicodedata.normalize("NFKC", statement))
        return [
            word
            for match in _WORD.finditer(text)
            for word in _runs(match[0])
            if not self._is_function_word(text, match) and not self._is_model(text, match) and self._is_foreign(word)
        ]

    def without_models(self, statement: str) -> str:
        """Return a statement without the names with digits that were said, such as X300."""
        text = unicodedata.normalize("NFKC", statement)
        return _WITH_DIGITS.sub(lambda match: " " if match[0].casefold() in self._words else match[0], text)

    def _is_model(self, text: str, match: re.Match[str]) -> bool:
        """Return whether letters belong to a name with digits that was said, such as X300."""
        around = _WITH_DIGITS.match(text, match.start())
        return around is not None and around[0].casefold() in self._words

    def _is_function_word(self, text: str, match: re.Match[str]) -> bool:
        """Return whether a word cannot be a name here: "Mia" can, although Italian has "mia". Position matters."""
        word, folded = match[0], "".join(words_in(match[0])[:1])
        if not word[0].isupper() or folded in _allowed_words() - all_stop_words():
            return folded in _allowed_words()
        if folded not in all_stop_words():
            return False
        if folded in _own_words("capital"):
            return True
        if word.isupper() or _OPENING.search(text, 0, match.start()):
            others = (other for other in words_in(text) if other != folded)
            return folded in self._spoken or folded in _stop_words_in(others, text)
        return _NAME_CONTINUES.match(text, match.end()) is not None  # as in "The Hague"

    def _is_foreign(self, word: str) -> bool:
        folded = words_in(word)
        if not folded:
            return False
        if is_unspaced(folded[0]):
            return self._is_foreign_run(folded[0])
        if word[0].lower() != word[0].upper() and not word[0].isupper():
            return False
        return not any(self._was_said(part) for part in folded)

    def _was_said(self, word: str) -> bool:
        if word in self._words or not self._stems.isdisjoint(terms_of(word)):
            return True
        return any(_is_form(word, spoken_word) for spoken_word in self._words)

    def _is_foreign_run(self, run: str) -> bool:
        """Return whether a character is new and belongs to no function word: one is enough for another name."""
        for word in filter(is_unspaced, _own_words("user")):
            run = run.replace(word, "")
        allowed = {sign for word in (*all_stop_words(), *_own_words("date")) for sign in word if len(word) == 1}
        reporting = _own_words("pair")
        for position in range(len(run) - 1):
            if run[position : position + 2] in reporting:
                allowed |= set(run[position : position + 2])
        return any(sign not in self._signs and sign not in allowed and not _KANA.match(sign) for sign in run)


def date_numbers(text: str, said_at: datetime) -> set[int]:
    """Return the numbers of the dates that a text names, such as 3 and 2 for "the 2nd of March".

    A date without a year may be the last one or the next one.
    """
    numbers = set[int]()
    for span in times(text[:_MAX_DATED], said_at)[0]:
        if span.precision in _DATED:
            days = {from_micros(span.start), from_micros(span.end - 1)}
            numbers.update(*((day.year, day.year + 1, day.month) for day in days))
            numbers.update(day.day for day in days if span.precision != "month")
    return numbers


def foreign_numbers(
    statement: str, numbers: Collection[int], *, dates: Iterable[datetime | None], year: int
) -> list[str]:
    """Return the numbers of a statement that are neither in `numbers` nor part of its dates.

    `year` is the year of the message. A date more than one year away needs the year, or the distance in years, in
    `numbers`.
    """
    allowed = {*numbers, 0, year}
    for date in dates:
        for day in () if date is None else (date, date - timedelta(days=1)):  # a day ends where the next begins
            away = abs(day.year - year)
            if away <= 1 or away in numbers or day.year in numbers or day.year % 100 in numbers:
                allowed |= {day.year, day.month, day.day, day.year % 100}
    return [
        str(number)
        for number, *groups in number_runs(statement)
        if number not in allowed and not all(group in allowed for group in groups)
    ]


def _stop_words_in(words: Iterable[str], text: str) -> frozenset[str]:
    """Return the function words of the language that a text is in, of English, and of other scripts."""
    return _stop_words_with(STOP_CODES.get(language_of(dict.fromkeys(words), text), "en"))


@cache
def _stop_words_with(language: str) -> frozenset[str]:
    return frozenset[str]().union(*map(stop_words, (language, *_ALWAYS_SPOKEN)))


def _runs(word: str) -> list[str]:
    """Split a word where a script without spaces begins or ends."""
    runs: list[str] = []
    for sign in word:
        if runs and is_unspaced(runs[-1][0]) == is_unspaced(sign):
            runs[-1] += sign
        else:
            runs.append(sign)
    return runs


def _is_form(word: str, spoken_word: str) -> bool:
    """Return whether two words can be forms of one: parts of a compound, or the same with another ending."""
    shorter, longer = sorted((word, spoken_word), key=len)
    if len(shorter) < _MIN_STEM:
        return False
    if longer == f"{shorter}s":
        return True
    if len(shorter) >= _MIN_SHARED <= len(longer) - len(shorter) and shorter in longer:
        return True  # the remainder is long enough to be a word: Martin is not a part of Martina
    if word.isascii():
        return False  # languages that inflect names rarely do without letters of their own
    pairs = enumerate(zip(word, spoken_word, strict=False))
    shared = next((position for position, (letter, other) in pairs if letter != other), len(shorter))
    if _CYRILLIC_ENDING.fullmatch(word, shared) and _CYRILLIC_ENDING.fullmatch(spoken_word, shared):
        return shared >= _MIN_STEM
    return shared >= max(_MIN_SHARED, len(shorter) - 2) and len(longer) - shared <= _MAX_ENDING


@cache
def _allowed_words() -> frozenset[str]:
    return all_stop_words() | _own_words("user") | _own_words("date") | _own_words("noun")


@cache
def _own_words(kind: str) -> frozenset[str]:
    """Return the words of a kind that a statement may add."""
    text = (resources.files("bethink.memory.learning.extraction") / "statement_words.txt").read_text(encoding="utf-8")
    lines = (line.partition(": ") for line in text.splitlines())
    return frozenset(
        part for name, _, words in lines if name == kind for word in words.split() for part in words_in(word)
    )
