"""The values that a clause states: numbers with their units, days, months and words that name something."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from bethink.memory.phrases.spans import is_unspaced, words
from bethink.memory.phrases.vocabulary import corrections

_NUMBER = re.compile(
    r"(?P<before>[$\u20ac\u00a3\u00a5]\s?)?(?P<number>\d+(?:[.,:/]\d+)*)\s?(?P<after>[^\W\d_]+|[%\u20ac$\u00a3\u00b0])?"
)
_CLOCK = "clock"
_CJK_UNITS = ("\u6642", "\u70b9", "\u65e5", "\u53f7", "\u6708")
_TIME_UNITS = frozenset((_CLOCK, "am", "pm", "h", "uhr", "heures", "horas", "uur", "ore", "godz", *_CJK_UNITS))
_MIN_PREFIX = 4
_MIN_SHARE = 0.75


class Number(NamedTuple):
    """A number with its unit: the word after it, a currency or `clock`. The unit is empty if there is none."""

    digits: str
    unit: str


def numbers(text: str) -> list[Number]:
    """Return the numbers of a text."""
    return [_number(match) for match in _NUMBER.finditer(text)]


def is_time(number: Number) -> bool:
    """Return whether a number is a time of day, or the day of a month that follows it."""
    if number.unit in _TIME_UNITS:
        return True
    return any(pattern.fullmatch(number.unit) for pattern in corrections().calendars)


def have_same_unit(left: Number, right: Number) -> bool:
    """Return whether two numbers have units, and the same ones."""
    if not left.unit or not right.unit:
        return False
    if is_unspaced(left.unit) or is_unspaced(right.unit):
        return left.unit[0] == right.unit[0]
    return is_similar(left.unit, right.unit)


def calendar_words(text: str) -> list[set[str]]:
    """Return the days of the week and the months of a text, in lower case."""
    return [{match.casefold() for match in pattern.findall(text)} for pattern in corrections().calendars]


def content_words(text: str) -> list[str]:
    """Return the words of a text that say something, in lower case. Numbers are included."""
    silent = corrections().function_words
    folded = (_fold(word) for word in words(text))
    return [
        max(word.split("'"), key=len) for word in folded if word not in silent and word.replace("'", "") not in silent
    ]


def is_similar(left: str, right: str) -> bool:
    """Return whether two words are the same except for their endings."""
    if left == right:
        return True
    shorter = min(len(left), len(right))
    if shorter < _MIN_PREFIX or not (left.isalpha() and right.isalpha()):
        return False
    shared = next((index for index in range(shorter) if left[index] != right[index]), shorter)
    return shared >= max(_MIN_PREFIX, shorter * _MIN_SHARE)


def similar_words(candidates: Iterable[str], available: Iterable[str]) -> list[str]:
    """Return the words that are also among others, except for their endings."""
    others = list(available)
    return [word for word in candidates if any(is_similar(word, other) for other in others)]


def _fold(word: str) -> str:
    # A dotted capital I becomes two characters in lower case.
    return word.casefold().replace("\u2019", "'").replace("i\u0307", "i")


def _number(match: re.Match[str]) -> Number:
    digits, before, after = match["number"], match["before"], match["after"]
    if ":" in digits:
        unit = _CLOCK
    elif before:
        unit = before.strip()
    else:
        unit = (after or "").casefold()
        unit = "" if unit in corrections().function_words else unit
    return Number(digits, unit)
