"""uncheckable: instructions about quality, which no program can decide."""

from bethink.features.guard.check import UNKNOWN, GuardCheck, GuardVerdict
from bethink.features.guard.sentences.mentions import has
from bethink.features.guard.shape import Moment, RuleSentence, Shape, make_check


def parse(sentence: RuleSentence) -> GuardCheck | None:
    """Return a check that is only shown and counted as given."""
    is_short = len(sentence.text.split()) <= 25
    return make_check("uncheckable", sentence) if is_short and has("vague", sentence.text) else None


def judge(check: GuardCheck, moment: Moment) -> GuardVerdict:
    """Return unknown for every event."""
    del check, moment
    return GuardVerdict(result=UNKNOWN)


SHAPE = Shape(name="uncheckable", order=999, parse=parse, judge=judge)
