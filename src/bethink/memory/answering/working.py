"""Check the calculation that a model shows after a sentence, in braces: `{70 hours [^a] + 25 hours [^b] = 95 hours}`.

Each operand has the label of the memory that states it. A calculation is one of

    sums          70 hours [^a] + 25 hours [^b] - 5 hours [^c] = 90 hours
    products      3 tickets [^a] * 20 dollars [^b] = 60 dollars
    shares        50 points [^a] of 200 points [^b] = 25 percent
    averages      average: 3 hours [^a]; 5 hours [^b] = 4 hours
    counts        count: Portland Film Festival [^a]; AFI Fest [^b] = 2 festivals
    times         2023-02-26 [^a] to 2023-03-19 [^b] = 21 days, or to today
    times of day  7:00 AM [^a] - 15 minutes [^b] = 6:45 AM
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from math import prod

from bethink.base.frozen import frozen
from bethink.memory.answering.amounts import Amount, ClockTime, articles_in
from bethink.memory.answering.days import Point, is_between
from bethink.memory.answering.sources import DatedText, Source
from bethink.model.refs import Ref
from bethink.model.words import key_stems

_LABELS = r"(?:\s*\[\^?[^\[\]\n]{1,300}\])+"
_OPERAND = re.compile(
    rf"\s*(?P<sign>[+*\u00d7/;,\u2212-]|to\b|of\b|x\b)?\s*(?P<text>[^\[\]]*?)(?P<labels>{_LABELS})|"
    r"\s*(?P<until>to)\s+(?:today|now)\s*(?=$)"
)
_LABEL = re.compile(r"[^\s,;^\[\]]+")
_KIND = re.compile(r"\s*(count|average|mean)\s*:\s*", re.IGNORECASE)
_SIGNS = {"-": "\u2212", "x": "*", "\u00d7": "*", ",": ";"}
_MAX_OPERANDS = 50


@frozen
class ShownOperand:
    """A part of a calculation, with the memory that states it; None for today."""

    sign: str
    reading: DatedText
    source: Source | None


@frozen
class ShownWorking:
    """A calculation that a model showed, whether it is right, and its result."""

    text: str
    refs: tuple[Ref, ...]
    is_valid: bool
    result: DatedText

    def proves(self, amount: Amount) -> bool:
        """Return whether an amount is the result. A number without a unit takes that of the result."""
        return any(amount.equals(result) for result in self.result.amounts)

    def proves_time(self, time: ClockTime) -> bool:
        """Return whether a time of day is the result."""
        return any(time.equals(result) for result in self.result.clock_times)


def check_working(text: str, sources: Mapping[str, Source], *, now: datetime | None) -> ShownWorking | None:
    """Return a calculation with its verdict, or None if the text is none."""
    parts, _, right = text.rpartition("=")
    at = now or max((source.at for source in sources.values()), default=None)
    kind = _KIND.match(parts)
    matches = _operands(parts[kind.end() if kind else 0 :], right)
    if matches is None or at is None:
        return None
    operands = [_operand(match, sources, at) for match in matches]
    usable = [operand for operand in operands if operand is not None]
    result = DatedText(right.strip(), at)
    is_valid = len(usable) == len(operands) and _is_right(kind[1].lower() if kind else "", usable, result, now)
    refs = tuple(operand.source.item.ref for operand in usable if operand.source is not None)
    plain = re.sub(r"\s+", " ", re.sub(_LABELS, "", text)).strip()
    return ShownWorking(text=plain, refs=refs, is_valid=is_valid, result=result)


def _operands(parts: str, right: str) -> list[re.Match[str]] | None:
    """Return the operands of a calculation, or None if a part of it is something else."""
    matches: list[re.Match[str]] = []
    position = 0
    while position < len(parts.rstrip()):
        match = _OPERAND.match(parts, position)
        if match is None or len(matches) == _MAX_OPERANDS:
            return None
        matches.append(match)
        position = match.end()
    return matches if len(matches) > 1 and right.strip() else None


def _operand(match: re.Match[str], sources: Mapping[str, Source], now: datetime) -> ShownOperand | None:
    """Return an operand, or None if no memory has its label."""
    if match["until"]:
        return ShownOperand(sign="to", reading=DatedText(now.date().isoformat(), now), source=None)
    labels: list[str] = _LABEL.findall(match["labels"])
    source = sources.get(labels[0]) if len(labels) == 1 else None
    if source is None:
        return None
    sign = match["sign"] or ""
    return ShownOperand(sign=_SIGNS.get(sign, sign), reading=DatedText(match["text"], source.at), source=source)


def _is_right(kind: str, operands: Sequence[ShownOperand], result: DatedText, now: datetime | None) -> bool:
    signs = {operand.sign for operand in operands[1:]}
    if operands[0].sign:
        return False
    if kind == "count":
        return signs == {";"} and _is_count(operands, result)
    if kind:
        return signs == {";"} and _is_average(operands, result)
    if signs in ({"to"}, {"to", "+"}):
        return (now is not None or all(operand.source for operand in operands)) and _is_elapsed(operands, result)
    if operands[0].reading.clock_times and signs <= {"+", "\u2212"}:
        return _is_shifted(operands, result)
    if signs <= {"+", "\u2212"}:
        return _is_sum(operands, result)
    return len(operands) == 2 and (
        (signs == {"*"} and _is_product(operands, result)) or _is_share(operands, signs, result)
    )


def _amount(reading: DatedText) -> Amount | None:
    return reading.amounts[0] if len(reading.amounts) == 1 else None


def _amount_in_source(operand: ShownOperand) -> Amount | None:
    """Return the amount of an operand as its memory states it, or None if it does not."""
    amount = _amount(operand.reading)
    if amount is None or operand.source is None:
        return None
    stated = [*operand.source.amounts, *articles_in(operand.source.plain, amount.nouns)]
    return next((other if amount.measure is None else amount for other in stated if amount.equals(other)), None)


def _is_sum(operands: Sequence[ShownOperand], result: DatedText) -> bool:
    amounts = [_amount_in_source(operand) for operand in operands]
    total = _amount(result)
    if total is None or None in amounts:
        return False
    alike = [amount for amount in amounts if amount is not None and (amount.is_like(total))]
    signed = [
        -amount.base if operand.sign == "\u2212" else amount.base
        for amount, operand in zip(alike, operands, strict=False)
    ]
    return len(alike) == len(operands) and _has_distinct(operands) and abs(sum(signed)) == total.base


def _has_distinct(operands: Sequence[ShownOperand]) -> bool:
    """Return whether no memory is used twice with the same words."""
    keys = [(operand.source and operand.source.item.ref, operand.reading.text.casefold()) for operand in operands]
    return len(set(keys)) == len(keys)


def _is_average(operands: Sequence[ShownOperand], result: DatedText) -> bool:
    amounts = [amount for amount in map(_amount_in_source, operands) if amount is not None]
    mean = _amount(result)
    if mean is None or len(amounts) < len(operands) or not all(amount.is_like(mean) for amount in amounts):
        return False
    return _has_distinct(operands) and sum(amount.base for amount in amounts) / len(amounts) == mean.base


def _is_product(operands: Sequence[ShownOperand], result: DatedText) -> bool:
    amounts = [amount for amount in map(_amount_in_source, operands) if amount is not None]
    total = _amount(result)
    if total is None or len(amounts) < 2:
        return False
    units = [amount for amount in amounts if amount.measure is not None]
    fits = len(units) == 1 and units[0].is_like(total) if units else total.measure is None
    return fits and prod((amount.base for amount in amounts), start=Fraction(1)) == total.base


def _is_share(operands: Sequence[ShownOperand], signs: set[str], result: DatedText) -> bool:
    part, total = map(_amount_in_source, operands)
    share = _amount(result)
    if signs != {"of"} or part is None or total is None or share is None or not part.is_like(total) or not total.base:
        return False
    return share.measure == ("percent", 1) and abs(100 * part.base / total.base - share.value) <= Fraction(1, 2)


def _is_count(operands: Sequence[ShownOperand], result: DatedText) -> bool:
    """Return whether each item is in its memory and none is counted twice."""
    total = _amount(result)
    items = [(operand.source and operand.source.item.ref, key_stems(operand.reading.text)) for operand in operands]
    stated = all(
        operand.source is not None and key_stems(operand.reading.text) <= operand.source.stems for operand in operands
    )
    return total is not None and stated and len(set(items)) == len(items) == total.value


def _is_shifted(operands: Sequence[ShownOperand], result: DatedText) -> bool:
    times, source = operands[0].reading.clock_times, operands[0].source
    if len(times) != 1 or len(result.clock_times) != 1 or source is None:
        return False
    if not any(times[0].equals(other) for other in source.clock_times):
        return False
    minutes = Fraction(times[0].minutes)
    for operand in operands[1:]:
        amount = _amount_in_source(operand)
        if amount is None or amount.measure is None or amount.measure[0] != "second":
            return False
        minutes += amount.base / (-60 if operand.sign == "\u2212" else 60)
    if minutes.denominator != 1:
        return False
    shifted = ClockTime(minutes=int(minutes) % 1_440, text="", start=0, is_exact=times[0].is_exact)
    return shifted.equals(result.clock_times[0])


def _is_elapsed(operands: Sequence[ShownOperand], result: DatedText) -> bool:
    """Return whether the time between each pair of dates adds up to the result."""
    points = [_point(operand) for operand in operands]
    usable = [point for point in points if point is not None]
    amount = _amount(result)
    has_order = all(operand.sign == ("to" if number % 2 else "+") for number, operand in enumerate(operands) if number)
    if amount is None or len(usable) < len(operands) or len(usable) % 2 or not has_order:
        return False
    if len(usable) == 2:
        return is_between(amount, usable[0], usable[1], is_about=True)
    days = sum(abs((last.first - first.first).days) for first, last in zip(usable[::2], usable[1::2], strict=True))
    return amount.base == days * 86_400 and amount.measure is not None and amount.measure[0] == "second"


def _point(operand: ShownOperand) -> Point | None:
    """Return the date of an operand if its memory has it; a date in words is resolved on the day it was said."""
    points = operand.reading.points
    if operand.source is None:
        return points[0]
    if len(points) != 1:
        return None
    return points[0] if points[0] in operand.source.days else None
