"""What a reader makes of a file: its text, and where its headings, pages and blocks that belong together are."""

from bisect import bisect_right

from bethink.base.frozen import frozen

MAX_BYTES = 20_000_000
"""The largest file."""
MAX_CHARACTERS = 2_000_000
"""The longest text of a file: some 800 pages."""
_LONGEST_TITLE = 200


@frozen(kw_only=False)
class Heading:
    """Where a heading begins in the text, its level from 1 on, and its words."""

    start: int
    level: int
    title: str


@frozen
class SourceText:
    """The text of a file. Every place in it is a number of characters from its beginning."""

    text: str
    headings: tuple[Heading, ...] = ()
    """In their order."""
    pages: tuple[int, ...] = ()
    """Where each page begins; empty for what has none."""
    blocks: tuple[tuple[int, int], ...] = ()
    """Where code and tables begin and end, in their order: they stay whole where they fit."""

    def page_of(self, place: int) -> int | None:
        """Return the number of the page that a place is on, from 1 on."""
        return bisect_right(self.pages, place) if self.pages else None


def title_of(words: str) -> str:
    """Return the words of a heading as one line."""
    return " ".join(words.split())[:_LONGEST_TITLE]
