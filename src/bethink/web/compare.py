"""Two texts line by line, and within a line word by word."""

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

_TOKENS = re.compile(r"\s+|\w+|[^\w\s]")
_MOST_LINES = 2_000
_LONGEST = 1_000
"""Lines of more characters are compared as a whole."""
_ALIKE = 0.4
"""How much two lines must share to be shown as one that changed."""

Part = tuple[bool, str]
"""Words, and whether they are in one of the two texts only."""


class Line(NamedTuple):
    """One line of a comparison, with its numbers before and after."""

    kind: Literal["same", "gone", "new"]
    before: int | None
    after: int | None
    parts: Sequence[Part]

    @property
    def text(self) -> str:
        """The line as a whole."""
        return "".join(text for _, text in self.parts)


def compare(before: str, after: str) -> list[Line]:
    """Compare two texts. Beyond 2,000 lines only the whole is compared, so that it takes no longer."""
    old, new = before.splitlines(), after.splitlines()
    if len(old) + len(new) > _MOST_LINES:
        blocks: Iterable[tuple[str, int, int, int, int]] = [("replace", 0, len(old), 0, len(new))]
        if old == new:
            blocks = [("equal", 0, len(old), 0, len(new))]
    else:
        blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    found: list[Line] = []
    for kind, i, j, k, m in blocks:
        if kind == "equal":
            found += [Line("same", i + n + 1, k + n + 1, [(False, old[i + n])]) for n in range(j - i)]
        else:
            found += _changed(old[i:j], new[k:m], i, k)
    return found


def _changed(old: Sequence[str], new: Sequence[str], first_old: int, first_new: int) -> list[Line]:
    pairs = _paired(old, new) if len(old) * len(new) <= 400 else {}
    words = {place: _words(old[place], new[mate]) for place, mate in pairs.items()}
    mates = {mate: place for place, mate in pairs.items()}
    gone = [
        Line("gone", first_old + n + 1, None, words[n][0] if n in words else [(bool(line), line)])
        for n, line in enumerate(old)
    ]
    come = [
        Line("new", None, first_new + n + 1, words[mates[n]][1] if n in mates else [(bool(line), line)])
        for n, line in enumerate(new)
    ]
    return gone + come


def _paired(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """Pair lines that are alike, in order."""
    found: dict[int, int] = {}
    last = -1
    for place, line in enumerate(old):
        ratios = [(_ratio(line, new[other]), -other) for other in range(last + 1, len(new))]
        best, other = max(ratios, default=(0.0, 0))
        if best > _ALIKE:
            last = -other
            found[place] = last
    return found


def _ratio(one: str, other: str) -> float:
    if max(len(one), len(other)) > _LONGEST:
        return 0.0
    return SequenceMatcher(None, one.split(), other.split(), autojunk=False).ratio()


def _words(one: str, other: str) -> tuple[list[Part], list[Part]]:
    left, right = _TOKENS.findall(one), _TOKENS.findall(other)
    was: list[Part] = []
    now: list[Part] = []
    for kind, i, j, k, m in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if j > i:
            was.append((kind != "equal", "".join(left[i:j])))
        if m > k:
            now.append((kind != "equal", "".join(right[k:m])))
    return was, now
