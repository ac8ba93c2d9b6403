"""Finds a person's names in a text: whole words, whose case and accents do not count."""

import re
import unicodedata
from collections.abc import Iterable

from bethink.language.letters import MARKS, is_unspaced, without_accents, words_in

_INSIDE = rf"[\w{MARKS}]"
"""What makes a name part of another word; so does a hyphen between two letters."""
_BEFORE, _AFTER = rf"(?<!{_INSIDE})(?<!\w-)", rf"(?!{_INSIDE})(?!-\w)"
_BETWEEN = r"[\W_]+"


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return without_accents(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()))


class Names:
    """The names of one person."""

    def __init__(self, names: Iterable[str]) -> None:
        written = [[without_accents(word) for word in words_in(name)] for name in names]
        self._whole = {" ".join(words) for words in written}
        self._pattern = re.compile("|".join(_pattern(words) for words in written if words) or r"(?!)")

    def in_text(self, text: str) -> bool:
        """Return whether a text has one of the names, and not only as part of another word."""
        return self._pattern.search(_folded(text)) is not None

    def is_one(self, name: str | None) -> bool:
        """Return whether a whole name is one of them."""
        return name is not None and " ".join(without_accents(word) for word in words_in(name)) in self._whole


def _pattern(words: list[str]) -> str:
    # A script without spaces between words has no border to look for.
    before = "" if is_unspaced(words[0]) else _BEFORE
    after = "" if is_unspaced(words[-1]) else _AFTER
    return before + _BETWEEN.join(map(re.escape, words)) + after
