"""A sentence with numbers, the memories that it cites, and the words that say how a number follows from others."""

import re
from collections.abc import Sequence
from datetime import datetime

from bethink.base.frozen import frozen
from bethink.memory.answering.amounts import Amount, articles_in, nouns_of_question
from bethink.memory.answering.sources import DatedText, Source
from bethink.model.refs import Ref

TOTAL = re.compile(r"\b(?:total(?:ly)?|altogether|combined|in all|overall|sum)\b", re.IGNORECASE)
AVERAGE = re.compile(r"\b(?:average|averaged|mean)\b", re.IGNORECASE)
DIFFERENCE = re.compile(
    r"\b(?:more|less|fewer|left|remain\w*|need\w*|sav(?:e|ed|ing|ings)|cheaper|faster|slower|higher|lower|taller|heavier"
    r"|lighter|compared|difference|older|younger|longer|shorter|gain\w*|los[et]|increas\w*|decreas\w*|discount\w*|extra"
    r"|further|off|apart|still)\b",
    re.IGNORECASE,
)


@frozen
class Derived:
    """A calculation that proves a number, and the memories with its operands."""

    text: str
    refs: tuple[Ref, ...]


@frozen
class Claim:
    """A sentence with numbers, the question that it answers, and the memories that it cites."""

    reading: DatedText
    question: str
    cited: Sequence[Source]
    now: datetime | None

    def says(self, cue: re.Pattern[str]) -> bool:
        """Return whether the sentence has a word."""
        return cue.search(self.reading.text) is not None

    def is_about(self, cue: re.Pattern[str]) -> bool:
        """Return whether the sentence or the question has a word."""
        return self.says(cue) or cue.search(self.question) is not None

    def with_unit(self, amount: Amount) -> Amount:
        """Return an amount with the unit that the question asks for, if it has none itself."""
        if amount.measure or amount.nouns:
            return amount
        measure, nouns = nouns_of_question(self.question)
        return Amount(
            value=amount.value, text=amount.text, start=amount.start, end=amount.end, measure=measure, nouns=nouns
        )


@frozen
class Operand:
    """An amount, and the memory that states it."""

    amount: Amount
    source: Source


def operands_in(claim: Claim, amount: Amount) -> list[list[Operand]]:
    """Return the amounts of the same kind in each cited memory that has any."""
    groups = ([Operand(amount=fit, source=source) for fit in _fitting(source, amount)] for source in claim.cited)
    return [group for group in groups if group]


def _fitting(source: Source, amount: Amount) -> list[Amount]:
    """Return the amounts of a memory that can be an operand: totals rather than parts, current rather than former."""
    alike = [other for other in source.amounts if amount.is_like(other) and (other.measure or other.nouns)]
    if amount.measure is None:
        alike = (
            [other for other in alike if amount.shares_noun(other)] or alike or articles_in(source.plain, amount.nouns)
        )
    for preferred in ([a for a in alike if a.is_total], [a for a in alike if not a.is_former]):
        if preferred:
            alike = preferred
            break
    return list({other.base: other for other in alike}.values())


def cues_in(text: str) -> frozenset[str]:
    """Return the words of a text that make a number the result of a calculation, such as "total" and "cheaper"."""
    return frozenset(match[0].lower() for cue in (TOTAL, AVERAGE, DIFFERENCE) for match in cue.finditer(text))


def is_total_in(text: str) -> bool:
    """Return whether a text says that a number is a total."""
    return TOTAL.search(text) is not None
