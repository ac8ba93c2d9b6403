"""The share of the question's words that a candidate has, in part through the messages around it."""

import math
from collections.abc import Sequence

from bethink.memory.recall.candidates import Candidates
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.tuning import Tuning


class WordsSignal:
    """A rare word counts more than a common one, and a word that is repeated counts little more than once."""

    name = "words"

    def __init__(self, tuning: Tuning) -> None:
        self.weight = tuning.words
        self._saturation = tuning.saturation

    def score(self, question: ParsedQuestion, candidates: Candidates) -> list[float]:
        """Return the worth of its words."""
        del question  # its words are counted
        values, saturation = [0.0] * len(candidates.keys), self._saturation
        for word in candidates.counts:
            worth = word.worth
            for index, share in word.shares.items():
                values[index] += worth * share / (share + saturation)
        return values

    def scale(self, values: Sequence[float], candidates: Candidates) -> list[float]:
        """Return 1 for a text of typical length that has every word once, and a low value for one word of many."""
        if candidates.worth <= 0:
            return [0.0] * len(values)
        full_worth = candidates.worth / (1 + self._saturation)
        return [
            min(1.0, value / full_worth) * math.sqrt(covered) if value else 0.0
            for value, covered in zip(values, candidates.covered, strict=True)
        ]
