"""How much of a message only asks: a question does not answer one."""

import re

from bethink.language import QUESTION_MARKS
from bethink.model.recall import RefKind
from bethink.recall.candidates import Candidates
from bethink.recall.question import ParsedQuestion
from bethink.recall.tuning import Tuning
from bethink.store.search import Text

_SENTENCE = re.compile(r"[^.!?\u3002\uff01\uff1f\u061f\u0964\n]+[.!?\u3002\uff01\uff1f\u061f\u0964]*")


class AsksSignal:
    """Minus the share of a short message that is in questions. A long one tells something on the way."""

    name = "asks"

    def __init__(self, tuning: Tuning) -> None:
        self.weight = tuning.asks
        self._longest = tuning.asks_characters

    def score(self, question: ParsedQuestion, candidates: Candidates) -> list[float]:
        """Return the share, as a number below 0; 0 for what is not a message."""
        del question
        return [-self._asking(text) if text.ref.kind is RefKind.MESSAGE else 0.0 for text in candidates.texts]

    def _asking(self, text: Text) -> float:
        return asking(text.text) if len(text.text) <= self._longest else 0.0


def asking(said: str) -> float:
    """Return the share of a text, by length, that is in sentences with a question mark."""
    if "?" not in said and (said.isascii() or not any(mark in said for mark in QUESTION_MARKS)):
        return 0.0
    sentences = [sentence for each in _SENTENCE.finditer(said) if (sentence := each[0].strip())]
    whole = sum(map(len, sentences))
    return sum(len(sentence) for sentence in sentences if sentence.endswith(QUESTION_MARKS)) / whole if whole else 0.0
