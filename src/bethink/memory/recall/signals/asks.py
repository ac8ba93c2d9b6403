"""How much of a message only asks: a question does not answer one."""

import re

from bethink.base.language import QUESTION_MARKS, asks
from bethink.memory.recall.candidates import Candidates
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.tuning import Tuning
from bethink.model.recall import RefKind
from bethink.store.search import Text

_MARKS = ".!?\u3002\uff01\uff1f\u061f\u0964"
_SENTENCE = re.compile(rf"[^{_MARKS}\n]+[{_MARKS}]*")


class AsksSignal:
    """Minus the share of a short message that is in questions. A long one tells something on the way."""

    name = "asks"

    def __init__(self, tuning: Tuning) -> None:
        self.weight = tuning.asks
        self._longest = tuning.asks_characters

    def score(self, question: ParsedQuestion, candidates: Candidates) -> list[float]:
        """Return the share, as a number below 0; 0 for what is not a message."""
        return [-self._asking(text, question.language) for text in candidates.texts]

    def _asking(self, text: Text, language: str) -> float:
        is_short = text.ref.kind is RefKind.MESSAGE and len(text.text) <= self._longest
        return asking(text.text, language) if is_short else 0.0


def asking(said: str, language: str) -> float:
    """Return the share of a text, by length, that is in questions: marked as such, or unmarked and worded as such."""
    sentences = [sentence for each in _SENTENCE.finditer(said) if (sentence := each[0].strip())]
    whole = sum(map(len, sentences))
    return sum(len(sentence) for sentence in sentences if _asks(sentence, language)) / whole if whole else 0.0


def _asks(sentence: str, language: str) -> bool:
    return sentence.endswith(QUESTION_MARKS) or (sentence[-1] not in _MARKS and asks(sentence, language))
