"""Reads one statement into a check, without a model."""

from functools import lru_cache

from bethink.features.guard.check import NONE, ONCE, STANDING, WITHDRAWS, GuardCheck, StatementReading, UserStatement
from bethink.features.guard.sentences.binding import binding_of, end_of, is_quotation
from bethink.features.guard.shape import RuleSentence
from bethink.features.guard.shapes import all_shapes


@lru_cache(maxsize=2048)
def read_statement(statement: UserStatement) -> StatementReading:
    """Return how a statement binds, and its check if a program can decide it.

    A statement binds only if a person said it, and it is no question, report, memory or supposition.
    """
    binds, text = binding_of(statement)
    if binds == NONE:
        return StatementReading(binds=NONE, reason="no instruction of a person")
    if binds == WITHDRAWS:
        return StatementReading(binds=WITHDRAWS)
    if is_quotation(text):
        return StatementReading(binds=NONE, reason="a quotation")
    sentence = RuleSentence(text, statement, binds, end_of(statement) if binds == ONCE else "")
    check = _first_check(sentence)
    if check is None:
        return StatementReading(binds=NONE, reason="no rule that a check could describe")
    return StatementReading(binds=ONCE if binds == ONCE else STANDING, check=check)


def _first_check(sentence: RuleSentence) -> GuardCheck | None:
    for shape in all_shapes().values():
        check = shape.parse(sentence)
        if check is not None:
            return check
    return None
