"""How close a candidate is to the times that the question mentions."""

from bethink.memory.recall.candidates import Candidates
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.tuning import Tuning


class DateSignal:
    """1 for what was said at such a time, less before and after it."""

    name = "date"

    def __init__(self, tuning: Tuning) -> None:
        self.weight = tuning.date

    def score(self, question: ParsedQuestion, candidates: Candidates) -> list[float]:
        """Return how close it is, 0 if the question mentions no time."""
        if not question.spans:
            return [0.0] * len(candidates.keys)
        return candidates.each(lambda known: question.closeness(known.at))
