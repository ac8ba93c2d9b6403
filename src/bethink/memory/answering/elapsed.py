"""Derive the time between two dates or times of day, and a time of day before or after another.

between     two dates of the sentence, of two memories, or one date and today
periods     memories that start and end something, added
clock       "15 minutes earlier" than the time of day of another memory, or the time between two
"""

import re
from collections.abc import Sequence
from itertools import cycle, product

from bethink.memory.answering.amounts import Amount, ClockTime
from bethink.memory.answering.claims import Claim, Derived, Operand
from bethink.memory.answering.days import Point, is_between
from bethink.memory.answering.sources import Source

_ELAPSED = re.compile(
    r"\b(?:pass(?:ed)?|between|ago|since|before|after|later|earlier|until|till|when|apart|elapsed|went by|took|takes?"
    r"|lasted|spent|from\b.{1,200}?\bto|how long|been)\b",
    re.IGNORECASE,
)
_UNTIL_NOW = re.compile(r"\b(?:ago|since|now|so far|(?:has|have|'ve|'s)\s+(?:been|passed))\b", re.IGNORECASE)
_AHEAD = re.compile(r"\b(?:until|till|left|to go|remain\w*)\b", re.IGNORECASE)
_WHOLE = re.compile(r"\bfrom\b.{1,200}?\bto\b", re.IGNORECASE)
_ABOUT = re.compile(
    r"\b(?:about|around|approximately|roughly|almost|nearly|circa|over|more than|just under)\b", re.IGNORECASE
)
_BEGINS = re.compile(r"\b(?:start(?:ed|ing)?|beg[aiu]n|began)\b", re.IGNORECASE)
_ENDS = re.compile(r"\b(?:finish(?:ed)?|end(?:ed)?|complet(?:ed|ing)|stopped|done)\b", re.IGNORECASE)


def derive_time(claim: Claim, amount: Amount) -> Derived | None:
    """Return how an amount of time follows from the dates or times of day of the cited memories, or None."""
    if not claim.is_about(_ELAPSED):
        return None
    return _derive_elapsed(claim, amount) or _between_clock_times(claim, amount)


def _derive_elapsed(claim: Claim, amount: Amount) -> Derived | None:
    is_about = claim.says(_ABOUT)
    periods = _periods(claim)
    if len(periods) > 1:
        days = sum(abs((last.first - first.first).days) for first, last in periods)
        return _matching_days(claim, amount, periods, days)
    if not periods or not is_between(amount, *periods[0], is_about=is_about):
        return None
    first, last = sorted(periods[0], key=lambda point: point.first)
    return Derived(
        text=f"{first} to {last} = {amount.text}",
        refs=tuple(source.item.ref for source in claim.cited),
    )


def _matching_days(claim: Claim, amount: Amount, periods: Sequence[tuple[Point, Point]], days: int) -> Derived | None:
    if amount.measure is None or amount.base != days * 86_400:
        return None
    text = " + ".join(f"({first} to {last})" for first, last in periods)
    return Derived(text=f"{text} = {amount.text}", refs=tuple(source.item.ref for source in claim.cited))


def _periods(claim: Claim) -> list[tuple[Point, Point]]:
    """Return the dates between which time has passed; several pairs if the memories start and end something."""
    days = claim.reading.points
    if len(days) == 2:  # dates of the sentence itself, which the memories have
        return [(days[0], days[1])]
    points = [_fitting_days(claim, source) for source in claim.cited]
    if len(points) == 1:
        return _periods_of_one(claim, points[0])
    if claim.says(_WHOLE):
        flat = sorted((point for group in points for point in group), key=lambda point: point.first)
        return [(flat[0], flat[-1])]
    distinct = {group[0] for group in points if len(group) == 1}
    if len(distinct) == 2 and all(len(group) == 1 for group in points):
        first, last = distinct
        return [(first, last)]
    if len(points) == 2:
        return [min(product(points[0], points[1]), key=lambda pair: abs(pair[1].first - pair[0].first))]
    return _started_and_ended(claim.cited, points)


