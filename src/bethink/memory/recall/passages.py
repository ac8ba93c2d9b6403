"""Which parts of a text are embedded."""

import re

from bethink.model.recall import RefKind
from bethink.store.vectors import Unembedded

_PART = 1_000
_LONGEST_PART = 1_200
_SHORTEST_PART = 400
_MOST_PARTS = 8
# Where a text may be cut, best first: after a paragraph, after a line or sentence, after a word.
_CUTS = (re.compile(r"\n\s*\n"), re.compile(r"\n|(?<=[.!?…])[\"')\]]*\s|(?<=[。！？])"), re.compile(r"\s"))  # noqa: RUF001


def passages(source: Unembedded) -> list[str]:
    """Return the parts of a text to embed: only the beginning of a message, all parts of anything else.

    Embedding the rest of a long message, or the name of its speaker, did not help on four public sets.
    """
    if source.ref.kind is RefKind.MESSAGE:
        return [source.text.strip()[:_LONGEST_PART]]
    return parts_of(source.text)


def parts_of(text: str) -> list[str]:
    """Split a long text at the ends of paragraphs or sentences, into at most 8 parts of about 1,000 characters.

    An empty text has one empty part. What follows the last part is not embedded.
    """
    rest, parts = text.strip(), list[str]()
    while len(rest) > _LONGEST_PART and len(parts) < _MOST_PARTS - 1:
        end = _part_end(rest)
        parts.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return [*parts, rest[: _part_end(rest)].rstrip() if len(rest) > _LONGEST_PART else rest]


def _part_end(text: str) -> int:
    window = text[:_LONGEST_PART]
    for pattern in _CUTS:
        ends = [match.end() for match in pattern.finditer(window) if match.end() >= _SHORTEST_PART]
        if ends:
            return min(ends, key=lambda end: abs(end - _PART))
    return _PART
