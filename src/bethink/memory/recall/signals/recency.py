"""The age of a candidate, compared with the newest."""

from collections.abc import Sequence

from bethink.memory.recall.candidates import Candidates
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.tuning import Tuning
from bethink.model.moments import DAY, Micros


class RecencySignal:
    """The days since the newest candidate. It breaks ties, and counts more if the question asks about the present."""

    name = "recency"

    def __init__(self, tuning: Tuning, *, now: bool) -> None:
        self.weight = tuning.recency_now if now else tuning.recency
        self._half = tuning.recency_days

    def score(self, question: ParsedQuestion, candidates: Candidates) -> list[float]:
        """Return the age in days."""
        del question  # whether it asks about now is in the weight
        texts, outdated = candidates.texts, candidates.outdated
        current = (text.at for index, text in enumerate(texts) if text.fate is None and index not in outdated)
        newest = max(current, default=Micros(0))
        return [max(0.0, (newest - text.at) / DAY) for text in texts]

    def scale(self, values: Sequence[float], candidates: Candidates) -> list[float]:
        """Return 1 for the newest, and half at the age that counts half."""
        del candidates
        return [1 / (1 + age / self._half) for age in values]
