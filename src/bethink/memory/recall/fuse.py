"""From signals to one ranking: some signals are added, the others are bounded factors on their sum.

    score = (words + session + vector + window) · asks · date · speaker · quoted · entity · learnt · recency · usage · …

Words, session, vector and window are weighted and added for every candidate. The texts of the best are then read, and
each factor raises or lowers their totals by at most its weight. The signals of installed packages are factors, too.
Only the date counts a little without anything else: a question may ask about nothing but a time.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from bethink.errors import Misconfigured
from bethink.extend import Cosines
from bethink.memory.recall.candidates import Candidates, Ranked
from bethink.memory.recall.certainty import Backing, certainties, own_signal
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.signals.asks import AsksSignal
from bethink.memory.recall.signals.base import RecallSignal, Scaled
from bethink.memory.recall.signals.date import DateSignal
from bethink.memory.recall.signals.entity import EntitySignal
from bethink.memory.recall.signals.learnt import LearntSignal
from bethink.memory.recall.signals.quoted import QuotedSignal
from bethink.memory.recall.signals.recency import RecencySignal
from bethink.memory.recall.signals.reranker import RerankerSignal
from bethink.memory.recall.signals.session import SessionSignal
from bethink.memory.recall.signals.speaker import SpeakerSignal
from bethink.memory.recall.signals.usage import UsageSignal
from bethink.memory.recall.signals.vector import VectorSignal
from bethink.memory.recall.signals.window import WindowSignal
from bethink.memory.recall.signals.words import WordsSignal
from bethink.memory.recall.tuning import TUNING, Tuning
from bethink.model.recall import Signal


def added_signals(tuning: Tuning, cosines: Cosines | None) -> list[RecallSignal]:
    """Return the signals that are added, with vectors if it is known what their cosines mean."""
    words: list[RecallSignal] = [WordsSignal(tuning), SessionSignal(tuning)]
    return words if cosines is None else [*words, VectorSignal(tuning, cosines), WindowSignal(tuning, cosines)]


def early_factors(tuning: Tuning) -> list[RecallSignal]:
    """Return the factors that a match allows already: what they lift must be among the candidates that are read."""
    return [DateSignal(tuning), SpeakerSignal(tuning)]


def factors(tuning: Tuning, *, now: bool) -> list[RecallSignal]:
    """Return all factors of ours, in the order in which they are applied."""
    about = [AsksSignal(tuning), *early_factors(tuning), QuotedSignal(tuning), EntitySignal(tuning)]
    return [*about, LearntSignal(tuning), RecencySignal(tuning, now=now), UsageSignal(tuning)]


NAMES = frozenset(
    signal.name for signal in (*added_signals(TUNING, Cosines()), *factors(TUNING, now=False), RerankerSignal)
)
"""The names of our signals."""


def highest(tuning: Tuning) -> float:
    """Return the total that becomes a score of 1. The other factors are so small that more is cut."""
    return (1 + tuning.date * (1 + tuning.date_alone)) * (1 + tuning.speaker)


class Column(NamedTuple):
    """One signal for all candidates: its own values, and the same between 0 and 1."""

    name: str
    weight: float
    values: list[float]
    scaled: list[float]


class Sum(NamedTuple):
    """The candidates with the signals that are added, and their totals."""

    candidates: Candidates
    columns: Sequence[Column]
    totals: list[float]


def column(signal: RecallSignal, question: ParsedQuestion, candidates: Candidates) -> Column:
    """Ask a signal about all candidates."""
    values = signal.score(question, candidates)
    # By name: comparing with the protocol, for every signal and question, takes longer than most signals.
    scaled = cast("Scaled", signal).scale(values, candidates) if hasattr(signal, "scale") else values
    return Column(signal.name, signal.weight, values, scaled)


def add(question: ParsedQuestion, candidates: Candidates, signals: Sequence[RecallSignal]) -> Sum:
    """Add up signals, each by its share of their weights."""
    all_weights = sum(signal.weight for signal in signals)
    columns = [column(signal, question, candidates) for signal in signals]
    totals = [0.0] * len(candidates.keys)
    for each in columns:
        weight = each.weight
        totals = [total + weight * value for total, value in zip(totals, each.scaled, strict=True)]
    shares = [each._replace(weight=each.weight / all_weights) for each in columns]
    return Sum(candidates, shares, [total / all_weights for total in totals])


def best(question: ParsedQuestion, found: Sum, count: int, tuning: Tuning) -> list[int]:
    """Return the positions of the most promising candidates, and of as many outdated ones."""
    estimates = found.totals.copy()
    for signal in early_factors(tuning):
        each = column(signal, question, found.candidates)
        for index, added in _factored(each, estimates, tuning):
            estimates[index] += added
    gone = found.candidates.gone
    order = sorted(range(len(estimates)), key=estimates.__getitem__, reverse=True)
    if not gone:
        return order[:count]
    current = [index for index in order if index not in gone]
    return [*current[:count], *[index for index in order if index in gone][:count]]


def ranked(
    question: ParsedQuestion,
    found: Sum,
    pool: Candidates,
    *,
    tuning: Tuning,
    cosines: Cosines | None = None,
    extra: Sequence[RecallSignal] = (),
    explain: bool,
) -> list[Ranked]:
    """Return the candidates whose texts were read, best first; with `explain`, also their signals and ranks."""
    totals = [found.totals[index] for index in pool.positions]
    parts = [_parts(found, index) if explain else {} for index in pool.positions]
    columns = [column(signal, question, pool) for signal in factors(tuning, now=question.now)]
    columns += [_bounded(column(signal, question, pool), len(pool.keys)) for signal in extra]
    for each in columns:
        for index, added in _factored(each, totals, tuning):
            totals[index] += added
            if explain:
                parts[index][each.name] = Signal(each.values[index], each.scaled[index], added)
    orders = {each.name: _order(found.candidates, each.values) for each in found.columns} if explain else {}
    shown = own_signal(question, found.candidates, cosines or Cosines())
    asking = next(each.values for each in columns if each.name == AsksSignal.name)
    certain = _certain(question, found, pool, totals, asking=asking, tuning=tuning)
    top, matches, gone = highest(tuning), found.candidates.matches, found.candidates.gone
    ordered: list[Ranked] = []
    for rank, index in enumerate(sorted(range(len(totals)), key=lambda index: (-totals[index], pool.keys[index])), 1):
        total, before = totals[index], pool.positions[index]
        score = max(0.0, min(1.0, total / top))
        fate, by = (matches[before].fate, matches[before].because_of) if before in gone else (None, None)
        ordered.append(
            Ranked(
                pool.texts[index].ref,
                score,
                _scaled(parts[index], score / total if total else 0.0),
                {"fused": rank} | {name: order[before] for name, order in orders.items()},
                certain[index],
                shown[before],
                fate,
                by,
            )
        )
    return ordered


def _certain(
    question: ParsedQuestion,
    found: Sum,
    pool: Candidates,
    totals: Sequence[float],
    *,
    asking: Sequence[float],
    tuning: Tuning,
) -> list[float]:
    """Return how certain each candidate is; what only asks, by `asking`, is not."""
    near = next((each.scaled for each in found.columns if each.name == VectorSignal.name), None)
    covered, whole = found.candidates.covered, tuning.covered_counts * found.columns[0].weight
    evidence: list[Backing] = []
    for total, before, text in zip(totals, pool.positions, pool.texts, strict=True):
        # In a long text words weigh less, but who asks for them has found them all the same.
        least = whole * covered[before] if len(text.text) > tuning.long_characters else 0.0
        evidence.append(Backing(max(total, least), 0.0 if near is None else near[before]))
    current = [index for index, text in enumerate(pool.texts) if index not in pool.gone and text.fate is None]
    found_certain = certainties(question, evidence, current, tuning=tuning, vectors=near is not None)
    worth, unmatched = found.candidates.worth, found.candidates.unmatched
    matched = min(1.0, tuning.pieces_counts * worth / (worth + unmatched)) if unmatched else 1.0
    return [matched * certain * (1 + share) for certain, share in zip(found_certain, asking, strict=True)]


def rerank(question: ParsedQuestion, head: Sequence[Ranked], signal: RerankerSignal) -> list[Ranked]:
    """Sort the best few again: the reranker is added to the score that they have."""
    keys = Candidates(keys=[each.ref.parts for each in head])
    judged = column(signal, question, keys)
    mixed = [each.score + judged.weight * value for each, value in zip(head, judged.scaled, strict=True)]
    order = sorted(range(len(head)), key=lambda index: (-mixed[index], index))
    return [
        head[index]._replace(
            score=min(1.0, mixed[index]),
            signals=_scaled(
                {**head[index].signals, judged.name: _signal(judged, index)},
                min(1.0, 1 / mixed[index]) if mixed[index] else 1.0,
            ),
            ranks={**head[index].ranks, "reranked": rank},
        )
        for rank, index in enumerate(order, 1)
    ]


def _factored(each: Column, totals: Sequence[float], tuning: Tuning) -> Iterator[tuple[int, float]]:
    """Return what a factor adds to each total that it changes."""
    alone = tuning.date_alone if each.name == DateSignal.name else 0.0
    for index, value in enumerate(each.scaled):
        if value:
            yield index, each.weight * value * (alone + totals[index])


def _bounded(each: Column, count: int) -> Column:
    """Keep the signal of another package within the bounds of ours."""
    if len(each.scaled) != count or len(each.values) != count or not all(map(math.isfinite, each.scaled)):
        raise Misconfigured(
            f"the signal {each.name} did not return a finite number for each of {count} candidates.",
            hint="Update or uninstall the package that registers it under bethink.signals.",
        )
    return each._replace(scaled=[max(-1.0, min(1.0, value)) for value in each.scaled])


def _signal(each: Column, index: int) -> Signal:
    return Signal(each.values[index], each.scaled[index], each.weight * each.scaled[index])


def _parts(found: Sum, index: int) -> dict[str, Signal]:
    return {each.name: _signal(each, index) for each in found.columns}


def _scaled(signals: dict[str, Signal], by: float) -> dict[str, Signal]:
    """Scale what each signal added, so that the parts add up to the score."""
    return {name: Signal(each.raw, each.normalised, each.added * by) for name, each in signals.items()}


def _order(candidates: Candidates, values: Sequence[float]) -> list[int]:
    """Return the rank of each candidate by one signal."""
    keys, ranks = candidates.keys, [0] * len(values)
    for rank, index in enumerate(sorted(range(len(values)), key=lambda index: (-values[index], keys[index])), 1):
        ranks[index] = rank
    return ranks
