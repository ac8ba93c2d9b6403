"""How well a ranking finds the evidence, and how sure that figure is."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import NamedTuple

from benchmarks.sets import Question

_RESAMPLES = 1_000
_FEWEST = 3
"""With fewer conversations in a half, questions are drawn instead."""


class Prediction(NamedTuple):
    """How certain something was, between 0 and 1, and whether it was right."""

    certainty: float
    right: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A turn of the evidence that is not among the first ten, what was shown instead, and why, by rule."""

    question: str
    evidence: str
    shown: tuple[str, ...]
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one way of searching made of one question. `odd` says in which half its conversation is."""

    way: str
    conversation: str
    question: str
    category: str
    language: str = "en"
    odd: bool
    figures: dict[str, float]
    without: str | None = None
    """The signal that was switched off."""
    answers: tuple[Prediction, ...] = ()
    """How certain the surest item was, and whether it is evidence."""
    items: tuple[Prediction, ...] = ()
    """How certain each item was, and whether it is evidence."""
    misses: tuple[Miss, ...] = ()


def judged(question: Question, found: Sequence[str], sessions: Sequence[str] | None) -> dict[str, float]:
    """Judge a ranking of turns by their evidence; with sessions, a ranking of sessions by theirs.

    A question whose answer was never said is judged only by whether it got one, unless its sessions are named.
    """
    if question.answer is None:
        figures = {"never": float(bool(found))}
        return figures if sessions is None else figures | _ranked(question, found, sessions)
    answered = {} if not question.evidence else {"empty": float(not found)}
    return answered | _ranked(question, found, sessions)


def _ranked(question: Question, found: Sequence[str], sessions: Sequence[str] | None) -> dict[str, float]:
    named = {} if sessions is None else _sessions(question.evidence_sessions, sessions)
    return named | _turns(question.evidence, found)


def _turns(evidence: frozenset[str], found: Sequence[str]) -> dict[str, float]:
    if not evidence:
        return {}
    places = [place for place, each in enumerate(found, 1) if each in evidence]
    figures = {"hit@1": float(places[:1] == [1])}
    figures |= {f"R@{k}": sum(1 for place in places if place <= k) / len(evidence) for k in (5, 10, 20)}
    gain = sum(1 / math.log2(place + 1) for place in places if place <= 10)
    ideal = sum(1 / math.log2(place + 1) for place in range(1, min(10, len(evidence)) + 1))
    return figures | {
        "all@10": float(sum(1 for place in places if place <= 10) == len(evidence)),
        "MRR": 1 / places[0] if places else 0.0,
        "NDCG@10": gain / ideal,
    }


def _sessions(evidence: frozenset[str], ranked: Sequence[str]) -> dict[str, float]:
    top = set(ranked[:5])
    return {"every@5": float(evidence <= top), "any@5": float(bool(evidence & top))}


def mean(outcomes: Sequence[Outcome], name: str) -> float:
    """Return the mean of a figure over the questions that have it."""
    values = [outcome.figures[name] for outcome in outcomes if name in outcome.figures]
    return fmean(values) if values else math.nan


def interval(outcomes: Sequence[Outcome], name: str, *, seed: int) -> tuple[float, float]:
    """Return the range that holds the mean of a figure in 95 of 100 drawings of as many conversations.

    Conversations are drawn, not questions: those of one conversation are easy or hard together. Where there are fewer
    than three, questions are.
    """
    return _range(_by_conversation(outcomes, name), random.Random(seed))


def differ(outcomes: Sequence[Outcome], name: str, *, seed: int) -> tuple[float, float, float]:
    """Return how much the tuned half is better than the other, and the range of that by drawing both again."""
    halves = [_by_conversation([each for each in outcomes if each.odd is odd], name) for odd in (True, False)]
    if not all(halves):
        return math.nan, math.nan, math.nan
    draw = random.Random(seed)
    gaps = sorted(_drawn(halves[0], draw) - _drawn(halves[1], draw) for _ in range(_RESAMPLES))
    gap = _pooled(halves[0]) - _pooled(halves[1])
    return gap, gaps[int(0.025 * _RESAMPLES)], gaps[int(0.975 * _RESAMPLES)]


def beyond(
    outcomes: Sequence[Outcome], others: Sequence[Outcome], name: str, *, seed: int
) -> tuple[float, float, float]:
    """Return `differ` of what one way has beyond another: halves are easier or harder for both alike."""
    theirs = {other.question: other.figures[name] for other in others if name in other.figures}
    gains = [
        replace(outcome, figures={name: outcome.figures[name] - theirs[outcome.question]})
        for outcome in outcomes
        if name in outcome.figures and outcome.question in theirs
    ]
    return differ(gains, name, seed=seed)


def _by_conversation(outcomes: Sequence[Outcome], name: str) -> list[list[float]]:
    found: dict[str, list[float]] = {}
    for outcome in outcomes:
        if name in outcome.figures:
            found.setdefault(outcome.conversation, []).append(outcome.figures[name])
    if len(found) < _FEWEST:
        return [[value] for values in found.values() for value in values]
    return list(found.values())


def _range(groups: Sequence[Sequence[float]], draw: random.Random) -> tuple[float, float]:
    if not groups:
        return math.nan, math.nan
    means = sorted(_drawn(groups, draw) for _ in range(_RESAMPLES))
    return means[int(0.025 * _RESAMPLES)], means[int(0.975 * _RESAMPLES)]


def _drawn(groups: Sequence[Sequence[float]], draw: random.Random) -> float:
    return _pooled(draw.choices(groups, k=len(groups)))


def _pooled(groups: Sequence[Sequence[float]]) -> float:
    return sum(map(sum, groups)) / sum(map(len, groups))
