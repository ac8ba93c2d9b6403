"""Line authorship of a document: finds the version that introduced each line."""

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
    """A line of a document, and the version that introduced it.

    `earlier` means that the line may be older: earlier versions were not compared, or their text was removed.
    """

    text: str
    version: int
    earlier: bool = False


@frozen
class BlamedVersion:
    """A version that introduced lines, with its time, author and sources."""

    version: int
    at: datetime
    author: Author
    sources: tuple[DocumentSource, ...] = ()


@frozen
class Blame:
    """The lines of a document version, and the versions that introduced them, newest first."""

    document_id: str
    version: int
    lines: tuple[BlamedLine, ...] = ()
    versions: tuple[BlamedVersion, ...] = ()


class Body(NamedTuple):
    """The text of a version, or None if it was removed."""

    version: int
    text: str | None


class Blamer:
    """Finds the version that introduced each line of the newest text."""

    def __init__(self, newest: Body) -> None:
        self._lines = (newest.text or "").splitlines()
        self._version = newest.version
        self._open_lines = {index: index for index in range(len(self._lines))}
        """Lines without a known version: index in the last compared version, and in the newest text."""
        self._before = self._lines
        self._introduced: dict[int, int] = {}
        self._effort = _MAX_EFFORT
        self._hidden = False

    @property
    def done(self) -> bool:
        """Return whether the version of every line is known."""
        return not self._open_lines

    def compare(self, older: Iterable[Body]) -> None:
        """Compare with older versions, newest first, until the version of every line is known."""
        for body in older:
            if self.done:
                return
            if body.text is None:
                self._hidden = True
                continue
            lines = body.text.splitlines()
            matches = self._matches(lines)
            self._introduced |= {
                line: self._version for index, line in self._open_lines.items() if index not in matches
            }
            self._open_lines = {matches[index]: line for index, line in self._open_lines.items() if index in matches}
            self._before, self._version, self._hidden = lines, body.version, False

    def lines(self, *, first: int) -> tuple[BlamedLine, ...]:
        """Return all lines. `first` is the oldest existing version."""
        earlier = self._hidden or self._version > first
        return tuple(
            BlamedLine(text=text, version=self._introduced.get(index, self._version),
                       earlier=earlier and index not in self._introduced)
            for index, text in enumerate(self._lines)
        )  # fmt: skip

    def _matches(self, older: list[str]) -> dict[int, int]:
        """Map the lines of the last compared version to the same lines of an older one, by index."""
        new = self._before
        head = shared_lines(older, new)
        tail = shared_lines(older[head:][::-1], new[head:][::-1])
        matches = {index: index for index in range(head)}
        matches |= {len(new) - back: len(older) - back for back in range(1, tail + 1)}
        old_part, new_part = older[head : len(older) - tail], new[head : len(new) - tail]
        effort = effort_of(old_part, new_part) if old_part and new_part else 0
        if 0 < effort <= self._effort:
            self._effort -= effort
            matcher = difflib.SequenceMatcher(None, old_part, new_part, autojunk=False)
            for block in matcher.get_matching_blocks():
                matches |= {head + block.b + step: head + block.a + step for step in range(block.size)}
        return matches
