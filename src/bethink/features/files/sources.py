"""The result of reading a file: its text, and the positions of headings, pages and blocks."""

from bisect import bisect_right

from bethink.base.frozen import frozen

MAX_BYTES = 20_000_000
"""The largest file."""
MAX_CHARACTERS = 2_000_000
"""The longest text of a file: some 800 pages."""
_MAX_TITLE = 200


@frozen(kw_only=False)
class Heading:
    """A heading: its start in the text, level (from 1) and title."""

    start: int
    level: int
    title: str


@frozen
class SourceText:
    """The text of a file. Positions are character offsets."""

    text: str
    headings: tuple[Heading, ...] = ()
    """In text order."""
    pages: tuple[int, ...] = ()
    """Start of each page; empty for formats without pages."""
    blocks: tuple[tuple[int, int], ...] = ()
    """Start and end of each code block and table, in order. They are not split if they fit."""

    def page_of(self, position: int) -> int | None:
        """Return the page number of a position, from 1, or None without pages."""
        return bisect_right(self.pages, position) if self.pages else None


def title_of(words: str) -> str:
    """Return the words of a heading as one line."""
    return " ".join(words.split())[:_MAX_TITLE]
