"""The share of a message that is in questions: a question does not answer one."""

import re
from collections.abc import Collection, Iterable

from bethink.base.language import QUESTION_MARKS, is_question, is_request, terms_of
from bethink.memory.recall.candidates import Candidates
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.tuning import Tuning
from bethink.model.records import Role
from bethink.model.refs import RefKind
from bethink.store.search import Text

_MARKS = ".!?\u3002\uff01\uff1f\u061f\u0964"
_SENTENCE = re.compile(rf"[^{_MARKS}\n]+[{_MARKS}]*")


class AsksSignal:
    """Minus the share of a short message that is in questions and requests. A long one also states something.

    A message that states something and then asks is a statement, if the words of the question are in what it states.
    """

    name = "asks"

    def __init__(self, tuning: Tuning) -> None:
        self.weight = tuning.asks
        self._longest = tuning.asks_characters

    def score(self, question: ParsedQuestion, candidates: Candidates) -> list[float]:
        """Return the negative share; 0 for candidates that are not messages."""
        return [-self._question_share(text, question) for text in candidates.texts]

    def _question_share(self, text: Text, question: ParsedQuestion) -> float:
        if text.ref.kind is not RefKind.MESSAGE or len(text.text) > self._longest:
            return 0.0
        sentences = _sentences(text.text)
        asking = [sentence for sentence in sentences if _asks(sentence, text.role, question.language)]
        if not asking or len(asking) == len(sentences):
            return float(bool(asking))
        stating = [sentence for sentence in sentences if sentence not in asking]
        if _states(stating, asking, question.stems):
            return 0.0
        return sum(map(len, asking)) / sum(map(len, sentences))


def asks(text: Text, language: str) -> bool:
    """Return whether a message has a question, or a request to an assistant."""
    return any(_asks(sentence, text.role, language) for sentence in _sentences(text.text))


def only_asks(text: Text, language: str, tuning: Tuning) -> bool:
    """Return whether a short message has nothing but questions and requests."""
    sentences = _sentences(text.text) if len(text.text) <= tuning.asks_characters else []
    return bool(sentences) and all(_asks(sentence, text.role, language) for sentence in sentences)


def _sentences(text: str) -> list[str]:
    return [sentence for match in _SENTENCE.finditer(text) if (sentence := match[0].strip())]


def _states(stating: Iterable[str], asking: Iterable[str], stems: Collection[str]) -> bool:
    """Return whether all words of the question that a message has are in the sentences that state something."""
    stated = _stems_in(stating, stems)
    return bool(stated) and _stems_in(asking, stems) <= stated


def _stems_in(sentences: Iterable[str], stems: Collection[str]) -> set[str]:
    return {stem for sentence in sentences for stem in terms_of(sentence) if stem in stems}


def _asks(sentence: str, role: str | None, language: str) -> bool:
    if sentence.endswith(QUESTION_MARKS) or (sentence[-1] not in _MARKS and is_question(sentence, language)):
        return True
    return role == Role.USER and is_request(sentence)
