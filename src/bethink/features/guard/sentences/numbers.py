"""Reads limits such as "at most ten files" from a sentence."""

import re
from functools import cache

from bethink.features.guard.sentences import alternatives, merge

_NUMBERS = {word: int(value) for word, value in merge("NUMBERS").items()}


@cache
def _limit(unit: str) -> "re.Pattern[str]":
    number = rf"(\d{{1,6}}|{'|'.join(_NUMBERS)})"
    bound = alternatives("at_most")
    middle = r"(?:\s+[\w'-]+){0,3}?"
    return re.compile(
        rf"\b(?:{bound}){middle}\s+{number}(?:\s+[\w'-]+){{0,2}}?\s+(?:{alternatives(unit)})\b|"
        rf"\b{number}[- ](?:{alternatives(unit)})\b(?=[^.]*\b(?:max\w*|or less|or fewer|at most|oder weniger|como "
        rf"máximo|limit))",
        re.IGNORECASE,
    )


def limit_of(text: str, unit: str) -> int | None:
    """Return the highest allowed number of a unit, or None if a sentence sets no limit.

    "Under 20" and "fewer than 20" allow 19; "over" and "more than" are bans, which allow the number itself.
    """
    match = _limit(unit).search(text)
    if match is None:
        return None
    word = (match[1] or match[2]).lower()
    number = int(word) if word.isdigit() else _NUMBERS[word]
    is_below = re.match(r"(?:under|below|fewer than|less than|unter|weniger als|menos de)\b", match[0], re.IGNORECASE)
    return number - 1 if is_below else number
