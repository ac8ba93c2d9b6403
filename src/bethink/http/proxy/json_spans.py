"""Positions of the values in a JSON text, so that one can be changed without rewriting the others."""

import json
import re
from collections.abc import Collection
from typing import Any, NamedTuple

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")


class TextSpan(NamedTuple):
    """A value with its start and end in the text."""

    start: int
    end: int
    value: Any


def members(text: str, start: int = 0, *, lists: Collection[str] = ()) -> tuple[dict[str, TextSpan], int]:
    """Return the members of the object that begins at `start`, and its end. The value of members in `lists` is a list
    of spans.

    Raises:
        ValueError: for invalid JSON.
    """
    spans: dict[str, TextSpan] = {}
    at = _expect(text, _skip(text, start), "{")
    while text[at : at + 1] != "}":
        at = _expect(text, at, ",") if spans else at
        if text[at : at + 1] != '"':
            raise ValueError("expected a name")
        name, at = _DECODER.raw_decode(text, at)
        begin = _expect(text, _skip(text, at), ":")
        inside = name in lists and text[begin : begin + 1] == "["
        value, end = elements(text, begin) if inside else _DECODER.raw_decode(text, begin)
        spans[name] = TextSpan(begin, end, value)
        at = _skip(text, end)
    return spans, at + 1


def elements(text: str, start: int) -> tuple[list[TextSpan], int]:
    """Return the elements of the list that begins at `start`, and its end. Raises as `members` does."""
    spans: list[TextSpan] = []
    at = _expect(text, start, "[")
    while text[at : at + 1] != "]":
        begin = _expect(text, at, ",") if spans else at
        value, end = _DECODER.raw_decode(text, begin)
        spans.append(TextSpan(begin, end, value))
        at = _skip(text, end)
    return spans, at + 1


def parse_object(text: str, *, lists: Collection[str]) -> dict[str, TextSpan]:
    """Return the members of a text that is exactly one object. Raises as `members` does."""
    spans, end = members(text, lists=lists)
    if _skip(text, end) != len(text):
        raise ValueError("expected exactly one value")
    return spans


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return at if space is None else space.end()


def _expect(text: str, at: int, sign: str) -> int:
    """Return the position after a sign and the following whitespace."""
    if text[at : at + 1] != sign:
        raise ValueError(f"expected {sign}")
    return _skip(text, at + 1)
