"""The share of a message that is in questions: a question does not answer one."""

import re

from bethink.base.language import QUESTION_MARKS, is_question
from bethink.memory.recall.candidates import Candidates
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.tuning import Tuning
from bethink.model.refs import RefKind
from bethink.store.search import Text

_MARKS = ".!?\u3002\uff01\uff1f\u061f\u0964"
_SENTENCE = re.compile(rf"[^{_MARKS}\n]+[{_MARKS}]*")


class AsksSignal:
    """Minus the share of a short message that is in questions. A long one also states something."""

    name = "asks"

    def __init__(self, tuning: Tuning) -> None:
        self.weight = tuning.asks
        self._longest = tuning.asks_characters

    def score(self, question: ParsedQuestion, candidates: Candidates) -> list[float]:
        """Return the negative share; 0 for candidates that are not messages."""
        return [-self._question_share(text, question.language) for text in candidates.texts]

    def _question_share(self, text: Text, language: str) -> float:
        is_short = text.ref.kind is RefKind.MESSAGE and len(text.text) <= self._longest
        return question_share(text.text, language) if is_short else 0.0


def question_share(text: str, language: str) -> float:
    """Return the share of a text, by length, that is in questions: marked as such, or unmarked and worded as such."""
    sentences = [sentence for match in _SENTENCE.finditer(text) if (sentence := match[0].strip())]
    length = sum(map(len, sentences))
    return sum(len(sentence) for sentence in sentences if _asks(sentence, language)) / length if length else 0.0


def _asks(sentence: str, language: str) -> bool:
    return sentence.endswith(QUESTION_MARKS) or (sentence[-1] not in _MARKS and is_question(sentence, language))
