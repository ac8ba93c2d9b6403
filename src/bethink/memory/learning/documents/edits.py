"""Replace a part of a page: a paragraph with or without its heading, one point of a list, or several of these."""

from collections.abc import Sequence
from typing import NamedTuple

from bethink.memory.learning.documents.grounded import paragraphs, split_point, units, without_labels


class _Unit(NamedTuple):
    """A paragraph, heading or point of a body, and the number of its block."""

    block: int
    text: str


def count_parts(body: str, old: str) -> int:
    """Return how often a text is a part of a body, up to 2: whole paragraphs, headings or points in a row.

    Spaces, labels of facts, and the markers of points do not matter.
    """
    text, part = _key(_units_of(body)), _key(_units_of(without_labels(old)))
    first = text.find(part) if part.strip() else -1
    return 0 if first < 0 else 1 if text.find(part, first + 1) < 0 else 2


def replace_part(body: str, old: str, new: str) -> str:
    """Return a body with the part that reads like `old` replaced by `new`; empty to remove it.

    A heading that `old` lacks stays, unless nothing is left below it. A point keeps its marker.
    """
    lines, part = _units_of(body), _units_of(without_labels(old))
    first = _key(lines).count("\n", 0, _key(lines).index(_key(part)))
    last = first + len(part)
    before, replaced, after = lines[:first], lines[first:last], lines[last:]
    block = replaced[0].block
    new_units = _units_of(new)
    if before and new_units and new_units[0].text == before[-1].text:
        new_units = new_units[1:]  # the heading above was repeated
    marker = split_point(replaced[0].text)[0]
    text = "\n\n".join(paragraphs(_join(new_units)))
    if marker and text and not split_point(text)[0] and not text.startswith("#"):
        text = marker + text
    continues = bool(after) and after[0].block == replaced[-1].block
    if not text and not continues and before and before[-1].block == block and before[-1].text.startswith("#"):
        before = before[:-1]
    following = [_Unit(block if unit.block == replaced[-1].block else unit.block, unit.text) for unit in after]
    return _join([*before, *([_Unit(block, text)] if text else []), *following])


def _units_of(body: str) -> list[_Unit]:
    return [_Unit(block, unit) for block, text in enumerate(paragraphs(body)) for unit in units(text)]


def _key(parts: Sequence[_Unit]) -> str:
    """Return the words of each unit on a line of their own, between line breaks."""
    return "".join(["\n", *(f"{' '.join(split_point(unit.text)[1].split())}\n" for unit in parts)])


def _join(parts: Sequence[_Unit]) -> str:
    text, last = "", -1
    for block, unit in parts:
        text += ("" if not text else "\n" if block == last else "\n\n") + unit
        last = block
    return text
