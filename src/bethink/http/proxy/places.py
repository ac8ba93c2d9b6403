"""Where the values of a JSON text stand in it, so that one can be added to without writing the rest anew."""

import json
import re
from collections.abc import Collection
from typing import Any, NamedTuple

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")


class TextSpan(NamedTuple):
    """A value, and where it begins and ends in the text."""

    start: int
    end: int
    value: Any


def members(text: str, start: int = 0, *, lists: Collection[str] = ()) -> tuple[dict[str, TextSpan], int]:
    """Return the members of the object that begins at `start`, and where it ends. Of those in `lists`, the value is a
    list of places.

    Raises:
        ValueError: for what is not a JSON object.
    """
    found: dict[str, TextSpan] = {}
    at = _expect(text, _skip(text, start), "{")
    while text[at : at + 1] != "}":
        at = _expect(text, at, ",") if found else at
        if text[at : at + 1] != '"':
            raise ValueError("no name where one belongs")
        name, at = _DECODER.raw_decode(text, at)
        begun = _expect(text, _skip(text, at), ":")
        inside = name in lists and text[begun : begun + 1] == "["
        value, end = elements(text, begun) if inside else _DECODER.raw_decode(text, begun)
        found[name] = TextSpan(begun, end, value)
        at = _skip(text, end)
    return found, at + 1


def elements(text: str, start: int) -> tuple[list[TextSpan], int]:
    """Return the elements of the list that begins at `start`, and where it ends. Raises as `members` does."""
    found: list[TextSpan] = []
    at = _expect(text, start, "[")
    while text[at : at + 1] != "]":
        begun = _expect(text, at, ",") if found else at
        value, end = _DECODER.raw_decode(text, begun)
        found.append(TextSpan(begun, end, value))
        at = _skip(text, end)
    return found, at + 1


def whole(text: str, *, lists: Collection[str]) -> dict[str, TextSpan]:
    """Return the members of a text that is one object and nothing more. Raises as `members` does."""
    found, end = members(text, lists=lists)
    if _skip(text, end) != len(text):
        raise ValueError("there is more than one value")
    return found


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return at if space is None else space.end()


def _expect(text: str, at: int, sign: str) -> int:
    """Return where to go on after a sign and the white space that follows it."""
    if text[at : at + 1] != sign:
        raise ValueError(f"no {sign} where one belongs")
    return _skip(text, at + 1)
