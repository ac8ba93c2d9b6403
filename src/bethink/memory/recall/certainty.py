"""The certainty that a candidate answers the question: a calibrated probability instead of a cut-off.

A candidate with a signal of its own is never dropped for being weak. It is marked as weak, and the caller may filter.
An answer is certain if it leads: over the tenth, which is as good as any other text, and over its best rival, which
says something else about the same matter.
"""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import NamedTuple

from bethink.extend import Cosines
from bethink.memory.phrases.changes import changes
from bethink.memory.phrases.values import calendar_words, is_time, numbers
from bethink.memory.recall.asking import asks_for_present
from bethink.memory.recall.candidates import Candidates
from bethink.memory.recall.dates import spans
from bethink.memory.recall.duplicates import Openings, meaning_of
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.tuning import Tuning
from bethink.model.moments import from_micros
from bethink.model.refs import RefKind
from bethink.store.search import Text


class CandidateEvidence(NamedTuple):
    """The evidence for one candidate: its text, its total, and how near its vector is."""

    text: Text
    total: float
    near: float


def certainties(
    question: ParsedQuestion,
    evidence: Sequence[CandidateEvidence],
    current: Sequence[int],
    *,
    tuning: Tuning,
    vectors: bool,
    openings: Openings | None = None,
) -> list[float]:
    """Return the probability that each candidate is the answer, compared with those at the positions in `current`."""
    if question.only_about_time:
        return [tuning.certainty_at_time] * len(evidence)
    unrelated = tuning.unrelated_total if vectors else 0.0
    rivals = _Rivals([evidence[index] for index in current], unrelated, Openings() if openings is None else openings)
    weights = tuning.certainty_by_vectors if vectors else tuning.certainty_by_words
    usual_total = rivals.total_at(tuning.lead_over)
    nearest = sorted((evidence[index].near for index in current), reverse=True)
    usual_near = nearest[tuning.near_over] if len(nearest) > tuning.near_over else tuning.near_unrelated
    result = [
        _logistic(
            weights.alone
            + weights.total * (candidate.total - usual_total)
            + weights.lead * max(0.0, min(tuning.max_lead, rivals.lead(candidate)))
            + weights.near * (candidate.near - usual_near)
        )
        for candidate in evidence
    ]
    certain = [
        index
        for index, probability in enumerate(result)
        if probability >= tuning.high and evidence[index].text.ref.kind is RefKind.MESSAGE
    ]
    if certain:
        are_long = rivals.mean_length() > tuning.long_messages  # they touch many matters, so shared words prove little
        for index in certain:
            if are_long or _may_not_answer(question, evidence[index], rivals, tuning):
                result[index] = tuning.doubtful_until
    return result


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


class _Rivals:
    """The current candidates, best first, to compare one with those that say something else."""

    def __init__(self, current: Sequence[CandidateEvidence], unrelated: float, openings: Openings) -> None:
        self._best = sorted(current, key=lambda candidate: -candidate.total)
        self._unrelated = unrelated
        self._openings = openings

    def total_at(self, rank: int) -> float:
        """Return the total of the candidate at a rank, from 0, or that of an unrelated text if there are fewer."""
        return self._best[rank].total if len(self._best) > rank else self._unrelated

    def mean_length(self) -> float:
        """Return the mean number of characters of the messages."""
        lengths = [len(other.text.text) for other in self._best if other.text.ref.kind is RefKind.MESSAGE]
        return fmean(lengths) if lengths else 0.0

    def lead(self, candidate: CandidateEvidence, *, later: bool = False) -> float:
        """Return how far a candidate is above its best rival, or above the best that its speaker said later."""
        rivals = self._later(candidate) if later else iter(self._best)
        rival = next((other for other in rivals if self._is_rival(candidate.text, other.text)), None)
        return candidate.total - (self._unrelated if rival is None else rival.total)

    def _is_rival(self, text: Text, other: Text) -> bool:
        """Return whether another text says something else."""
        if not _may_be_rival(text, other):
            return False
        if self._openings[other.text] != self._openings[text.text]:
            return True
        return meaning_of(other.text) != meaning_of(text.text)

    def _later(self, candidate: CandidateEvidence) -> Iterator[CandidateEvidence]:
        text = candidate.text
        return (
            other
            for other in self._best
            if other.text.at > text.at and (other.text.role, other.text.name) == (text.role, text.name)
        )


def _may_not_answer(question: ParsedQuestion, candidate: CandidateEvidence, rivals: _Rivals, tuning: Tuning) -> bool:
    """Return whether a message may not, or no longer, answer a question about the present.

    The question asks when, and the message names no time; or its speaker said something later that is nearly as good;
    or the question asks what is true now, and the message does not say that anything changed.
    """
    words = changes(question.language)
    if words is None or not asks_for_present(question):
        return False
    if words.asks_when(question.text) and not _names_time(candidate.text):
        return True
    if (question.now or words.says_changed(question.text)) and not words.says_changed(candidate.text.text):
        return True
    return rivals.lead(candidate, later=True) < tuning.lead_over_later


def _names_time(text: Text) -> bool:
    """Return whether a text names a day, a date or a time of day."""
    said_at = from_micros(text.at)
    return any(map(is_time, numbers(text.text))) or any(calendar_words(text.text)) or bool(spans(text.text, said_at))


def _may_be_rival(text: Text, other: Text) -> bool:
    """Return whether another text is of the same kind, and may say something else.

    A fact is no rival of the messages that it was learned from, and neither are the two messages of an exchange.
    """
    if other.ref.kind is not text.ref.kind or other.ref == text.ref or other.text == text.text:
        return False
    is_exchange = other.ref.id == text.ref.id and abs(other.ref.number - text.ref.number) == 1
    return not (text.ref.kind is RefKind.MESSAGE and is_exchange and other.role != text.role)


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))
