"""The share of the quotes in the question that a text contains word for word."""

from bethink.memory.recall.candidates import Candidates
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.tuning import Tuning


class QuotedSignal:
    """The share of the quotes in the question that a text contains."""

    name = "quoted"

    def __init__(self, tuning: Tuning) -> None:
        self.weight = tuning.quoted

    def score(self, question: ParsedQuestion, candidates: Candidates) -> list[float]:
        """Return the share; 0 if the question has no quotes."""
        if not question.quoted:
            return [0.0] * len(candidates.keys)
        folded = [text.text.casefold() for text in candidates.texts]
        return [sum(part in text for part in question.quoted) / len(question.quoted) for text in folded]
