"""Reads HTML: the words that a reader of the page sees, a line or a blank line where the page has one.

It is a scanner of its own: `html.parser` of the Python versions in use takes a minute for 80 kB of `<!--`, and a page
may come from anyone. Here every character is looked at a few times, whatever the page holds.
"""

import re
from html import unescape

from bethink.features.files.sources import Heading, SourceText, title_of

_BEGIN = re.compile(r"<(?=[a-zA-Z/!?])")
_NAME = re.compile(r"</?([a-zA-Z][^\s/>]{0,40})")
_RAW = frozenset({"script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext"})
"""What has text up to its end tag, and no elements inside."""
_UNSEEN = frozenset(
    {"noscript", "template", "svg", "math", "canvas", "object", "audio", "video", "select", "datalist", "dialog"}
)
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}
)
_BLOCKS = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "caption", "dd", "details", "div", "dl", "dt", "fieldset",
        "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html",
        "main", "nav", "ol", "p", "pre", "section", "summary", "table", "ul",
    }
)  # fmt: skip
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_LINES = frozenset({"br", "li", "tr", "option"})
_ENDS_ITSELF = frozenset({"p", "option"})
"""Elements that the next one of their kind ends."""
_KEPT = frozenset({"pre", "table"})
_LONGEST_TAG = 10_000
_LOOKS = 20
_SPACES = re.compile(r"[ \t\n\r\f\v]+")
# Possessive throughout: where a quotation mark has no partner it is a sign like any other, and nothing is tried twice.
_REST_OF_TAG = re.compile(r"""(?:[^"'>=]|=\s*+(?:"[^"]*+"|'[^']*+')?+|["'])*+>""")
_QUOTED = re.compile(r""""[^"]*+"|'[^']*+'""")
_HIDDEN = re.compile(r"(?:^|\s)hidden(?=[\s=/]|$)", re.IGNORECASE)
_UNSHOWN = ("display:none", "visibility:hidden")
_NUMBERED = re.compile(r"&#[xX]?[0-9a-fA-F]{8,}+;?")
"""A character by a number that no character has; Python refuses to read the longest of them."""


def read_html(text: str) -> SourceText:
    """Return what a reader of a page sees, with its headings, code and tables; scripts, styles and hidden parts go."""
    page = _Page()
    at = 0
    while at < len(text):
        begin = _BEGIN.search(text, at)
        if begin is None:
            page.words(text[at:])
            break
        page.words(text[at : begin.start()])
        at = page.markup(text, begin.start())
    return page.result()


