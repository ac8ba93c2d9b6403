"""Whether it is a fact: a message may be asked, guessed or taken back, a fact was read before it was believed."""

from bethink.memory.recall.candidates import Candidates
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.tuning import Tuning
from bethink.model.recall import RefKind


class LearntSignal:
    """1 for a fact, else 0."""

    name = "learnt"

    def __init__(self, tuning: Tuning) -> None:
        self.weight = tuning.learnt

    def score(self, question: ParsedQuestion, candidates: Candidates) -> list[float]:
        """Return 1 or 0."""
        del question
        return [float(text.ref.kind is RefKind.FACT) for text in candidates.texts]
