"""The number of times that a candidate was used before."""

from collections.abc import Sequence

from bethink.memory.recall.candidates import Candidates
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.tuning import Tuning


class UsageSignal:
    """The number of times that an answer cited it or a caller reported it as used."""

    name = "usage"

    def __init__(self, tuning: Tuning) -> None:
        self.weight = tuning.usage
        self._half = tuning.usage_times

    def score(self, question: ParsedQuestion, candidates: Candidates) -> list[float]:
        """Return the number of times."""
        del question  # the uses are those of earlier questions
        if not candidates.usage:
            return [0.0] * len(candidates.keys)
        used = [candidates.usage.get(text.ref) for text in candidates.texts]
        return [0.0 if use is None else float(use.times) for use in used]

    def scale(self, values: Sequence[float], candidates: Candidates) -> list[float]:
        """Return half at the number of times that counts half, and never quite 1."""
        del candidates
        return [times / (times + self._half) for times in values]
