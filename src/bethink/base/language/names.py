"""Finds a person's names in a text as whole words, ignoring case and accents, also in JSON strings."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from bethink.base.language.letters import MARKS, is_unspaced, without_accents, words_in

_INSIDE = rf"[\w{MARKS}]"
"""Characters that make a name part of another word, as does a hyphen between two letters."""
_BEFORE, _AFTER = rf"(?<!{_INSIDE})(?<!\w-)", rf"(?!{_INSIDE})(?!-\w)"
_BETWEEN = r"[\W_]+"
# Soft hyphens, joiners, marks of direction and variants of a letter: they may occur within a word, and are invisible.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0100-\U000e01ef]"
)
# Matches every quote that begins a string, closed or not, so that no text is scanned twice.
_STRING = re.compile(r'"([^"\\\n]*+(?:\\.[^"\\\n]*+)*+)("?)')
_ESCAPE = re.compile(r"(?:\\u[0-9a-fA-F]{4})+|\\(.)")
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LAYERS = 4
"""Maximum depth of JSON nested in JSON strings, as in the arguments of a tool call."""


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    return without_accents(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()))


def _readings(text: str) -> Iterator[str]:
    """Yield a text as it is, and without its invisible characters if it has any."""
    yield text
    if not text.isascii() and _INVISIBLE.search(text) is not None:
        yield _INVISIBLE.sub("", text)


def _strings(text: str) -> Iterator[str]:
    """Yield the decoded JSON strings of a text that contain escapes."""
    for match in _STRING.finditer(text):
        inside, closed = match.groups()
        if "\\" in inside and (closed or match.end() == len(text)):  # the end of a text may have been cut off
            yield _ESCAPE.sub(_unescape, inside)


def _unescape(match: re.Match[str]) -> str:
    if match[1] is not None:
        return _ESCAPES.get(match[1], match[1])
    units = bytes.fromhex(match[0].replace("\\u", ""))  # of UTF-16: two may be one character
    return units.decode("utf-16-be", errors="replace")


class Names:
    """The names of one person."""

    def __init__(self, names: Iterable[str]) -> None:
        readings = [reading for name in names for reading in _readings(name)]
        word_lists = [[without_accents(word) for word in words_in(name)] for name in readings]
        self._full_names = {" ".join(words) for words in word_lists}
        self._pattern = re.compile("|".join(_pattern(words) for words in word_lists if words) or r"(?!)")

    def in_text(self, text: str) -> bool:
        """Return whether a text, or JSON in it, contains one of the names as whole words."""
        return self._is_in(text, layers=_LAYERS)

    def _is_in(self, text: str, *, layers: int) -> bool:
        if any(self._pattern.search(_fold(variant)) for variant in _readings(text)):
            return True
        return (
            layers > 0 and "\\" in text and any(self._is_in(variant, layers=layers - 1) for variant in _strings(text))
        )

    def includes(self, name: str | None) -> bool:
        """Return whether a full name is one of these names."""
        if name is None:
            return False
        return any(" ".join(map(without_accents, words_in(reading))) in self._full_names for reading in _readings(name))


def _pattern(words: list[str]) -> str:
    # A script without spaces between words has no word boundaries.
    before = "" if is_unspaced(words[0]) else _BEFORE
    after = "" if is_unspaced(words[-1]) else _AFTER
    return before + _BETWEEN.join(map(re.escape, words)) + after
