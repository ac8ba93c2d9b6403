"""Derive a number that a sentence states from the memories that it cites, if there is only one way to do so.

    listed      "three doctors: A, B and C"
    combined    the amounts of all cited memories added; of exactly two also their difference, or of all the average
    counted     one item in each cited memory
    elapsed     the time between dates, in elapsed.py

If a memory has several amounts that fit, nothing is derived: the model then has to show its working.
"""

import re
from collections.abc import Sequence
from fractions import Fraction

from bethink.memory.answering.amounts import Amount
from bethink.memory.answering.claims import AVERAGE, DIFFERENCE, TOTAL, Claim, Derived, Operand, operands_in
from bethink.memory.answering.elapsed import derive_time
from bethink.memory.answering.sources import Source
from bethink.model.words import is_repeated, key_stems

_LIST = re.compile(r"[:(\u2013\u2014]|,\s")
_ITEM_BREAK = re.compile(r"[,;]\s+(?:and\s+|or\s+)?|\s+and\s+|\s*&\s*")
_MAX_COUNT = 50


def derive_amount(claim: Claim, stated: Amount) -> Derived | None:
    """Return how an amount follows from the cited memories, or None."""
    amount = claim.with_unit(stated)
    if amount.measure is None:
        listed = _list_after(claim, amount)
        if listed is not None:
            return _count_listed(claim, amount, listed)
        return _combine(claim, amount) or _count_sources(claim, amount)
    return _combine(claim, amount) or derive_time(claim, amount)


def _combine(claim: Claim, amount: Amount) -> Derived | None:
    groups = operands_in(claim, amount)
    if len(groups) > 1 and any(len(group) > 1 for group in groups):
        return None
    operands = _without_repeats([operand for group in groups for operand in group])
    if all(operand.amount.is_article for operand in operands):
        return None
    if len(operands) < 2 or not (amount.measure or any(amount.shares_noun(operand.amount) for operand in operands)):
        return None
    values = [operand.amount.base for operand in operands]
    sign, expected = _operation(claim, values)
    if expected != amount.base:
        return None
    ordered = sorted(operands, key=lambda operand: -operand.amount.base) if sign == " \u2212 " else operands
    text = sign.join(operand.amount.text for operand in ordered)
    text = f"({text}) / {len(operands)}" if sign == " + " and expected != sum(values) else text
    return Derived(text=f"{text} = {amount.text}", refs=tuple(operand.source.item.ref for operand in ordered))


def _operation(claim: Claim, values: Sequence[Fraction]) -> tuple[str, Fraction | None]:
    """Return the operation that the sentence or else the question asks for, and its result. Sums are the default."""
    if claim.is_about(AVERAGE):
        return " + ", sum(values, Fraction(0)) / len(values)
    is_difference = not claim.says(TOTAL) and (
        claim.says(DIFFERENCE) or (TOTAL.search(claim.question) is None and claim.is_about(DIFFERENCE))
    )
    if is_difference:
        return " \u2212 ", abs(values[0] - values[1]) if len(values) == 2 else None
    return " + ", sum(values, Fraction(0))


def _without_repeats(operands: Sequence[Operand]) -> list[Operand]:
    """Return the operands, without those of a memory that repeats another one."""
    distinct: list[Operand] = []
    for operand in operands:
        meaning = key_stems(operand.source.text)
        if not any(
            other.source is not operand.source
            and other.amount.base == operand.amount.base
            and is_repeated(meaning, other.source.stems)
            for other in distinct
        ):
            distinct.append(operand)
    return distinct


def _list_after(claim: Claim, amount: Amount) -> list[str] | None:
    """Return the items that a sentence lists after a number, or None if it lists none."""
    tail = claim.reading.plain[amount.end :]
    opening = _LIST.search(tail)
    items = [] if opening is None else [item for item in _ITEM_BREAK.split(tail[opening.end() :]) if key_stems(item)]
    return items if len(items) > 1 else None


def _count_listed(claim: Claim, amount: Amount, items: Sequence[str]) -> Derived | None:
    stems = [key_stems(item) for item in items]
    sources = [next((source for source in claim.cited if item & source.stems), None) for item in stems]
    refs = tuple(dict.fromkeys(source.item.ref for source in sources if source is not None))
    if len(items) != amount.value or None in sources or len(set(stems)) < len(stems):
        return None
    return Derived(text=f"{', '.join(item.strip(' .)') for item in items)} = {amount.text}", refs=refs)


def _count_sources(claim: Claim, amount: Amount) -> Derived | None:
    """Return the count of the cited memories, if each has something of the sentence."""
    if not amount.nouns or amount.value > _MAX_COUNT:
        return None
    topic = key_stems(claim.reading.text) | key_stems(claim.question)
    distinct: list[Source] = []
    for source in claim.cited:
        if source.stems.isdisjoint(topic):
            return None
        if not any(is_repeated(key_stems(source.text), other.stems) for other in distinct):
            distinct.append(source)
    if len(distinct) < 2 or len(distinct) != amount.value:
        return None
    return Derived(
        text=f"{len(distinct)} cited memories = {amount.text}",
        refs=tuple(source.item.ref for source in distinct),
    )
