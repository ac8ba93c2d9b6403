"""Cuts the text of a file into passages: whole paragraphs of one section, as many as fit, each with its exact place."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from bethink.base.frozen import frozen
from bethink.base.language.letters import MARKS, is_unspaced
from bethink.errors import Invalid
from bethink.features.files.sources import Heading, SourceText

PASSAGE = 1_000
"""How many characters a passage has at most, unless one word is longer."""
MAX_PASSAGES = 10_000
_LONGEST_WORD = 10_000
"""What is longer than this is cut wherever it is."""
_BLANK = re.compile(r"\n(?:[ \t\r\f\v]*+\n)++")
_SENTENCE = re.compile(
    "(?:[.!?\u2026]['\")\\]\u2019\u201d\xbb]{0,3}(?=\\s)"
    "|[\u3002\uff01\uff1f\uff61][\u300d\u300f\uff09\u201d\u2019]{0,3})"
)
_MARK = re.compile(rf"[{MARKS}\u200c\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0100-\U000e01ef]")


@frozen
class FilePassage:
    """A part of a text, with the headings above it from the highest to the nearest, and its page, if there are any."""

    start: int
    end: int
    headings: tuple[str, ...] = ()
    page: int | None = None


def passages_of(source: SourceText) -> list[FilePassage]:
    """Return the passages of a text, in order.

    All that is not white space is in exactly one of them, and none begins or ends with white space or inside a word.

    Raises:
        Invalid: if there are more than 10,000.
    """
    found: list[FilePassage] = []
    for start, end, headings in _sections(source):
        for first, last in _packed(source.text, list(_paragraphs(source, start, end))):
            if len(found) == MAX_PASSAGES:
                raise Invalid(f"it has more than {MAX_PASSAGES:,} passages.", hint="Add it in parts.")
            found.append(FilePassage(start=first, end=last, headings=headings, page=source.page_of(first)))
    return found


def _sections(source: SourceText) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yield what stands below the same headings on the same page. A heading with nothing below it goes to the next."""
    path: list[Heading] = []
    begin = 0
    pages = frozenset(source.pages)
    headings = {each.start: each for each in source.headings}
    for place in [*sorted({*headings, *pages}), len(source.text)]:
        known, lone = headings.get(place), _is_lone(source.text, begin, place, path, headings)
        if (
            not lone
            or place in pages
            or place == len(source.text)
            or (known is not None and path and known.level <= path[-1].level)
        ):
            yield begin, place, tuple(each.title for each in path if each.title)
            begin = place
        if known is not None:
            path = [*(each for each in path if each.level < known.level), known]


def _is_lone(text: str, begin: int, end: int, path: Sequence[Heading], headings: dict[int, Heading]) -> bool:
    """Return whether nothing but the words of headings stands between two places."""
    if begin not in headings or end - begin > PASSAGE // 2 or not path:
        return False
    lines = [line for line in text[begin:end].splitlines() if line.strip(" \t#=-")]
    return len(lines) <= sum(begin <= each.start < end for each in path)


def _paragraphs(source: SourceText, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the paragraphs of a section, and its code and tables, each in one piece."""
    at = start
    for first, last in source.blocks[bisect_right(source.blocks, start, key=_end_of) :]:
        if first >= end:
            break
        yield from _between_blanks(source.text, at, max(at, first))
        at = min(last, end)
        yield max(start, first), at
    yield from _between_blanks(source.text, at, end)


def _end_of(block: tuple[int, int]) -> int:
    return block[1]


def _between_blanks(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for blank in _BLANK.finditer(text, start, end):
        yield at, blank.end()
        at = blank.end()
    yield at, end


def _packed(text: str, parts: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Put neighbours together while they fit, and cut what is too long by itself."""
    begin: int | None = None
    last = 0
    for part in parts:
        start, end = _trimmed(text, *part)
        if start == end:
            continue
        if begin is not None and end - begin <= PASSAGE:
            last = end
            continue
        if begin is not None:
            yield begin, last
        while end - start > PASSAGE:
            cut = _cut(text, start, end)
            if cut >= end:
                break
            yield _trimmed(text, start, cut)
            start, _ = _trimmed(text, cut, end)
        begin, last = start, end
    if begin is not None:
        yield begin, last


def _cut(text: str, start: int, end: int) -> int:
    """Return where to cut what is too long: at a line's end, a sentence's, a word's, or at last between two letters."""
    window, half = start + PASSAGE, start + PASSAGE // 2
    line = text.rfind("\n", half, window)
    if line > start:
        return line
    sentence = 0
    for found in _SENTENCE.finditer(text, half, window):
        sentence = found.end()
    if sentence:
        return sentence
    for divides in (_is_between_words, _is_beside_sign):
        for place in range(window, start, -1):
            if divides(text, place):
                return place
    last = min(end, start + _LONGEST_WORD)
    return next((place for place in range(window + 1, last) if _is_beside_sign(text, place)), last)


def _is_between_words(text: str, place: int) -> bool:
    """Return whether a word ends at a place: at white space, or anywhere in scripts that have none."""
    before, after = text[place - 1], text[place]
    if before.isspace() or after.isspace():
        return True
    return (is_unspaced(before) or is_unspaced(after)) and after.isalnum()


def _is_beside_sign(text: str, place: int) -> bool:
    before, after = text[place - 1], text[place]
    return not (_belongs(before) and _belongs(after)) and not _MARK.match(after) and before != "\u200d"


def _belongs(sign: str) -> bool:
    return sign.isalnum() or _MARK.match(sign) is not None


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    lead = len(part) - len(part.lstrip())
    return (start, start) if lead == len(part) else (start + lead, start + len(part.rstrip()))
