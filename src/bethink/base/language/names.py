"""Finds a person's names in a text: whole words, whose case and accents do not count, also in the strings of JSON."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from bethink.base.language.letters import MARKS, is_unspaced, without_accents, words_in

_INSIDE = rf"[\w{MARKS}]"
"""What makes a name part of another word; so does a hyphen between two letters."""
_BEFORE, _AFTER = rf"(?<!{_INSIDE})(?<!\w-)", rf"(?!{_INSIDE})(?!-\w)"
_BETWEEN = r"[\W_]+"
# Soft hyphens, joiners, marks of direction and variants of a letter: they may stand within a word, and are not seen.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0100-\U000e01ef]"
)
# It takes every quote that begins a string, closed or not, so that no text is read twice.
_STRING = re.compile(r'"([^"\\\n]*+(?:\\.[^"\\\n]*+)*+)("?)')
_ESCAPE = re.compile(r"(?:\\u[0-9a-fA-F]{4})+|\\(.)")
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LAYERS = 4
"""How deep JSON is read that stands in a string of JSON, as the arguments of a tool call do."""


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return without_accents(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()))


def _readings(text: str) -> Iterator[str]:
    """Yield a text as it is, and as it looks without the characters that are not seen."""
    yield text
    if not text.isascii() and _UNSEEN.search(text) is not None:
        yield _UNSEEN.sub("", text)


def _strings(text: str) -> Iterator[str]:
    """Yield what the strings of JSON in a text say where that differs from how they are written."""
    for found in _STRING.finditer(text):
        inside, closed = found.groups()
        if "\\" in inside and (closed or found.end() == len(text)):  # the end of a text may have been cut off
            yield _ESCAPE.sub(_unescaped, inside)


def _unescaped(found: re.Match[str]) -> str:
    if found[1] is not None:
        return _ESCAPES.get(found[1], found[1])
    units = bytes.fromhex(found[0].replace("\\u", ""))  # of UTF-16: two may be one character
    return units.decode("utf-16-be", errors="replace")


class Names:
    """The names of one person."""

    def __init__(self, names: Iterable[str]) -> None:
        every = [reading for name in names for reading in _readings(name)]
        written = [[without_accents(word) for word in words_in(name)] for name in every]
        self._whole = {" ".join(words) for words in written}
        self._pattern = re.compile("|".join(_pattern(words) for words in written if words) or r"(?!)")

    def in_text(self, text: str) -> bool:
        """Return whether a text, or JSON in it, has one of the names, and not only as part of another word."""
        return self._is_in(text, layers=_LAYERS)

    def _is_in(self, text: str, *, layers: int) -> bool:
        if any(self._pattern.search(_folded(each)) for each in _readings(text)):
            return True
        return layers > 0 and "\\" in text and any(self._is_in(each, layers=layers - 1) for each in _strings(text))

    def is_one(self, name: str | None) -> bool:
        """Return whether a whole name is one of them."""
        if name is None:
            return False
        return any(" ".join(map(without_accents, words_in(each))) in self._whole for each in _readings(name))


def _pattern(words: list[str]) -> str:
    # A script without spaces between words has no border to look for.
    before = "" if is_unspaced(words[0]) else _BEFORE
    after = "" if is_unspaced(words[-1]) else _AFTER
    return before + _BETWEEN.join(map(re.escape, words)) + after
