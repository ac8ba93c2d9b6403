"""Line diff of two texts, with word-level changes within lines."""

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

_TOKENS = re.compile(r"\s+|\w+|[^\w\s]")
_MAX_LINES = 2_000
_MAX_LINE_LENGTH = 1_000
"""Longer lines are compared as a whole."""
_MIN_RATIO = 0.4
"""Minimum similarity of two lines to show them as one changed line."""

Part = tuple[bool, str]
"""Whether the words are in only one of the two texts, and the words."""


class Line(NamedTuple):
    """One line of a comparison, with its numbers before and after."""

    kind: Literal["same", "gone", "new"]
    before: int | None
    after: int | None
    parts: Sequence[Part]

    @property
    def text(self) -> str:
        """The full text of the line."""
        return "".join(text for _, text in self.parts)


def compare(before: str, after: str) -> list[Line]:
    """Compare two texts line by line. Beyond 2,000 lines, only the whole texts are compared, to limit the time."""
    old, new = before.splitlines(), after.splitlines()
    if len(old) + len(new) > _MAX_LINES:
        blocks: Iterable[tuple[str, int, int, int, int]] = [("replace", 0, len(old), 0, len(new))]
        if old == new:
            blocks = [("equal", 0, len(old), 0, len(new))]
    else:
        blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    lines: list[Line] = []
    for kind, i, j, k, m in blocks:
        if kind == "equal":
            lines += [Line("same", i + n + 1, k + n + 1, [(False, old[i + n])]) for n in range(j - i)]
        else:
            lines += _changed_lines(old[i:j], new[k:m], i, k)
    return lines


def _changed_lines(old: Sequence[str], new: Sequence[str], first_old: int, first_new: int) -> list[Line]:
    pairs = _pair_lines(old, new) if len(old) * len(new) <= 400 else {}
    words = {old_index: _compare_words(old[old_index], new[new_index]) for old_index, new_index in pairs.items()}
    old_indexes = {new_index: old_index for old_index, new_index in pairs.items()}
    removed = [
        Line("gone", first_old + n + 1, None, words[n][0] if n in words else [(bool(line), line)])
        for n, line in enumerate(old)
    ]
    added = [
        Line("new", None, first_new + n + 1, words[old_indexes[n]][1] if n in old_indexes else [(bool(line), line)])
        for n, line in enumerate(new)
    ]
    return removed + added


def _pair_lines(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """Pair similar lines, in order. Return new indexes by old index."""
    pairs: dict[int, int] = {}
    last = -1
    for index, line in enumerate(old):
        ratios = [(_ratio(line, new[other]), -other) for other in range(last + 1, len(new))]
        best, other = max(ratios, default=(0.0, 0))
        if best > _MIN_RATIO:
            last = -other
            pairs[index] = last
    return pairs


def _ratio(line: str, other: str) -> float:
    if max(len(line), len(other)) > _MAX_LINE_LENGTH:
        return 0.0
    return SequenceMatcher(None, line.split(), other.split(), autojunk=False).ratio()


def _compare_words(line: str, other: str) -> tuple[list[Part], list[Part]]:
    old_tokens, new_tokens = _TOKENS.findall(line), _TOKENS.findall(other)
    old_parts: list[Part] = []
    new_parts: list[Part] = []
    for kind, i, j, k, m in SequenceMatcher(None, old_tokens, new_tokens, autojunk=False).get_opcodes():
        if j > i:
            old_parts.append((kind != "equal", "".join(old_tokens[i:j])))
        if m > k:
            new_parts.append((kind != "equal", "".join(new_tokens[k:m])))
    return old_parts, new_parts
