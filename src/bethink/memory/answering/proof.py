"""Verify a sentence: it cites memories that the model received, and they have its names, numbers and words.

The checks are those of learning. They compare words, not meanings: they reject a sentence that no memory supports, and
one that contradicts a memory.
"""

import re
from collections.abc import Sequence
from datetime import datetime

from bethink.base.frozen import frozen
from bethink.base.language.numbers import numbers_in
from bethink.memory.answering.prompt import describe
from bethink.memory.answering.sentences import Sentence
from bethink.memory.learning.extraction.grounding import Ground, foreign_numbers
from bethink.model.answers import AnswerSentence, SentenceFault
from bethink.model.recall import Match
from bethink.model.words import is_negated, key_stems

_OPENING = re.compile(
    r"(?:yes|no|yeah|nope|currently|now|recently|today|previously|originally|apparently|since|before|after|until"
    r"|according to memory|ja|nein|oui|non|s[ií])\b[,.:;!]?\s+",
    re.IGNORECASE,
)
"""Opening words of an answer that no memory needs to have."""
_CLAUSE = re.compile(r"[.!?;\n\u3002\uff01\uff1f]+|,\s|\b(?:but|and|although|while)\b")
_MIN_SHARE = 0.5


class Proof:
    """Checks sentences against the memories that the model received."""

    def __init__(self, items: Sequence[Match], *, question: str, space: str) -> None:
        memories = [_source_memory(item) for item in items]
        self._memories = {memory.item.label: memory for memory in memories} | {
            str(memory.item.ref): memory for memory in memories
        }
        self._question_stems = key_stems(question)
        self._space = space

    def check(self, sentence: Sentence) -> AnswerSentence | SentenceFault:
        """Return a sentence with the memories that support it, or its fault."""
        if not sentence.labels:
            return SentenceFault.UNCITED
        if any(label not in self._memories for label in sentence.labels):
            return SentenceFault.UNKNOWN_REF
        cited = list({memory.item.ref: memory for memory in map(self._memories.__getitem__, sentence.labels)}.values())
        claim = _OPENING.sub("", sentence.text, count=1)
        stems = key_stems(claim)
        fault = self._find_foreign(claim, cited) or self._find_unsupported(claim, stems, cited)
        if fault is not None:
            return fault
        refs = tuple(memory.item.ref for memory in cited if not stems.isdisjoint(memory.stems))
        return AnswerSentence(text=sentence.text, refs=refs)

    def _find_foreign(self, claim: str, cited: "Sequence[_SourceMemory]") -> SentenceFault | None:
        texts = [memory.line for memory in cited]
        numbers = {number for text in texts for number in numbers_in(text)}
        dates = [date for memory in cited for date in _dates(memory.item)]
        year = max(memory.item.said_at.year for memory in cited)
        if foreign_numbers(claim, numbers, dates=dates, year=year):
            return SentenceFault.FOREIGN_NUMBER
        # Names in the question prove nothing: the user may be wrong.
        names = Ground([*texts, self._space]).foreign_names(claim)
        return SentenceFault.FOREIGN_NAME if names else None

    def _find_unsupported(
        self, claim: str, stems: frozenset[str], cited: "Sequence[_SourceMemory]"
    ) -> SentenceFault | None:
        source_stems = frozenset[str]().union(*(memory.stems for memory in cited))
        if stems.isdisjoint(source_stems) or len(stems & (source_stems | self._question_stems)) <= _MIN_SHARE * len(
            stems
        ):
            return SentenceFault.OTHER_WORDS
        denied = [is_negated(_nearest(stems, memory.item.text)) for memory in cited]
        is_contradicted = not any(denied) if is_negated(claim) else all(denied)
        return SentenceFault.DENIED if is_contradicted else None


@frozen
class _SourceMemory:
    """A memory that the model received, with its line in the prompt and the stems of the line."""

    item: Match
    line: str
    stems: frozenset[str]


def _source_memory(item: Match) -> _SourceMemory:
    line = f"{item.text} ({', '.join(describe(item))})"
    return _SourceMemory(item=item, line=line, stems=key_stems(line))


def _dates(item: Match) -> list[datetime | None]:
    fact = item.fact
    return (
        [item.said_at]
        if fact is None
        else [item.said_at, fact.event_from, fact.event_to, fact.valid_from, fact.valid_to]
    )


def _nearest(stems: frozenset[str], text: str) -> str:
    """Return the clause of a memory that shares the most words with a sentence."""
    return max(_CLAUSE.split(text), key=lambda clause: len(stems & key_stems(clause)), default="")
