"""Prove the numbers of a sentence: the cited memories state them, or they are calculated from what these state."""

from collections.abc import Sequence
from datetime import date

from bethink.base.frozen import frozen
from bethink.memory.answering.amounts import Amount, ClockTime
from bethink.memory.answering.claims import Claim, Derived, cues_in, is_total_in, operands_in
from bethink.memory.answering.derive import derive_amount
from bethink.memory.answering.elapsed import derive_clock_time, is_shifted
from bethink.memory.answering.sources import Source
from bethink.memory.answering.working import ShownWorking
from bethink.memory.learning.extraction.grounding import foreign_numbers
from bethink.memory.recall.dates import DateSpan
from bethink.model.answers import SentenceFault
from bethink.model.moments import from_micros
from bethink.model.refs import Ref
from bethink.model.words import has_digit, key_stems, words_of

_SMALL_COUNT = 20
_OPEN = ("range", "open", "decade", "hour")
"""Times that are not compared with a date, because they are open or vague."""


@frozen
class Figures:
    """The proven numbers of a sentence: the memories with their operands, and the calculations, if any."""

    refs: frozenset[Ref] = frozenset()
    stems: frozenset[str] = frozenset()
    """Stems of proven dates, numbers and measures, which may be written in another way."""
    working: str | None = None


def prove_figures(claim: Claim, calculation: ShownWorking | None) -> Figures | SentenceFault:
    """Return how the numbers of a sentence are proven, or its fault. `calculation` is that of the model."""
    if calculation is not None and not calculation.is_valid:
        return SentenceFault.WRONG_CALCULATION
    proofs = [
        *(_prove_amount(claim, amount, calculation) for amount in claim.reading.amounts),
        *(_prove_clock_time(claim, time, calculation) for time in claim.reading.clock_times),
        _prove_dates(claim),
    ]
    derived = [proof for proof in proofs if isinstance(proof, Derived)]
    if None in proofs or _has_other_numbers(claim):
        return SentenceFault.FOREIGN_NUMBER
    reading = claim.reading
    stems = key_stems(reading.date_words).union(*(key_stems(time.text) for time in reading.clock_times))
    stems |= frozenset[str]().union(*(key_stems(amount.text) - amount.nouns for amount in reading.amounts))
    return Figures(
        refs=frozenset(ref for proof in derived for ref in proof.refs),
        stems=stems,
        working="; ".join(dict.fromkeys(proof.text for proof in derived)) or None,
    )


def _prove_amount(claim: Claim, amount: Amount, calculation: ShownWorking | None) -> Derived | bool | None:
    """Return the calculation of an amount, True if a cited memory states it, or None."""
    if calculation is not None and calculation.proves(amount):
        return Derived(text=calculation.text, refs=calculation.refs)
    return _is_stated(claim, amount) or derive_amount(claim, amount)


def _prove_clock_time(claim: Claim, time: ClockTime, calculation: ShownWorking | None) -> Derived | bool | None:
    """Return the calculation of a time of day, True if a cited memory states it, or None."""
    if calculation is not None and calculation.proves_time(time):
        return Derived(text=calculation.text, refs=calculation.refs)
    times = (other for source in claim.cited for other in source.clock_times)
    is_stated = any(time.equals(other) for other in times) and not is_shifted(claim)
    return is_stated or derive_clock_time(claim, time)


def _prove_dates(claim: Claim) -> Derived | bool | None:
    """Return the calculation of "8 days ago", True if the cited memories have the dates of a sentence, or None."""
    return _days_ago(claim) or _has_dates(claim) or None


def _is_stated(claim: Claim, amount: Amount) -> bool:
    """Return whether a cited memory states an amount. One of several operands is not their total or difference."""
    amount = claim.with_unit(amount)
    cues = cues_in(claim.reading.text)
    is_result = bool(cues) and len(operands_in(claim, amount)) > 1
    for source in claim.cited:
        says_so = not is_result or cues <= cues_in(source.text)
        for other in source.amounts:
            is_total = other.is_total and is_total_in(claim.reading.text)
            if amount.equals(other) and (says_so or is_total) and not _is_other_count(claim, amount, other):
                return True
        if amount.measure is None and says_so and amount.value in source.other_numbers:
            return True
    return False


def _is_other_count(claim: Claim, amount: Amount, other: Amount) -> bool:
    """Return whether a small number counts something else in one of several memories."""
    return (
        len(claim.cited) > 1
        and amount.value <= _SMALL_COUNT
        and bool(amount.nouns and other.nouns)
        and not amount.shares_noun(other)
    )


def _days_ago(claim: Claim) -> Derived | None:
    reading = claim.reading
    if claim.now is None or not _is_ago(reading.date_words) or len(reading.spans) != 1:
        return None
    for source in claim.cited:
        for day in source.event_days:
            if _has_day(reading.spans[0], [day.first]):
                text = f"{day} to {claim.now.date()} = {reading.date_words}"
                return Derived(text=text, refs=(source.item.ref,))
    return None


def _is_ago(dates: str) -> bool:
    return "ago" in words_of(dates)


def _has_dates(claim: Claim) -> bool:
    """Return whether the cited memories have the dates of a sentence, by their day, week, month or year."""
    reading = claim.reading
    if not (has_digit(reading.date_words) or _is_ago(reading.date_words)):
        return True
    is_closed = all(span.precision not in _OPEN for span in reading.spans)
    is_ago = claim.now is not None and _is_ago(reading.date_words)
    days = [point.first for source in claim.cited for point in (source.event_days if is_ago else source.days)]
    if is_closed and all(_has_day(span, days) for span in reading.spans):
        return True
    return not (is_ago and is_closed) and _says_in_words(reading.date_words, claim.cited)


def _has_day(span: DateSpan, days: Sequence[date]) -> bool:
    start, end = from_micros(span.start).date(), from_micros(span.end).date()
    return any(start <= day < end for day in days)


def _says_in_words(dates: str, cited: Sequence[Source]) -> bool:
    """Return whether the memories have all words of the dates of a sentence."""
    return set(words_of(dates)) <= {word for source in cited for word in words_of(source.line)}


def _has_other_numbers(claim: Claim) -> bool:
    """Return whether digits that are no amount, such as those of a name, are in no cited memory."""
    remaining = claim.reading.plain
    for amount in claim.reading.amounts:
        remaining = remaining[: amount.start] + " " * (amount.end - amount.start) + remaining[amount.end :]
    numbers = {number for source in claim.cited for number in source.numbers}
    return bool(foreign_numbers(remaining, numbers, dates=(), year=claim.reading.at.year))
