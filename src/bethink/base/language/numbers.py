"""Numbers in a text, however they are written: in digits of any script, with separators, as words, or in Han."""

import re
import unicodedata
from functools import cache
from importlib import resources

from bethink.base.language.letters import words_in

_RUN = re.compile(r"\d+(?:[.,:/'\u2019\u066b\u066c\u00a0\u202f -]\d+)*")
_GROUP = re.compile(r"\d+")
_THOUSANDS = re.compile(r"(\d{1,6})(?:[.,](\d{1,3}))?\s?k\b", re.IGNORECASE)
_AFTERNOON = re.compile(r"\b(\d{1,2})(?::(\d\d))?\s?p\.?m\b", re.IGNORECASE)
_CLOCK = re.compile(r"(?<!\d)([01]?\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?(?![\d:])")
_HOURS = re.compile(
    r"(?<!\d)(\d{1,2})(?:[hH]|[\u6642\u65f6\u70b9\u9ede])(\d\d)(?!\d)|(?<!\d)(\d{1,2})\.(\d\d)(?=\s?Uhr)"
)
"""A time without a colon: 14h30, or 14.30 Uhr."""
_CENTS = re.compile(r"\d{1,3}(?:[.,\u2019\u00a0\u202f ]\d{3})*[.,]\d\d")
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
_DIGITS_AND_UNITS = re.compile(f"(?:\\d{{1,6}}[{''.join(_HAN_UNITS)}]){{1,4}}(?:\\d{{1,4}})?")
_DIGITS_OR_UNIT = re.compile(f"(\\d+)([{''.join(_HAN_UNITS)}]?)")


def number_runs(text: str) -> list[tuple[int, ...]]:
    """Return the numbers of a text that are written in digits: for each the values it can have.

    The first value is that of all its digits together, the others are those of its groups: `1,000` is a thousand, and
    the groups of `2026-11-09` are a year, a month and a day.
    """
    plain = _normalize(text)
    runs: list[tuple[int, ...]] = []
    for run in _RUN.findall(plain):
        groups = _GROUP.findall(run)
        together = "".join(groups)
        if len(together) <= _MAX_DIGITS:
            runs.append((int(together), *(int(group) for group in groups)))
    return runs


def numbers_in(text: str) -> set[int]:
    """Return every value that a number in a text can have, also where it is written as a word or in Han.

    The hour of a time is a value only on the hour: 14:30 is 1430, and 14:00 is 1400 or 14.
    """
    plain = _normalize(text)
    numbers = {value for run in _RUN.findall(plain) for value in _values(run)}
    numbers |= {int(f"{thousands}{(part or '').ljust(3, '0')}") for thousands, part in _THOUSANDS.findall(plain)}
    for hour, minutes in _AFTERNOON.findall(plain):
        numbers |= _values(f"{int(hour) % 12 + 12}:{minutes or '00'}")
    numbers |= {_digits_and_units(run) for run in _DIGITS_AND_UNITS.findall(plain)}
    return numbers | _in_words(words_in(plain)) | {_han(run) for run in _HAN.findall(plain)}


def is_number_word(word: str) -> bool:
    """Return whether a word in lower case is a number in any language, such as "six"."""
    return all(part in _words() for part in words_in(word)) and bool(words_in(word))


def _normalize(text: str) -> str:
    """Return a text with compatible characters, and a colon in every time."""
    return _HOURS.sub(lambda at: f"{at[1] or at[3]}:{at[2] or at[4]}", unicodedata.normalize("NFKC", text))


def _values(run: str) -> set[int]:
    """Return the values that one number in digits can have."""
    groups = _GROUP.findall(run)
    together = "".join(groups)
    if len(together) > _MAX_DIGITS:
        return set()
    values = {int(together)}
    if _CENTS.fullmatch(run):
        values.add(int("".join(groups[:-1])))
    for hour, minutes in _CLOCK.findall(run):
        values |= {int(hour + minutes), *([] if int(minutes) else [int(hour), 0])}
    return values | {int(group) for group in _GROUP.findall(_CLOCK.sub(" ", run))}


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


def _digits_and_units(run: str) -> int:
    """Return the value of digits with Han units, as in 8\u4e075\u5343."""
    return sum(int(digits) * _HAN_UNITS.get(unit, 1) for digits, unit in _DIGITS_OR_UNIT.findall(run))


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
