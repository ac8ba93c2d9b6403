"""Splits the text of a file into passages: as many whole paragraphs of a section as fit, with exact positions."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from bethink.base.frozen import frozen
from bethink.base.language.letters import MARKS, is_unspaced
from bethink.errors import InvalidRequestError
from bethink.features.files.sources import Heading, SourceText

PASSAGE = 1_000
"""Maximum characters of a passage, unless a single word is longer."""
MAX_PASSAGES = 10_000
_MAX_WORD = 10_000
"""Longer words are cut at any character."""
_BLANK = re.compile(r"\n(?:[ \t\r\f\v]*+\n)++")
_SENTENCE = re.compile(
    "(?:[.!?\u2026]['\")\\]\u2019\u201d\xbb]{0,3}(?=\\s)"
    "|[\u3002\uff01\uff1f\uff61][\u300d\u300f\uff09\u201d\u2019]{0,3})"
)
_MARK = re.compile(rf"[{MARKS}\u200c\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0100-\U000e01ef]")


@frozen
class FilePassage:
    """A part of a text, with its page and the headings above it, highest first."""

    start: int
    end: int
    headings: tuple[str, ...] = ()
    page: int | None = None


def passages_of(source: SourceText) -> list[FilePassage]:
    """Return the passages of a text, in order.

    Every character except white space is in exactly one passage. None begins or ends with white space or in a word.

    Raises:
        InvalidRequestError: if there are more than 10,000.
    """
    passages: list[FilePassage] = []
    for start, end, headings in _sections(source):
        for first, last in _pack(source.text, list(_paragraphs(source, start, end))):
            if len(passages) == MAX_PASSAGES:
                raise InvalidRequestError(
                    f"More than {MAX_PASSAGES:,} passages.", hint="Split the file and add the parts."
                )
            passages.append(FilePassage(start=first, end=last, headings=headings, page=source.page_of(first)))
    return passages


def _sections(source: SourceText) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yield the parts under the same headings on the same page. A heading without text joins the next part."""
    path: list[Heading] = []
    begin = 0
    pages = frozenset(source.pages)
    headings = {heading.start: heading for heading in source.headings}
    for position in [*sorted({*headings, *pages}), len(source.text)]:
        next_heading, lone = headings.get(position), _is_lone(source.text, begin, position, path, headings)
        if (
            not lone
            or position in pages
            or position == len(source.text)
            or (next_heading is not None and path and next_heading.level <= path[-1].level)
        ):
            yield begin, position, tuple(heading.title for heading in path if heading.title)
            begin = position
        if next_heading is not None:
            path = [*(heading for heading in path if heading.level < next_heading.level), next_heading]


def _is_lone(text: str, begin: int, end: int, path: Sequence[Heading], headings: dict[int, Heading]) -> bool:
    """Return whether there are only headings between two positions."""
    if begin not in headings or end - begin > PASSAGE // 2 or not path:
        return False
    lines = [line for line in text[begin:end].splitlines() if line.strip(" \t#=-")]
    return len(lines) <= sum(begin <= heading.start < end for heading in path)


def _paragraphs(source: SourceText, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the paragraphs, code blocks and tables of a section."""
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


def _pack(text: str, parts: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join adjacent parts while they fit, and cut parts that are too long."""
    begin: int | None = None
    last = 0
    for part in parts:
        start, end = _trim(text, *part)
        if start == end:
            continue
        if begin is not None and end - begin <= PASSAGE:
            last = end
            continue
        if begin is not None:
            yield begin, last
        while end - start > PASSAGE:
            cut = _cut_position(text, start, end)
            if cut >= end:
                break
            yield _trim(text, start, cut)
            start, _ = _trim(text, cut, end)
        begin, last = start, end
    if begin is not None:
        yield begin, last


def _cut_position(text: str, start: int, end: int) -> int:
    """Return the position to cut at: the end of a line, sentence or word, or else between two letters."""
    window, half = start + PASSAGE, start + PASSAGE // 2
    line = text.rfind("\n", half, window)
    if line > start:
        return line
    sentence = 0
    for match in _SENTENCE.finditer(text, half, window):
        sentence = match.end()
    if sentence:
        return sentence
    for divides in (_is_between_words, _is_next_to_symbol):
        for position in range(window, start, -1):
            if divides(text, position):
                return position
    last = min(end, start + _MAX_WORD)
    return next((position for position in range(window + 1, last) if _is_next_to_symbol(text, position)), last)


def _is_between_words(text: str, position: int) -> bool:
    """Return whether a word ends at a position: at white space, or anywhere in scripts without spaces."""
    before, after = text[position - 1], text[position]
    if before.isspace() or after.isspace():
        return True
    return (is_unspaced(before) or is_unspaced(after)) and after.isalnum()


def _is_next_to_symbol(text: str, position: int) -> bool:
    before, after = text[position - 1], text[position]
    return (
        not (_is_word_character(before) and _is_word_character(after)) and not _MARK.match(after) and before != "\u200d"
    )


def _is_word_character(character: str) -> bool:
    return character.isalnum() or _MARK.match(character) is not None


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    lead = len(part) - len(part.lstrip())
    return (start, start) if lead == len(part) else (start + lead, start + len(part.rstrip()))
