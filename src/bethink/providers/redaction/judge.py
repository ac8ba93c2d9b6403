"""Secrets that the words around them announce: the values near stems that the model recognizes."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from bethink.providers.redaction.features import LineOfText, features_of, line_at
from bethink.providers.redaction.model import load
from bethink.providers.redaction.spans import MatchSpan
from bethink.providers.redaction.stems import STEMS, STRONG, Mark
from bethink.providers.redaction.values import is_no_secret
from bethink.providers.redaction.windows import Value, Window, find_values, find_windows

MODEL = load()
_MIN_JUDGED, _JUDGED_PER_KB = 32, 20
"""Values that the model judges in a text. Usual texts have up to 18 per kB. Others may be written to slow us down."""
_DATA = re.compile(r"data:\w+/")
_PUBLIC = re.compile(r"-----BEGIN (?![A-Z ]{0,40}PRIVATE)[A-Z0-9 ]{1,40}-----[^-]{0,20000}+(?:-----END)?")
_GROUPS_AFTER = re.compile(r"(?:[ -][0-9]{2,4}){1,3}(?![0-9A-Za-z.:,])")
_GROUPS_BEFORE = re.compile(r"(?<![0-9A-Za-z.:,-])(?:[0-9]{2,4}[ ]){1,3}\Z")
_JOINED = re.compile(
    r"[\"'][ \t]{0,8}(?:[+.]|\\?\r?\n)[ \t]{0,8}(?:\\?\r?\n[ \t]{0,40})?(?:[+.][ \t]{0,8})?[\"']([^\"'\n]{1,200})"
)
_NAME = re.compile(r"[^\W\d][^\W\d-]*(?:[-.][^\W\d]+)*\Z")
_NEVER = 99.0
"""A plain word after a colon in a line of code is a type or a name."""
_SPACE = re.compile(r"\s")


class Judged(NamedTuple):
    """A value with its features."""

    window: Window
    value: Value
    style: str
    atoms: list[str]


def find_announced(text: str, lowered: str, stems: list[Mark]) -> Iterator[MatchSpan]:
    """Find the secrets near stems."""
    blocks = [match.span() for match in _PUBLIC.finditer(text)] if "-----BEGIN " in text else []
    values = values_near(text, lowered, stems)
    count = _MIN_JUDGED + len(text) * _JUDGED_PER_KB // 1000
    for window, value, style, atoms in judged_values(islice(values, count)):
        limit = MODEL.code if style == "c" else MODEL.prose
        if value.link:
            limit += MODEL.plain if value.link != ":" or style != "c" else _NEVER
        if MODEL.score(atoms) > limit and not _is_harmless(window, value):
            index = bisect_left(blocks, (value.start,)) - 1
            if index < 0 or value.start > blocks[index][1]:
                start, end = _extend(window.text, value.start, value.end)
                yield MatchSpan(start - 1, min(end - 1, len(text)), _kind_of(window, value))
    yield from _dense_secrets(values)


def values_near(text: str, lowered: str, stems: list[Mark]) -> Iterator[tuple[Window, Value]]:
    """Return the values near stems. Positions count from a line break before the text."""
    text, lowered = f"\n{text}\n", f"\n{lowered}\n"
    stems = [(number, start + 1, end + 1) for number, start, end in stems]
    for window in find_windows(text, lowered, stems):
        for value in find_values(window):
            yield window, value


def judged_values(values: Iterable[tuple[Window, Value]]) -> Iterator[Judged]:
    """Return values with what the model needs to judge them."""
    line = LineOfText(0, 0, "", is_question=False)
    for window, value in values:
        if not line.start <= value.start < line.end:
            line = line_at(window.text, value.start, value.end)
        yield Judged(window, value, line.style, features_of(window, value, line))


def _dense_secrets(values: Iterable[tuple[Window, Value]]) -> Iterator[MatchSpan]:
    """Find secrets among values that are too many to judge: all that are no plain names. Neighbors are one secret."""
    first = last = 0
    for window, value in values:
        text = window.text[value.start : value.end]
        if _NAME.match(text) or is_no_secret(text):
            continue
        if value.start > last + 1:
            if last:
                yield MatchSpan(first - 1, last - 1, "secret")
            first = value.start
        last = max(last, value.end)
    if last:
        yield MatchSpan(first - 1, last - 1, "secret")


def _is_harmless(window: Window, value: Value) -> bool:
    text = window.text[value.start : value.end]
    return is_no_secret(text) or _DATA.search(window.lowered, max(0, value.start - 28), value.start) is not None


def _kind_of(window: Window, value: Value) -> str:
    """Return the kind that the nearest strong stem announces, or else the nearest stem."""
    marks = [
        mark for mark in (window.strong[value.before], value.until, value.before - 1) if 0 <= mark < len(window.marks)
    ]
    stems = [STEMS[window.marks[mark][0]] for mark in marks]
    return next((stem.kind for stem in stems if stem.group in STRONG), stems[-1].kind)


def _extend(text: str, start: int, end: int) -> tuple[int, int]:
    """Extend a value over groups of digits, to its closing quote, and over strings that are joined to it."""
    if end - start < 5 and text[start:end].isdigit():
        if after := _GROUPS_AFTER.match(text, end):
            end = after.end()
        if before := _GROUPS_BEFORE.search(text, max(0, start - 15), start):
            start = before.start()
    if text[start - 1] in "\"'`":
        stop = text.find(text[start - 1], end, end + 60)
        if stop > end and not _SPACE.search(text, end, stop):
            end = stop - (text[stop - 1] == "\\")
    while joined := _JOINED.match(text, end):
        end = joined.end()
    while text[end : end + 1] == "=" and end - start > 15 and text[end - 2 : end] != "==":
        end += 1  # the padding of base64
    return start, end
