"""The certainty that a candidate answers the question: a calibrated probability instead of a cut-off.

A candidate with a signal of its own is never dropped for being weak. It is marked as weak, and the caller may filter.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from bethink.extend import Cosines
from bethink.memory.recall.candidates import Candidates
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.tuning import Tuning


class CandidateEvidence(NamedTuple):
    """The evidence for one candidate: its total, and how near its vector is."""

    total: float
    near: float


def certainties(
    question: ParsedQuestion,
    evidence: Sequence[CandidateEvidence],
    current: Sequence[int],
    *,
    tuning: Tuning,
    vectors: bool,
) -> list[float]:
    """Return the probability that each candidate is the answer, compared with those at the positions in `current`."""
    if question.only_about_time:
        return [tuning.certainty_at_time] * len(evidence)
    totals = sorted((evidence[index].total for index in current), reverse=True)
    default_total = tuning.unrelated_total if vectors else 0.0
    base_total = totals[tuning.lead_over] if len(totals) > tuning.lead_over else default_total
    if not vectors:
        weights = tuning.certainty_by_words
        return [_logistic(weights.alone + weights.lead * (candidate.total - base_total)) for candidate in evidence]
    nearest = sorted((evidence[index].near for index in current), reverse=True)
    base_near = nearest[tuning.near_over] if len(nearest) > tuning.near_over else tuning.near_unrelated
    weights = tuning.certainty_by_vectors
    return [
        _logistic(
            weights.alone + weights.lead * (candidate.total - base_total) + weights.near * (candidate.near - base_near)
        )
        for candidate in evidence
    ]


def have_own_signal(question: ParsedQuestion, candidates: Candidates, cosines: Cosines) -> list[bool]:
    """Return for each candidate whether it is relevant itself, and not only next to a relevant message."""
    matched = len(candidates.matches)
    if question.only_about_time:
        at_that_time = [question.closeness(match.at) == 1 for match in candidates.matches]
        return at_that_time + [False] * (len(candidates.keys) - matched)
    near, replies = candidates.similarities, candidates.replies
    return [
        index < matched or index in replies or near.get(key, -1.0) > cosines.unrelated
        for index, key in enumerate(candidates.keys)
    ]


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))
