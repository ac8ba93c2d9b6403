"""How certain it is that a candidate answers the question: a share that is calibrated, instead of a floor.

Nothing that has a signal of its own is left out for being weak. It is marked as weak, and the caller may cut.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from bethink.extend import Cosines
from bethink.memory.recall.candidates import Candidates
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.tuning import Tuning


class Backing(NamedTuple):
    """What speaks for one candidate: its total, and how near its vector is."""

    total: float
    near: float


def certainties(
    question: ParsedQuestion, evidence: Sequence[Backing], current: Sequence[int], *, tuning: Tuning, vectors: bool
) -> list[float]:
    """Return how likely each candidate is the answer, compared with those at the positions in `current`."""
    if question.only_when:
        return [tuning.certain_then] * len(evidence)
    totals = sorted((evidence[index].total for index in current), reverse=True)
    usual = tuning.unrelated_total if vectors else 0.0
    tenth = totals[tuning.lead_over] if len(totals) > tuning.lead_over else usual
    if not vectors:
        by = tuning.certainty_by_words
        return [_logistic(by.alone + by.lead * (each.total - tenth)) for each in evidence]
    nearest = sorted((evidence[index].near for index in current), reverse=True)
    others = nearest[tuning.near_over] if len(nearest) > tuning.near_over else tuning.near_unrelated
    by = tuning.certainty_by_vectors
    return [_logistic(by.alone + by.lead * (each.total - tenth) + by.near * (each.near - others)) for each in evidence]


def own_signal(question: ParsedQuestion, candidates: Candidates, cosines: Cosines) -> list[bool]:
    """Return whether each candidate itself has to do with the question, and does not only stand beside what has."""
    matched = len(candidates.matches)
    if question.only_when:
        said_then = [question.closeness(match.at) == 1 for match in candidates.matches]
        return said_then + [False] * (len(candidates.keys) - matched)
    near, replies = candidates.similarities, candidates.replies
    return [
        index < matched or index in replies or near.get(key, -1.0) > cosines.unrelated
        for index, key in enumerate(candidates.keys)
    ]


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))
