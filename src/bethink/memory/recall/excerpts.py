"""Cut long texts to the sentences that are relevant to the question."""

import re
from collections.abc import Collection, Sequence

from bethink.extend import Tokens
from bethink.memory.recall.question import ParsedQuestion
from bethink.model.words import stem
from bethink.store.search import SEARCHED

_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+|\n|$)\s*")
_WORD = re.compile(r"\w+")


def stems_of(question: ParsedQuestion) -> frozenset[str]:
    """Return the stems by which a long text is cut to the relevant sentences."""
    return frozenset(
        stem(form)
        for term in question.terms
        for form in (term.word.casefold(), *(question.stems[index] for index in term.stems))
    )


def excerpt(text: str, words: Collection[str], tokens: Tokens, *, budget: int) -> str:
    """Cut a text of more than `budget` tokens to the sentences that contain the most of the words."""
    if tokens.count(text) <= budget:
        return text
    # The full-text index covers only this part of a text, so a match cannot be beyond it.
    sentences = [match[0] for match in _SENTENCE.finditer(text[:SEARCHED])] or [text[:SEARCHED]]
    best = max(range(len(sentences)), key=lambda index: (_count_shared(sentences[index], words), -index))
    first = last = best
    while True:
        grown = _grow(sentences, first, last)
        if grown is None or tokens.count("".join(sentences[grown[0] : grown[1] + 1])) > budget:
            break
        first, last = grown
    passage = "".join(sentences[first : last + 1]).strip()
    piece = _piece(passage, words, tokens, budget=budget)
    before = first > 0 or not passage.startswith(piece)
    after = last + 1 < len(sentences) or len(text) > SEARCHED or not passage.endswith(piece)
    return f"{'… ' if before else ''}{piece}{' …' if after else ''}"


def _piece(text: str, words: Collection[str], tokens: Tokens, *, budget: int) -> str:
    """Cut a single sentence that is too long to the part around the first of the words."""
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


def _grow(sentences: Sequence[str], first: int, last: int) -> tuple[int, int] | None:
    if last + 1 < len(sentences):
        return first, last + 1
    return (first - 1, last) if first else None


def _count_shared(sentence: str, words: Collection[str]) -> int:
    return len({stem(word) for word in _WORD.findall(sentence.casefold())} & set(words))
