"""The proof of a sentence: it cites memories that the model was given, and they have its names, numbers and words.

The checks are those of learning. They read words, not meanings: they stop what stands in no memory, and what denies
one.
"""

import re
from collections.abc import Sequence
from datetime import datetime

from bethink.base.frozen import frozen
from bethink.base.language.numbers import numbers_in
from bethink.memory.answering.prompt import about
from bethink.memory.answering.sentences import Sentence
from bethink.memory.learning.extraction.grounding import Ground, foreign_numbers
from bethink.model.answers import AnswerSentence, SentenceFault
from bethink.model.recall import Recalled
from bethink.model.words import key_words, negated, stem

_OPENING = re.compile(
    r"(?:yes|no|yeah|nope|currently|now|recently|today|previously|originally|apparently|since|before|after|until"
    r"|according to memory|ja|nein|oui|non|s[ií])\b[,.:;!]?\s+",
    re.IGNORECASE,
)
"""How an answer may begin without a memory that has the word."""
_CLAUSE = re.compile(r"[.!?;\n\u3002\uff01\uff1f]+|,\s|\b(?:but|and|although|while)\b")
_MOST = 0.5


class Proof:
    """Checks sentences against the memories that the model was given."""

    def __init__(self, items: Sequence[Recalled], *, question: str, space: str) -> None:
        given = [_given(item) for item in items]
        self._given = {each.item.label: each for each in given} | {str(each.item.ref): each for each in given}
        self._asked = _stems(question)
        self._space = space

    def check(self, sentence: Sentence) -> AnswerSentence | SentenceFault:
        """Return a sentence with the memories that prove it, or what is wrong with it."""
        if not sentence.labels:
            return SentenceFault.UNCITED
        if any(label not in self._given for label in sentence.labels):
            return SentenceFault.UNKNOWN_REF
        cited = list({each.item.ref: each for each in map(self._given.__getitem__, sentence.labels)}.values())
        claim = _OPENING.sub("", sentence.text, count=1)
        stems = _stems(claim)
        fault = self._foreign(claim, cited) or self._unheld(claim, stems, cited)
        if fault is not None:
            return fault
        refs = tuple(each.item.ref for each in cited if not stems.isdisjoint(each.stems))
        return AnswerSentence(text=sentence.text, refs=refs)

    def _foreign(self, claim: str, cited: "Sequence[_Given]") -> SentenceFault | None:
        texts = [each.shown for each in cited]
        numbers = {number for text in texts for number in numbers_in(text)}
        dates = [date for each in cited for date in _dates(each.item)]
        year = max(each.item.at.year for each in cited)
        if foreign_numbers(claim, numbers, dates=dates, year=year):
            return SentenceFault.FOREIGN_NUMBER
        # Names in the question prove nothing: the one who asks may be wrong.
        names = Ground([*texts, self._space]).foreign_names(claim)
        return SentenceFault.FOREIGN_NAME if names else None

    def _unheld(self, claim: str, stems: frozenset[str], cited: "Sequence[_Given]") -> SentenceFault | None:
        said = frozenset[str]().union(*(each.stems for each in cited))
        if stems.isdisjoint(said) or len(stems & (said | self._asked)) <= _MOST * len(stems):
            return SentenceFault.OTHER_WORDS
        denied = [negated(_nearest(stems, each.item.text)) for each in cited]
        turned = not any(denied) if negated(claim) else all(denied)
        return SentenceFault.DENIED if turned else None


@frozen
class _Given:
    """A memory that the model was given, as it was shown, and the stems of that."""

    item: Recalled
    shown: str
    stems: frozenset[str]


def _given(item: Recalled) -> _Given:
    shown = f"{item.text} ({', '.join(about(item))})"
    return _Given(item=item, shown=shown, stems=_stems(shown))


def _dates(item: Recalled) -> list[datetime | None]:
    fact = item.fact
    return (
        [item.at] if fact is None else [item.at, fact.happened_from, fact.happened_to, fact.valid_from, fact.valid_to]
    )


def _nearest(stems: frozenset[str], text: str) -> str:
    """Return the clause of a memory that shares most words with a sentence."""
    return max(_CLAUSE.split(text), key=lambda clause: len(stems & _stems(clause)), default="")


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in key_words(text))
