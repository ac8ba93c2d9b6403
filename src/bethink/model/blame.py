"""Who wrote each line of a document: the version that brought it, found by going back from version to version."""

import difflib
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from bethink.base.frozen import frozen
from bethink.model.documents import Author, DocumentSource, effort_of, shared_lines

_MAX_EFFORT = 8_000_000
"""Limit on the steps to compare all versions of a document: about half a second."""


@frozen
class BlamedLine:
    """A line of a document, and the version that brought it.

    `earlier` says that it may be older: versions before that one were not compared, or their text is no longer kept.
    """

    text: str
    version: int
    earlier: bool = False


@frozen
class BlamedVersion:
    """A version that brought some lines: when, by whom and why, and what the document rests on since."""

    version: int
    at: datetime
    author: Author
    sources: tuple[DocumentSource, ...] = ()


@frozen
class Blame:
    """The lines of a version of a document, and the versions that brought them, the newest first."""

    document_id: str
    version: int
    lines: tuple[BlamedLine, ...] = ()
    versions: tuple[BlamedVersion, ...] = ()


class Body(NamedTuple):
    """The text of a version; None if it is no longer kept."""

    version: int
    text: str | None


class Blamer:
    """Finds out which version brought each line of the newest text that it is given."""

    def __init__(self, newest: Body) -> None:
        self._lines = (newest.text or "").splitlines()
        self._version = newest.version
        self._left = {place: place for place in range(len(self._lines))}
        """The lines not yet explained: their place in the version last compared, and in the newest text."""
        self._before = self._lines
        self._brought: dict[int, int] = {}
        self._effort = _MAX_EFFORT
        self._hidden = False

    @property
    def done(self) -> bool:
        """Whether every line is explained."""
        return not self._left

    def look_back(self, older: Iterable[Body]) -> None:
        """Compare with older versions, the newest first, until every line is explained."""
        for body in older:
            if self.done:
                return
            if body.text is None:
                self._hidden = True
                continue
            lines = body.text.splitlines()
            kept = self._matches(lines)
            self._brought |= {line: self._version for place, line in self._left.items() if place not in kept}
            self._left = {kept[place]: line for place, line in self._left.items() if place in kept}
            self._before, self._version, self._hidden = lines, body.version, False

    def lines(self, *, first: int) -> tuple[BlamedLine, ...]:
        """Return every line. `first` is the oldest version that there is."""
        earlier = self._hidden or self._version > first
        return tuple(
            BlamedLine(text=text, version=self._brought.get(place, self._version),
                       earlier=earlier and place not in self._brought)
            for place, text in enumerate(self._lines)
        )  # fmt: skip

    def _matches(self, older: list[str]) -> dict[int, int]:
        """Return where each line of the version last compared stood in an older one, for those that did."""
        new = self._before
        head = shared_lines(older, new)
        tail = shared_lines(older[head:][::-1], new[head:][::-1])
        kept = {place: place for place in range(head)}
        kept |= {len(new) - back: len(older) - back for back in range(1, tail + 1)}
        old_part, new_part = older[head : len(older) - tail], new[head : len(new) - tail]
        effort = effort_of(old_part, new_part) if old_part and new_part else 0
        if 0 < effort <= self._effort:
            self._effort -= effort
            matcher = difflib.SequenceMatcher(None, old_part, new_part, autojunk=False)
            for block in matcher.get_matching_blocks():
                kept |= {head + block.b + step: head + block.a + step for step in range(block.size)}
        return kept
