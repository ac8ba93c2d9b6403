"""Numbers in a text, however they are written: in digits of any script, with separators, as words, or in Han."""

import re
import unicodedata
from functools import cache
from importlib import resources

from bethink.base.language.letters import words_in

_RUN = re.compile(r"\d+(?:[.,:/'\u2019\u066b\u066c\u00a0\u202f -]\d+)*")
_GROUP = re.compile(r"\d+")
_THOUSANDS = re.compile(r"(\d{1,6})(?:[.,](\d{1,3}))?\s?k\b", re.IGNORECASE)
_AFTERNOON = re.compile(r"\b(\d{1,2})(?::\d\d)?\s?p\.?m\b", re.IGNORECASE)
_JOINERS = frozenset(["and", "und", "et", "e", "y", "i", "ve", "en", "og", "och", "и"])
_MAX_WORDS = 4
_MAX_DIGITS = 30
_HAN_DIGITS = {
    sign: value
    for value, signs in enumerate(("零〇", "一", "二两兩", "三", "四", "五", "六", "七", "八", "九"))
    for sign in signs
}
_HAN_UNITS = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000}
_HAN = re.compile(f"[{''.join((*_HAN_DIGITS, *_HAN_UNITS))}]+")


def number_runs(text: str) -> list[tuple[int, ...]]:
    """Return the numbers of a text that are written in digits: for each the values it can have.

    The first value is that of all its digits together, the others are those of its groups: `1,000` is a thousand, and
    the groups of `2026-11-09` are a year, a month and a day.
    """
    plain = unicodedata.normalize("NFKC", text)
    runs: list[tuple[int, ...]] = []
    for run in _RUN.findall(plain):
        groups = _GROUP.findall(run)
        together = "".join(groups)
        if len(together) <= _MAX_DIGITS:
            runs.append((int(together), *(int(group) for group in groups)))
    return runs


def numbers_in(text: str) -> set[int]:
    """Return every value that a number in a text can have, also where it is written as a word or in Han."""
    plain = unicodedata.normalize("NFKC", text)
    numbers = {value for run in number_runs(plain) for value in run}
    numbers |= {int(f"{thousands}{(part or '').ljust(3, '0')}") for thousands, part in _THOUSANDS.findall(plain)}
    numbers |= {int(hour) % 12 + 12 for hour in _AFTERNOON.findall(plain)}
    return numbers | _in_words(words_in(plain)) | {_han(run) for run in _HAN.findall(plain)}


def _in_words(words: list[str]) -> set[int]:
    """Return the values of number words, and of adjacent words that form one number, as in forty-one."""
    values_by_word, numbers = _words(), set[int]()
    values = [values_by_word.get(word) for word in words if word not in _JOINERS]
    for start in range(len(values)):
        totals = {0}
        for following in values[start : start + _MAX_WORDS]:
            if following is None:
                break
            totals = {
                total * value if value in (100, 1_000) and 0 < total < value else total + value
                for total in totals
                for value in following
            }
            numbers |= totals
    return numbers


@cache
def _words() -> dict[str, tuple[int, ...]]:
    text = (resources.files("bethink.base.language") / "number_words.txt").read_text(encoding="utf-8")
    values: dict[str, tuple[int, ...]] = {}
    for line in text.splitlines():
        number, *words = line.split()
        for word in words if number != "#" else ():
            for part in words_in(word)[:1]:
                values[part] = (*values.get(part, ()), int(number))
    return values


def _han(run: str) -> int:
    total = section = digit = 0
    for sign in run:
        unit = _HAN_UNITS.get(sign)
        if unit is None:
            # Adjacent digits are read one after the other, as in a year.
            digit = digit * 10 + _HAN_DIGITS[sign]
        elif unit >= 10_000:
            total, section, digit = (total + section + digit or 1) * unit, 0, 0
        else:
            section, digit = section + (digit or 1) * unit, 0
    return total + section + digit