class _Page:
    def __init__(self) -> None:
        self._found: list[str] = []
        self._length = 0
        self._gap = ""
        """What stands between the words so far and the next: nothing, a space, a line end or a blank line."""
        self._headings: list[Heading] = []
        self._open: tuple[int, int] | None = None
        """The level of the heading that is open, and where it begins in what was found."""
        self._blocks: list[tuple[int, int]] = []
        self._kept: list[tuple[str, int]] = []
        self._pre = 0
        self._hidden: str = ""
        self._depth = 0
        self._next_end = -1
        """Where the next > is, if it is not before the place that is read."""
        self._last: dict[str, int] = {}
        """Marks that do not occur after a place, so that they are not looked for again."""

    def words(self, text: str) -> None:
        if not text or self._hidden:
            return
        text = unescape(_NUMBERED.sub("\ufffd", text))
        if self._pre:
            self._put(text)
            return
        plain = _SPACES.sub(" ", text)
        if plain.startswith(" "):
            self._gap = self._gap or " "
        if core := plain.strip(" "):
            self._put(core)
            self._gap = " " if plain.endswith(" ") else ""

    def markup(self, text: str, begin: int) -> int:
        """Read the tag, comment or sign at a place, and return where it ends."""
        if text.startswith("<!--", begin):
            return self._after(text, "-->", begin + 4)
        name = _NAME.match(text, begin)
        if name is None:
            return self._after(text, ">", begin + 2)
        end = self._end_of_tag(text, name.end())
        if end is None:
            self.words("<")
            return begin + 1
        word, closing = name[1].lower(), text[begin + 1] == "/"
        if closing:
            self._closed(word)
        else:
            self._opened(word, text[name.end() : end - 1])
            if word in _RAW:
                return self._raw(text, word, end)
        return end

    def result(self) -> SourceText:
        while self._kept:
            self._end_kept(self._kept[-1][0])
        self._end_heading()
        return SourceText(text="".join(self._found), headings=tuple(self._headings), blocks=tuple(sorted(self._blocks)))

    def _put(self, text: str) -> None:
        gap = self._gap if self._length else ""
        self._gap = ""
        self._found += (gap, text)
        self._length += len(gap) + len(text)

    def _break(self, gap: str) -> None:
        if len(gap) > len(self._gap.strip(" ")):
            self._gap = gap

    def _find(self, text: str, mark: str, start: int) -> int:
        if self._last.get(mark, len(text)) <= start:
            return -1
        found = text.find(mark, start)
        if found < 0:
            self._last[mark] = start
        return found

    def _after(self, text: str, mark: str, start: int) -> int:
        found = self._find(text, mark, start)
        return len(text) if found < 0 else found + len(mark)

    def _end_of_tag(self, text: str, start: int) -> int | None:
        """Return where a tag ends: after the first > that is not in quotation marks; None if it does not end."""
        if self._next_end < start:
            found = self._find(text, ">", start)
            self._next_end = len(text) + _LONGEST_TAG if found < 0 else found
        if self._next_end - start > _LONGEST_TAG:
            return None
        tag = _REST_OF_TAG.match(text, start, start + _LONGEST_TAG)
        return self._next_end + 1 if tag is None else tag.end()

    def _raw(self, text: str, word: str, start: int) -> int:
        """Pass over an element that has text only, and take in the title of the page."""
        end = -1
        mark = f"</{word}"
        if self._last.get(mark, len(text)) > start:
            found = re.compile(rf"</{word}(?=[\s/>])", re.IGNORECASE).search(text, start)
            if found is None:
                self._last[mark] = start
            else:
                end = found.start()
        if word == "title" and end >= 0:
            self.words(text[start:end])
            self._break("\n\n")
        return len(text) if end < 0 else end

    def _opened(self, word: str, attributes: str) -> None:
        if self._hidden and word == self._hidden:
            self._depth += word not in _ENDS_ITSELF
            self._hidden = "" if word in _ENDS_ITSELF else word
        if self._hidden:
            return
        self._part(word)
        if word not in _VOID and word not in _RAW and (word in _UNSEEN or _is_hidden(attributes)):
            self._hidden, self._depth = word, 1
        elif word in _KEPT:
            self._kept.append((word, self._length))
            self._pre += word == "pre"
        elif word in _HEADINGS:
            self._end_heading()
            self._open = (int(word[1]), len(self._found))

    def _closed(self, word: str) -> None:
        if self._hidden:
            if word == self._hidden:
                self._depth -= 1
                self._hidden = self._hidden if self._depth else ""
            return
        if self._open is not None and word == f"h{self._open[0]}":
            self._end_heading()
        if any(word == each for each, _ in self._kept[-_LOOKS:]):
            self._end_kept(word)
        self._part(word)

    def _part(self, word: str) -> None:
        if word in _BLOCKS:
            self._break("\n\n")
        elif word in _LINES:
            self._break("\n")
        elif word in ("td", "th"):
            self._cell()

    def _cell(self) -> None:
        if not self._gap.startswith("\n") and self._gap != " | ":
            self._gap = " | "

    def _end_heading(self) -> None:
        if self._open is None:
            return
        level, place = self._open
        self._open = None
        words = "".join(self._found[place:])
        if title := title_of(words):
            start = self._length - len(words) + (len(words) - len(words.lstrip()))
            self._headings.append(Heading(start, level, title))

    def _end_kept(self, word: str) -> None:
        """Note code or a table that ends; those inside another are part of it."""
        while self._kept:
            name, start = self._kept.pop()
            self._pre -= name == "pre"
            if not self._kept and start < self._length:
                self._blocks.append((start, self._length))
            if name == word:
                return


def _is_hidden(attributes: str) -> bool:
    if not attributes:
        return False
    if _HIDDEN.search(_QUOTED.sub('""', attributes)):
        return True
    plain = "".join(attributes.lower().split()).replace("'", "").replace('"', "")
    return "aria-hidden=true" in plain or ("style=" in plain and any(each in plain for each in _UNSHOWN))
