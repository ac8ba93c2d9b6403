"""Reads Markdown: the text stays as it is, and its headings, code and tables are noted."""

import re

from bethink.features.files.sources import Heading, SourceText, title_of

_LINE = re.compile(r"^[ \t\r\f\v]*+(?=\S)[^\n]*", re.MULTILINE)
"""A line that is not blank."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+([^\n]*))?$")
_CLOSING = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_MAX_LINE = 1_000
"""Characters of a line that are read. No heading is longer."""


def read_markdown(text: str) -> SourceText:
    """Return the unchanged text with its headings, fenced code and tables."""
    scan = _Scan()
    for line in _LINE.finditer(text):
        scan.line(line[0][:_MAX_LINE].rstrip("\r"), line.start(), line.end())
    scan.finish(len(text))
    return SourceText(text=text, headings=tuple(scan.headings), blocks=tuple(scan.blocks))


class _Scan:
    def __init__(self) -> None:
        self.headings: list[Heading] = []
        self.blocks: list[tuple[int, int]] = []
        self._fence = ""
        self._fence_start: int | None = None
        self._table: tuple[int, int] | None = None
        self._last = -1
        self._above: tuple[int, str] | None = None
        """The previous line, if it can be an underlined heading."""

    def line(self, line: str, start: int, end: int) -> None:
        if start > self._last + 1:  # a blank line is between
            self._end_table()
            self._above = None
        self._last = end
        fence = _FENCE.match(line)
        if self._fence_start is not None:
            if fence and fence[1].startswith(self._fence) and not line[fence.end() :].strip():
                self.blocks.append((self._fence_start, end))
                self._fence_start = None
            return
        if fence:
            self._end_table()
            self._fence, self._fence_start, self._above = fence[1], start, None
        elif line.lstrip().startswith("|"):
            self._table = (start if self._table is None else self._table[0], end)
            self._above = None
        else:
            self._end_table()
            self._plain(line, start)

    def finish(self, end: int) -> None:
        self._end_table()
        if self._fence_start is not None:
            self.blocks.append((self._fence_start, end))

    def _end_table(self) -> None:
        if self._table is not None:
            self.blocks.append(self._table)
            self._table = None

    def _plain(self, line: str, start: int) -> None:
        heading, under = _HEADING.match(line), _UNDERLINE.match(line)
        above, self._above = self._above, None
        if heading:
            self.headings.append(Heading(start, len(heading[1]), title_of(_CLOSING.sub("", heading[2] or ""))))
        elif under and above is not None:
            self.headings.append(Heading(above[0], 1 if under[1][0] == "=" else 2, title_of(above[1])))
        elif line.strip() and not line.startswith(("    ", "\t", ">", "- ", "* ", "+ ")):
            self._above = (start, line)
