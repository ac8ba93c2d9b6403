"""Reads HTML: the visible text of the page, with its line breaks and blank lines.

turbohtml builds the tree as a browser does. It limits the depth of the tree, so the time is linear in the length of
the page, even if that is hostile. Parsers without that limit (lexbor, html5ever) need minutes for 500 kB of open tags.
"""

import re
from collections.abc import Iterator

from turbohtml import Element, Node, Text, parse

from bethink.features.files.sources import Heading, SourceText, title_of

_HIDDEN_TAGS = frozenset(
    {
        "script", "style", "textarea", "xmp", "iframe", "noembed", "noframes", "plaintext", "noscript", "template",
        "svg", "math", "canvas", "object", "audio", "video", "select", "datalist", "dialog",
    }
)  # fmt: skip
_BLOCKS = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "caption", "dd", "details", "div", "dl", "dt", "fieldset",
        "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html",
        "main", "nav", "ol", "p", "pre", "section", "summary", "table", "title", "ul",
    }
)  # fmt: skip
_LINES = frozenset({"br", "li", "tr", "option"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_TITLE_PARTS = 400
"""Parts of a heading that its title is made from. A heading may contain the whole page, and another heading."""
_SPACES = re.compile(r"[ \t\n\r\f\v]+")
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def read_html(text: str) -> SourceText:
    """Return the visible text of a page with its headings, code and tables, without scripts and hidden parts."""
    page = _Page()
    levels: list[tuple[Element | None, Iterator[Node]]] = [(None, iter(parse(text).children))]
    while levels:  # a loop, because a page may be nested deeper than Python's recursion limit
        element, children = levels[-1]
        node = next(children, None)
        if node is None:
            levels.pop()
            if element is not None:
                page.close(element.tag)
        elif isinstance(node, Text):
            page.words(node.data)
        elif isinstance(node, Element) and _is_visible(node):
            page.open(node.tag)
            levels.append((node, iter(node.children)))
    return page.result()


class _Page:
    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._gap = ""
        """Separator before the next text: nothing, a space, a cell border, a line break or a blank line."""
        self._headings: list[Heading] = []
        self._blocks: list[tuple[int, int]] = []
        self._open_headings: list[tuple[int, int]] = []
        """Start of each open heading, in parts and in characters."""
        self._open_blocks: list[int] = []
        """Start of each open code block and table, in characters."""
        self._pre = 0

    def words(self, text: str) -> None:
        if self._pre:
            self._put(text)
            return
        plain = _SPACES.sub(" ", text)
        if plain.startswith(" "):
            self._gap = self._gap or " "
        if core := plain.strip(" "):
            self._put(core)
            self._gap = " " if plain.endswith(" ") else ""

    def open(self, tag: str) -> None:
        self._separate(tag)
        if tag in _HEADINGS:
            self._open_headings.append((len(self._parts), self._length))
        elif tag in ("pre", "table"):
            self._open_blocks.append(self._length)
            self._pre += tag == "pre"

    def close(self, tag: str) -> None:
        if tag in _HEADINGS:
            part, start = self._open_headings.pop()
            words = "".join(self._parts[part : part + _TITLE_PARTS])
            if title := title_of(words):
                self._headings.append(Heading(start + len(words) - len(words.lstrip()), int(tag[1]), title))
        elif tag in ("pre", "table"):
            start = self._open_blocks.pop()
            self._pre -= tag == "pre"
            if not self._open_blocks and start < self._length:  # code inside a table is part of the table
                self._blocks.append((start, self._length))
        self._separate(tag)

    def result(self) -> SourceText:
        headings = tuple(sorted(self._headings, key=lambda heading: heading.start))
        return SourceText(text="".join(self._parts), headings=headings, blocks=tuple(self._blocks))

    def _put(self, text: str) -> None:
        gap = self._gap if self._length else ""
        self._gap = ""
        self._parts += (gap, text)
        self._length += len(gap) + len(text)

    def _separate(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._gap = "\n\n"
        elif tag in _LINES and self._gap != "\n\n":
            self._gap = "\n"
        elif tag in ("td", "th") and not self._gap.startswith("\n"):
            self._gap = " | "


def _is_visible(element: Element) -> bool:
    attributes = element.attrs
    return not (
        element.tag in _HIDDEN_TAGS
        or "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or _HIDDEN_STYLE.search(str(attributes.get("style") or ""))
    )
