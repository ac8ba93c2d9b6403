"""Prefers facts: a message may be a question, a guess or retracted, while a fact was checked before it was accepted."""

from bethink.memory.recall.candidates import Candidates
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.tuning import Tuning
from bethink.model.refs import RefKind


class LearnedSignal:
    """1 for a fact, else 0."""

    name = "learned"

    def __init__(self, tuning: Tuning) -> None:
        self.weight = tuning.learned

    def score(self, question: ParsedQuestion, candidates: Candidates) -> list[float]:
        """Return 1 or 0."""
        del question
        return [float(text.ref.kind is RefKind.FACT) for text in candidates.texts]
