"""Cut long texts to the sentences, list items and table rows that are relevant to the question."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from bethink.base.language import terms_of
from bethink.extend import Tokens
from bethink.memory.recall.question import ParsedQuestion, parse_question
from bethink.model.moments import EPOCH
from bethink.model.words import stem
from bethink.store.search import SEARCHED

_PART = re.compile(r"[^.!?\n\u3002\uff01\uff1f]+(?:[.!?\u3002\uff01\uff1f]+|\n|$)\s*")
_WORD = re.compile(r"\w+")
_GAP_TOKENS = 2
_ROW = "|"
_FOR_NEIGHBORS = 0.25
"""The share of the budget for the parts around those that match."""


def stems_of(question: ParsedQuestion) -> frozenset[str]:
    """Return the stems by which a long text is cut to the relevant parts."""
    return frozenset(
        stem(form)
        for term in question.terms
        for form in (term.word.casefold(), *(question.stems[index] for index in term.stems))
    )


def question_stems(question: str) -> frozenset[str]:
    """Return the stems of a question as text; none without a question."""
    return stems_of(parse_question(question, speakers=(), now=EPOCH)) if question.strip() else frozenset()


def excerpt(text: str, words: Collection[str], tokens: Tokens, *, budget: int) -> str:
    """Cut a text of more than `budget` tokens to its relevant parts, and mark each omission with an ellipsis.

    Parts are sentences, list items and rows of tables. Those with words that are rare in the text come first, a row
    with the heading of its table; then the parts around them, as far as the budget allows.
    """
    if tokens.count(text) <= budget:
        return text
    # The full-text index covers only this part of a text, so a match cannot be beyond it.
    parts = [match[0] for match in _PART.finditer(text[:SEARCHED])] or [text[:SEARCHED]]
    ranked = _rank(parts, frozenset(words)) or [0]
    selection = _Selection(parts, tokens, budget)
    selection.add(ranked[0])
    if not selection.indexes:
        return _excerpt_of_part(parts, ranked[0], words, tokens, budget=budget, is_cut=len(text) > SEARCHED)
    for index in ranked[1:]:
        selection.add(index, spare=int(budget * _FOR_NEIGHBORS))
    selection.grow()
    return _join(parts, sorted(selection.indexes), is_cut=len(text) > SEARCHED)


class _Selection:
    """The parts of a text that are shown, within a budget."""

    def __init__(self, parts: Sequence[str], tokens: Tokens, budget: int) -> None:
        self._parts = parts
        self._headings = _headings(parts)
        self._tokens = tokens
        self._remaining = budget
        self._order: list[int] = []
        self.indexes: set[int] = set()

    def add(self, index: int, *, spare: int = 0) -> bool:
        """Add a part with the heading of its table, or alone, if that leaves `spare` tokens. Return whether it did."""
        heading = self._headings.get(index, index)
        return self._take(dict.fromkeys((index, heading)), spare) or (heading != index and self._take((index,), spare))

    def grow(self) -> None:
        """Add the parts next to those that are shown, the following ones first."""
        for step in (1, -1):
            for start in list(self._order):
                index = start + step
                while 0 <= index < len(self._parts) and index not in self.indexes and self._take((index,), 0):
                    index += step

    def _take(self, indexes: Iterable[int], spare: int) -> bool:
        new = [index for index in indexes if index not in self.indexes]
        cost = sum(self._tokens.count(self._parts[index]) + self._gap_tokens(index) for index in new)
        if cost > self._remaining - spare:
            return False
        self._remaining -= cost
        self._order += new
        self.indexes.update(new)
        return True

    def _gap_tokens(self, index: int) -> int:
        return 0 if {index - 1, index + 1} & self.indexes else _GAP_TOKENS


def _rank(parts: Sequence[str], words: frozenset[str]) -> list[int]:
    """Return the parts that have a word of the question, best first."""
    shared = [_stems_in(part) & words for part in parts]
    counts = Counter(word for stems in shared for word in stems)
    worth = [sum(1 / counts[word] for word in stems) + len(stems) for stems in shared]
    return sorted((index for index, stems in enumerate(shared) if stems), key=lambda index: (-worth[index], index))


def _stems_in(part: str) -> set[str]:
    stems = {stem(word) for word in _WORD.findall(part.casefold())}
    return stems if part.isascii() else stems.union(terms_of(part))


def _headings(parts: Sequence[str]) -> dict[int, int]:
    """Return the first row of the table of each row."""
    headings: dict[int, int] = {}
    for index, part in enumerate(parts):
        if part.lstrip().startswith(_ROW):
            headings[index] = headings.get(index - 1, index)
    return headings


def _join(parts: Sequence[str], indexes: Sequence[int], *, is_cut: bool) -> str:
    pieces = "".join(_pieces(parts, indexes)).strip()
    is_end = indexes[-1] + 1 == len(parts) and not is_cut
    return f"{'… ' if indexes[0] else ''}{pieces}{'' if is_end else ' …'}"


def _pieces(parts: Sequence[str], ordered: Sequence[int]) -> Iterator[str]:
    previous = ordered[0] - 1
    for index in ordered:
        yield parts[index] if index == previous + 1 else f"… {parts[index]}"
        previous = index


def _excerpt_of_part(
    parts: Sequence[str], index: int, words: Collection[str], tokens: Tokens, *, budget: int, is_cut: bool
) -> str:
    """Cut a single part that is too long to the words around the first match."""
    part = parts[index].strip()
    piece = _piece(part, words, tokens, budget=budget)
    before = index > 0 or not part.startswith(piece)
    after = index + 1 < len(parts) or is_cut or not part.endswith(piece)
    return f"{'… ' if before else ''}{piece}{' …' if after else ''}"


def _piece(text: str, words: Collection[str], tokens: Tokens, *, budget: int) -> str:
    positions = (match.start() for match in _WORD.finditer(text) if stem(match[0].casefold()) in words)
    position = next(positions, 0)
    piece, start = text, 0
    while (cost := tokens.count(piece)) > budget and len(piece) > 1:
        length = max(1, len(piece) * budget // (cost + 1))
        start = max(0, min(position - length // 4, len(text) - length))
        piece = text[start : start + length]
    return _whole_words(text, start, start + len(piece))


def _whole_words(text: str, start: int, end: int) -> str:
    """Return a part of a text without the words that its ends cut, unless nothing would remain."""
    piece = text[start:end]
    if start > 0 and not text[start - 1].isspace():
        piece = piece.partition(" ")[2] or piece
    if end < len(text) and not text[end].isspace():
        piece = piece.rpartition(" ")[0] or piece
    return piece.strip()