def _periods_of_one(claim: Claim, points: Sequence[Point]) -> list[tuple[Point, Point]]:
    if len(points) == 2:
        return [(points[0], points[1])]
    if len(points) == 1 and claim.now is not None and claim.is_about(_UNTIL_NOW):
        return [(points[0], Point(claim.now.date()))]
    return []


def _fitting_days(claim: Claim, source: Source) -> list[Point]:
    """Return the dates of a memory, without plans if the sentence is about the past."""
    points = source.event_days
    if claim.is_about(_AHEAD):
        return points
    return [point for point in points if point.first <= source.said_on.first] or points


def _started_and_ended(sources: Sequence[Source], points: Sequence[Sequence[Point]]) -> list[tuple[Point, Point]]:
    """Return a period for each memory that starts something and the next one that ends it."""
    if any(len(group) != 1 for group in points) or len(points) % 2:
        return []
    dated = sorted(
        ((group[0], source) for group, source in zip(points, sources, strict=True)), key=lambda pair: pair[0].first
    )
    for cue, pair in zip(cycle((_BEGINS, _ENDS)), dated, strict=False):
        if cue.search(pair[1].text) is None:
            return []
    return [(first, last) for (first, _), (last, _) in zip(dated[::2], dated[1::2], strict=True)]


def is_shifted(claim: Claim) -> bool:
    """Return whether a sentence has one time of day where one memory has it and another moves it."""
    if len(claim.reading.clock_times) > 1 or any(amount.direction for amount in claim.reading.amounts):
        return False
    clock_times, shifts = _clock_times(claim), _shifts(claim)
    return len(clock_times) == len(shifts) == 1 and clock_times[0][1] is not shifts[0].source


def _shifts(claim: Claim) -> list[Operand]:
    """Return the amounts that move a time of day, such as "15 minutes earlier"."""
    shifts = ((amount, source) for source in claim.cited for amount in source.amounts if amount.direction)
    return [Operand(amount=amount, source=source) for amount, source in shifts if _is_measure(amount, "second")]


def derive_clock_time(claim: Claim, time: ClockTime) -> Derived | None:
    """Return how a time of day follows from another and "15 minutes earlier" in the cited memories, or None."""
    clock_times, shifts = _clock_times(claim), _shifts(claim)
    if len(clock_times) != 1 or len(shifts) != 1:
        return None
    (base, source), shift = clock_times[0], shifts[0]
    minutes = base.minutes + shift.amount.direction * shift.amount.base / 60
    if minutes != int(minutes):
        return None
    if not time.equals(
        ClockTime(minutes=int(minutes) % 1_440, text="", start=0, is_exact=base.is_exact, is_former=False)
    ):
        return None
    sign = "+" if shift.amount.direction > 0 else "\u2212"
    return Derived(
        text=f"{base.text} {sign} {shift.amount.text} = {time.text}",
        refs=(source.item.ref, shift.source.item.ref),
    )


def _between_clock_times(claim: Claim, amount: Amount) -> Derived | None:
    clock_times = _clock_times(claim)
    if len(clock_times) != 2 or not _is_measure(amount, "second"):
        return None
    (first, source), (last, other) = clock_times
    if 60 * (last.minutes - first.minutes) != amount.base:
        first, last = last, first
        if 60 * (last.minutes - first.minutes) != amount.base:
            return None
    return Derived(text=f"{first.text} to {last.text} = {amount.text}", refs=(source.item.ref, other.item.ref))


def _clock_times(claim: Claim) -> list[tuple[ClockTime, Source]]:
    times = [(time, source) for source in claim.cited for time in source.clock_times]
    return [pair for pair in times if not pair[0].is_former] or times


def _is_measure(amount: Amount, name: str) -> bool:
    return amount.measure is not None and amount.measure[0] == name
