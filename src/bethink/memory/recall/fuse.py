"""Combine signals into one ranking: some are added, the others are bounded factors on their sum.

    score = (words + session + vector + window) · asks · date · speaker · quoted · entity · learned · recency · …

Words, session, vector and window are weighted and added for every candidate. With vectors, words and sessions weigh
less if no text has more than a stray word of the question. The texts of the best are then read, and each factor raises
or lowers their totals by at most its weight. The signals of installed packages are also factors. Only the date counts a
little by itself, because a question may ask about nothing but a time. Last, signals/exchange.py ranks exchanges.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from bethink.errors import ConfigurationError
from bethink.extend import Cosines
from bethink.memory.recall.candidates import Candidates, Ranked
from bethink.memory.recall.certainty import CandidateEvidence, certainties, have_own_signal
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.signals.asks import AsksSignal
from bethink.memory.recall.signals.base import RecallSignal, Scaled
from bethink.memory.recall.signals.date import DateSignal
from bethink.memory.recall.signals.entity import EntitySignal
from bethink.memory.recall.signals.exchange import NAME as EXCHANGE
from bethink.memory.recall.signals.exchange import Exchanges, going_on, rank_exchanges
from bethink.memory.recall.signals.learned import LearnedSignal
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
    """Return the added signals, including vectors if the scale of their cosines is known."""
    words: list[RecallSignal] = [WordsSignal(tuning), SessionSignal(tuning)]
    return words if cosines is None else [*words, VectorSignal(tuning, cosines), WindowSignal(tuning, cosines)]


def early_factors(tuning: Tuning) -> list[RecallSignal]:
    """Return the factors that need only a match, not its text. They help choose which texts to read."""
    return [DateSignal(tuning), SpeakerSignal(tuning)]


def factors(tuning: Tuning, *, now: bool) -> list[RecallSignal]:
    """Return all built-in factors, in the order in which they are applied."""
    about = [AsksSignal(tuning), *early_factors(tuning), QuotedSignal(tuning), EntitySignal(tuning)]
    return [*about, LearnedSignal(tuning), RecencySignal(tuning, now=now), UsageSignal(tuning)]


NAMES = frozenset(
    signal.name for signal in (*added_signals(TUNING, Cosines()), *factors(TUNING, now=False), RerankerSignal)
) | {EXCHANGE}
"""The names of the built-in signals."""


def max_total(tuning: Tuning) -> float:
    """Return the total that becomes a score of 1. Higher totals are capped: the other factors are small."""
    return (1 + tuning.date * (1 + tuning.date_alone)) * (1 + tuning.speaker)


class Column(NamedTuple):
    """One signal for all candidates: its raw values, and the same scaled to between 0 and 1."""

    name: str
    weight: float
    values: list[float]
    scaled: list[float]


class SummedSignals(NamedTuple):
    """The candidates with the signals that are added, and their totals."""

    candidates: Candidates
    columns: Sequence[Column]
    totals: list[float]
    reliability: float = 1.0
    """The factor of the weights of words and session."""


def column(signal: RecallSignal, question: ParsedQuestion, candidates: Candidates) -> Column:
    """Ask a signal about all candidates."""
    values = signal.score(question, candidates)
    # By name: comparing with the protocol, for every signal and question, takes longer than most signals.
    scaled = cast("Scaled", signal).scale(values, candidates) if hasattr(signal, "scale") else values
    return Column(signal.name, signal.weight, values, scaled)


def sum_signals(
    question: ParsedQuestion, candidates: Candidates, signals: Sequence[RecallSignal], tuning: Tuning
) -> SummedSignals:
    """Add up signals, each by its share of their weights, and words and session by how reliable they are."""
    all_weights = sum(signal.weight for signal in signals)
    columns = [column(signal, question, candidates) for signal in signals]
    reliability = _reliability(candidates, columns, tuning)
    by_words = (WordsSignal.name, SessionSignal.name)
    totals, shares = [0.0] * len(candidates.keys), list[Column]()
    for signal_column in columns:
        weight = signal_column.weight * (reliability if signal_column.name in by_words else 1.0)
        totals = [total + weight * value for total, value in zip(totals, signal_column.scaled, strict=True)]
        shares.append(signal_column._replace(weight=weight / all_weights))
    return SummedSignals(candidates, shares, [total / all_weights for total in totals], reliability)


def _reliability(candidates: Candidates, columns: Sequence[Column], tuning: Tuning) -> float:
    """Return how much words count, compared with vectors: little if the best text has only a stray word.

    It is 1 for about two words in a text of typical length, without vectors to compare with, and without
    `words_matched`, in a language that the embedder does not support.
    """
    if len(columns) <= 2 or not tuning.words_matched:
        return 1.0
    words = next(signal_column for signal_column in columns if signal_column.name == WordsSignal.name)
    best: float = max(candidates.current(words.scaled), default=0.0)
    matched = 2 * candidates.matched / (candidates.matched + tuning.words_matched)
    return matched * best**tuning.words_covered


def select_best(question: ParsedQuestion, summed: SummedSignals, count: int, tuning: Tuning) -> list[int]:
    """Return the positions of the `count` best candidates, and of as many outdated ones."""
    estimates = summed.totals.copy()
    for signal in early_factors(tuning):
        factor = column(signal, question, summed.candidates)
        for index, added in _changes(factor, estimates, tuning):
            estimates[index] += added
    outdated = summed.candidates.outdated
    order = sorted(range(len(estimates)), key=estimates.__getitem__, reverse=True)
    if not outdated:
        return order[:count]
    current = [index for index in order if index not in outdated]
    return [*current[:count], *[index for index in order if index in outdated][:count]]


def rank_candidates(
    question: ParsedQuestion,
    summed: SummedSignals,
    pool: Candidates,
    *,
    tuning: Tuning,
    cosines: Cosines | None = None,
    extra: Sequence[RecallSignal] = (),
    explain: bool,
) -> list[Ranked]:
    """Return the candidates whose texts were read, best first; with `explain`, also their signals and ranks."""
    totals = [summed.totals[index] for index in pool.positions]
    parts = [_signals_at(summed, index) if explain else {} for index in pool.positions]
    columns = [column(signal, question, pool) for signal in factors(tuning, now=question.now)]
    columns += [_clamp_signal(column(signal, question, pool), len(pool.keys)) for signal in extra]
    for signal_column in columns:
        for index, added in _changes(signal_column, totals, tuning):
            totals[index] += added
            if explain:
                parts[index][signal_column.name] = Signal(
                    signal_column.values[index], signal_column.scaled[index], added
                )
    by_name = {signal_column.name: signal_column.scaled for signal_column in columns}
    exchanges = rank_exchanges(question, pool, totals, by_name, tuning)
    if explain:
        for part, before, after in zip(parts, totals, exchanges.totals, strict=True):
            if after != before:
                part[EXCHANGE] = Signal(after - before, after - before, after - before)
    totals, orders = exchanges.totals, _orders(summed) if explain else {}
    own = have_own_signal(question, summed.candidates, cosines or Cosines())
    relevant = exchanges.are_relevant([own[before] for before in pool.positions])
    certain = _certainties(question, summed, pool, exchanges, asking=by_name[AsksSignal.name], tuning=tuning)
    order = sorted(range(len(totals)), key=lambda index: (-totals[index], pool.keys[index]))
    fair = [index for index in order if relevant[index] and certain[index] >= tuning.fair]
    for index in going_on(pool, [] if question.only_about_time else fair, tuning):
        relevant[index] = True
    top, matches, outdated = max_total(tuning), summed.candidates.matches, summed.candidates.outdated
    ordered: list[Ranked] = []
    for rank, index in enumerate(order, 1):
        total, before = totals[index], pool.positions[index]
        score = max(0.0, min(1.0, total / top))
        fate, because_of = (matches[before].fate, matches[before].because_of) if before in outdated else (None, None)
        ordered.append(
            Ranked(
                pool.texts[index].ref,
                score,
                _scale_added(parts[index], score / total if total else 0.0),
                {"fused": rank} | {name: order[before] for name, order in orders.items()},
                certain[index],
                relevant[index],
                fate,
                because_of,
            )
        )
    return ordered


def _certainties(
    question: ParsedQuestion,
    summed: SummedSignals,
    pool: Candidates,
    exchanges: Exchanges,
    *,
    asking: Sequence[float],
    tuning: Tuning,
) -> list[float]:
    """Return the certainty of each candidate, lowered for text that only asks (`asking`)."""
    scaled = next(
        (signal_column.scaled for signal_column in summed.columns if signal_column.name == VectorSignal.name), None
    )
    near = None if scaled is None else exchanges.lend([scaled[before] for before in pool.positions])
    full_coverage = tuning.covered_counts * summed.columns[0].weight / summed.reliability if summed.reliability else 0.0
    covered = summed.candidates.covered
    evidence: list[CandidateEvidence] = []
    for index, (before, text) in enumerate(zip(pool.positions, pool.texts, strict=True)):
        # Words weigh less in a long text, but the text still contains the words of the question.
        floor = full_coverage * covered[before] if len(text.text) > tuning.long_characters else 0.0
        evidence.append(
            CandidateEvidence(text, max(exchanges.totals[index], floor), 0.0 if near is None else near[index])
        )
    current = [index for index, text in enumerate(pool.texts) if index not in pool.outdated and text.fate is None]
    probabilities = certainties(
        question, evidence, current, tuning=tuning, vectors=near is not None, openings=pool.openings
    )  # fmt: skip
    worth, unmatched = summed.candidates.worth, summed.candidates.unmatched
    matched = min(1.0, tuning.pieces_counts * worth / (worth + unmatched)) if unmatched else 1.0
    return [matched * certain * (1 + share) for certain, share in zip(probabilities, asking, strict=True)]


def rerank(question: ParsedQuestion, head: Sequence[Ranked], signal: RerankerSignal) -> list[Ranked]:
    """Sort the best few again, with the reranker as one more factor: what only asks or repeats remains lowered."""
    reranked = column(signal, question, Candidates(keys=[candidate.ref.parts for candidate in head]))
    added = [candidate.score * reranked.weight * value for candidate, value in zip(head, reranked.scaled, strict=True)]
    mixed = [candidate.score + more for candidate, more in zip(head, added, strict=True)]
    order = sorted(range(len(head)), key=lambda index: (-mixed[index], index))
    return [
        head[index]._replace(
            score=min(1.0, mixed[index]),
            signals=_scale_added(
                {
                    **head[index].signals,
                    reranked.name: Signal(reranked.values[index], reranked.scaled[index], added[index]),
                },
                min(1.0, 1 / mixed[index]) if mixed[index] else 1.0,
            ),
            ranks={**head[index].ranks, "reranked": rank},
        )
        for rank, index in enumerate(order, 1)
    ]


def _changes(factor: Column, totals: Sequence[float], tuning: Tuning) -> Iterator[tuple[int, float]]:
    """Yield the change that a factor makes to each total."""
    alone = tuning.date_alone if factor.name == DateSignal.name else 0.0
    for index, value in enumerate(factor.scaled):
        if value:
            yield index, factor.weight * value * (alone + totals[index])


def _clamp_signal(factor: Column, count: int) -> Column:
    """Clamp the signal of an installed package to the range of the built-in ones."""
    if len(factor.scaled) != count or len(factor.values) != count or not all(map(math.isfinite, factor.scaled)):
        raise ConfigurationError(
            f"The signal {factor.name} did not return a finite number for each of {count} candidates.",
            hint="Update or uninstall the package that registers it under bethink.signals.",
        )
    return factor._replace(scaled=[max(-1.0, min(1.0, value)) for value in factor.scaled])


def _signal_at(signal_column: Column, index: int) -> Signal:
    return Signal(
        signal_column.values[index], signal_column.scaled[index], signal_column.weight * signal_column.scaled[index]
    )


def _signals_at(summed: SummedSignals, index: int) -> dict[str, Signal]:
    return {part.name: _signal_at(part, index) for part in summed.columns}


def _scale_added(signals: dict[str, Signal], factor: float) -> dict[str, Signal]:
    """Scale the contribution of each signal, so that they add up to the score."""
    return {name: Signal(signal.raw, signal.normalized, signal.added * factor) for name, signal in signals.items()}


def _orders(summed: SummedSignals) -> dict[str, list[int]]:
    """Return the rank of each candidate under each added signal."""
    return {signal_column.name: _order(summed.candidates, signal_column.values) for signal_column in summed.columns}


def _order(candidates: Candidates, values: Sequence[float]) -> list[int]:
    """Return the rank of each candidate under one signal."""
    keys, ranks = candidates.keys, [0] * len(values)
    for rank, index in enumerate(sorted(range(len(values)), key=lambda index: (-values[index], keys[index])), 1):
        ranks[index] = rank
    return ranks
