"""Sentences, clauses and words of a message as spans, in time linear in its length."""

import re
from collections.abc import Iterator
from typing import NamedTuple

MAX_TEXT = 4_000
"""Maximum number of characters of a message in which phrases are searched. Explicit phrases come early."""
_MAX_SENTENCES = 60
_ABBREVIATIONS = ("Dr", "Mr", "Ms", "Mrs", "St", "Prof", "Nr", "Jr", "Sr", "vs", "ca")
_BREAK = re.compile(
    "".join(rf"(?<!\b{word}[.])" for word in _ABBREVIATIONS)
    + r"(?<=[.!?])[\"')\u201d\u00bb]?\s+|(?<=[\u3002\uff01\uff1f])\s*|\s*\n+\s*"
)
_CLAUSE_BREAK = re.compile(r"[,;:]\s+|[\uff0c\u3001\uff1b\uff1a]\s*|,(?=[\u3400-\u9fff])|\s[\u2013\u2014-]\s")
_WORD = re.compile(r"\d+(?:[.,:/]\d+)*|[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_MIN_WORDS, _MIN_UNSPACED = 2, 4


class Span(NamedTuple):
    """A part of a text, from `start` to `stop`."""

    start: int
    stop: int

    def of(self, text: str) -> str:
        """Return the part of a text."""
        return text[self.start : self.stop]


def sentences(text: str) -> list[Span]:
    """Return the sentences of a text, without the spaces around them."""
    return list(_pieces(text, Span(0, min(len(text), MAX_TEXT)), _BREAK))[:_MAX_SENTENCES]


def clauses(text: str, sentence: Span, joined_by: re.Pattern[str]) -> list[Span]:
    """Return the clauses of a sentence, split at punctuation and conjunctions. Single words stay with their clause."""
    parts = [part for piece in _pieces(text, sentence, _CLAUSE_BREAK) for part in _pieces(text, piece, joined_by)]
    joined: list[Span] = []
    for part in parts:
        if joined and (_is_short(part.of(text)) or _is_short(joined[-1].of(text))):
            joined[-1] = Span(joined[-1].start, part.stop)
        else:
            joined.append(part)
    return joined or [sentence]


def words(text: str) -> list[str]:
    """Return the words and numbers of a text as they are written."""
    return _WORD.findall(text)


def is_unspaced(text: str) -> bool:
    """Return whether a text has characters of a script without spaces between words."""
    return _UNSPACED.search(text) is not None


def _is_short(part: str) -> bool:
    if any(char.isdigit() for char in part):
        return False
    return len(part) < _MIN_UNSPACED if is_unspaced(part) else len(words(part)) < _MIN_WORDS


def _pieces(text: str, span: Span, breaks: re.Pattern[str]) -> Iterator[Span]:
    start = span.start
    for match in breaks.finditer(text, span.start, span.stop):
        yield from _trim(text, start, match.start())
        start = match.end()
    yield from _trim(text, start, span.stop)


def _trim(text: str, start: int, stop: int) -> Iterator[Span]:
    while start < stop and text[start].isspace():
        start += 1
    while start < stop and text[stop - 1].isspace():
        stop -= 1
    if start < stop:
        yield Span(start, stop)
