"""The scores of a reranker for the best few candidates."""

from collections.abc import Sequence

from bethink.memory.recall.candidates import Candidates
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.tuning import Tuning


class RerankerSignal:
    """The scores of a reranker, which ran earlier, outside the transaction, because it may be slow."""

    name = "reranker"

    def __init__(self, scores: Sequence[float], tuning: Tuning, weight: float | None = None) -> None:
        self.weight = tuning.reranker if weight is None else weight  # a reranker may set its own weight
        self._scores = list(scores)

    def score(self, question: ParsedQuestion, candidates: Candidates) -> list[float]:
        """Return its scores."""
        del question, candidates
        return self._scores

    def scale(self, values: Sequence[float], candidates: Candidates) -> list[float]:
        """Stretch to between 0 and 1: only the order and the distances of the scores are meaningful."""
        del candidates
        low, high = min(values, default=0.0), max(values, default=0.0)
        return [(value - low) / (high - low) if high > low else 0.0 for value in values]
