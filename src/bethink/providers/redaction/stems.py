"""Parts of words that stand near secrets, in many languages."""

from pathlib import Path
from typing import NamedTuple


class Stem(NamedTuple):
    """A part of a word, its group for the model, and the kind of secret that it announces."""

    text: str
    group: str
    kind: str


PASSWORD, KEY, CODE, LOGIN, NETWORK, LOCK, FLAG = "PKCLWOF"
"""Groups. A password, key or flag announces a value by itself."""
STRONG = frozenset((PASSWORD, KEY, FLAG))
_LINES = Path(__file__).with_name("stems.txt").read_text("utf-8").splitlines()
STEMS = [
    Stem(text, group, kind)
    for group, kind, stems in (line.split(" ", 2) for line in _LINES if not line.startswith("#"))
    for text in stems.split("|")
]

Mark = tuple[int, int, int]
"""A stem or hint in a text: its number in its table, its start and its end."""
