"""The closeness of a candidate to the times in the question."""

from bethink.memory.recall.candidates import Candidates
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.tuning import Tuning


class DateSignal:
    """1 for a candidate from such a time, less before and after it."""

    name = "date"

    def __init__(self, tuning: Tuning) -> None:
        self.weight = tuning.date

    def score(self, question: ParsedQuestion, candidates: Candidates) -> list[float]:
        """Return the closeness; 0 if the question mentions no time."""
        if not question.spans:
            return [0.0] * len(candidates.keys)
        return candidates.map_texts(lambda item: question.closeness(item.at))
