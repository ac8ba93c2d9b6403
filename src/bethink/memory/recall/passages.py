"""Split texts into the parts that are embedded."""

import re

from bethink.model.refs import RefKind
from bethink.store.vectors import Unembedded

_PART_LENGTH = 1_000
_MAX_PART = 1_200
_MIN_PART = 400
_MAX_PARTS = 8
# Where a text may be cut, best first: after a paragraph, after a line or sentence, after a word.
_CUTS = (re.compile(r"\n\s*\n"), re.compile(r"\n|(?<=[.!?…])[\"')\]]*\s|(?<=[。！？])"), re.compile(r"\s"))  # noqa: RUF001


def passages(source: Unembedded) -> list[str]:
    """Return the parts of a text to embed: only the beginning of a message, all parts of anything else.

    Embedding the rest of a long message, or the name of its speaker, did not help on four public sets.
    """
    if source.ref.kind is RefKind.MESSAGE:
        return [source.text.strip()[:_MAX_PART]]
    return parts_of(source.text)


def parts_of(text: str) -> list[str]:
    """Split a long text at the ends of paragraphs or sentences, into at most 8 parts of about 1,000 characters.

    An empty text has one empty part. Text after the last part is not embedded.
    """
    remaining, parts = text.strip(), list[str]()
    while len(remaining) > _MAX_PART and len(parts) < _MAX_PARTS - 1:
        end = _part_end(remaining)
        parts.append(remaining[:end].rstrip())
        remaining = remaining[end:].lstrip()
    return [*parts, remaining[: _part_end(remaining)].rstrip() if len(remaining) > _MAX_PART else remaining]


def _part_end(text: str) -> int:
    window = text[:_MAX_PART]
    for pattern in _CUTS:
        ends = [match.end() for match in pattern.finditer(window) if match.end() >= _MIN_PART]
        if ends:
            return min(ends, key=lambda end: abs(end - _PART_LENGTH))
    return _PART_LENGTH
