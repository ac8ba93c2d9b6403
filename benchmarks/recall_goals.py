"""What recall must reach, in one table, and whether it did."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from benchmarks import recall_certainty as certainty
from benchmarks import recall_measures as measures
from benchmarks.recall_baselines import BIGRAMS, FULL_TEXT, cosine
from benchmarks.recall_measures import Outcome
from benchmarks.recall_run import UNBOUNDED, WORDS, with_model
from benchmarks.recall_sets import KINDS, LONG, OWN

_MINILM = with_model("minilm")
_RERANKED = with_model("bge-small", "cross-encoder")
_OURS = "words"
"""How the names of Bethink's own ways begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A figure of one way on one set: at least `bar`, or at most, if `most`."""

    set: str
    way: str
    column: str
    bar: float
    most: bool = False


GOALS = (
    Goal(set="locomo", way=WORDS, column="R@10", bar=0.65),
    Goal(set="realtalk", way=WORDS, column="R@10", bar=0.54),
    Goal(set="beam", way=WORDS, column="R@10", bar=0.46),
    Goal(set="longmemeval", way=WORDS, column="every@5", bar=0.90),
    Goal(set="locomo", way=_MINILM, column="R@10", bar=0.805),
    Goal(set="realtalk", way=_MINILM, column="R@10", bar=0.625),
    Goal(set="beam", way=_MINILM, column="R@10", bar=0.625),
    Goal(set="longmemeval", way=_MINILM, column="every@5", bar=0.94),
    Goal(set="madial-en", way=_MINILM, column="hit@1", bar=0.52),
    Goal(set="madial-en", way=_MINILM, column="R@10", bar=0.72),
    Goal(set="madial-zh", way=WORDS, column="R@10", bar=0.54),
    Goal(set="locomo", way=_RERANKED, column="R@5", bar=0.80),
    Goal(set="realtalk", way=_RERANKED, column="R@5", bar=0.60),
    Goal(set="tongues", way=WORDS, column="R@10", bar=0.65),
    Goal(set="tongues", way=WORDS, column="empty", bar=0.10, most=True),
    Goal(set="tongues", way=with_model("multilingual"), column="hit@1", bar=0.75),
    Goal(set="tongues", way=with_model("multilingual"), column="R@10", bar=0.94),
    Goal(set="tongues", way=with_model("e5-small"), column="R@10", bar=0.90),
)
CERTAIN_WAYS = (WORDS, with_model("multilingual"), _MINILM)
MIN_RIGHT = 0.85
"""Of the answers of high certainty in each kind of data, the minimum share whose surest item is evidence."""
MOST_NEVER_HIGH = 0.05
"""Of the questions about what was never said, in each kind of data."""
MIN_HIGH = {"everyday statements": 0.35}
"""The minimum share of high certainty, of the answerable questions."""
_FEWEST_HIGH = 5
"""With fewer high answers in the reported half, a kind of data hardly uses them, and a share says nothing."""
MOST_EMPTY = 0.01
"""Of the answerable questions, on every set and each way of Bethink's own."""
MOST_LOST = 0.005
"""Of R@10, by the limits on how much of the index one question reads."""
LEAST_OF_ENGLISH = 0.85
"""Of what is found in English by words, in every other language."""
ABOVE = {
    name: {column: (cosine("minilm"), FULL_TEXT, BIGRAMS) for column in ("hit@1", "R@10")} for name in OWN
}  # with MiniLM, at least what each of these finds
Found = Mapping[str, Sequence[Outcome]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A figure beside its goal."""

    what: str
    figure: float
    goal: float
    most: bool = False
    note: str = ""
    overfit: bool = False

    @property
    def reached(self) -> bool:
        """Say whether the figure, as it is printed, is good enough."""
        figure = round(self.figure, 3)
        enough = figure <= self.goal if self.most else figure >= self.goal
        return enough and not self.overfit

    def __str__(self) -> str:
        bar = f"at most {self.goal:.3f}" if self.most else f"goal {self.goal:.3f}"
        return f"{self.what}: {self.figure:.3f} ({bar}): {'reached' if self.reached else 'NOT reached'}{self.note}"


def verdict(found: Found) -> list[Line]:
    """Return every goal that this run can judge."""
    bounded = list(_bounded(found))  # then all conversations are in one space, and the other goals are not about that
    return bounded or [*_plain(found), *_above(found), *_languages(found), *_certain(found), *_empty(found)]


def of_way(found: Found, name: str, way: str) -> list[Outcome]:
    """Return what one way made of a set, with all its signals."""
    return [outcome for outcome in found.get(name, ()) if outcome.way == way and outcome.without is None]


def _bounded(found: Found) -> Iterator[Line]:
    for name in found:
        if everything := of_way(found, name, UNBOUNDED):
            lost = measures.mean(everything, "R@10") - measures.mean(of_way(found, name, WORDS), "R@10")
            what = f"{name} in one space, what the limits on reading cost of R@10"
            yield Line(what=what, figure=lost, goal=MOST_LOST, most=True)


def _plain(found: Found) -> Iterator[Line]:
    for goal in GOALS:
        outcomes = of_way(found, goal.set, goal.way)
        figure = measures.mean(outcomes, goal.column)
        if math.isnan(figure):
            continue
        note, overfit = "", False
        if goal.set in LONG:
            bare = of_way(found, goal.set, FULL_TEXT)
            gap, low, high = measures.beyond(outcomes, bare, goal.column, seed=1)
            overfit = not math.isnan(low) and low > 0
            note = f"; beyond full text, odd minus even {gap:+.3f} [{low:+.3f}, {high:+.3f}]"
            note += ": tuned beyond what holds elsewhere" if overfit else ""
        what = f"{goal.set}, {goal.way}, {goal.column}"
        yield Line(what=what, figure=figure, goal=goal.bar, most=goal.most, note=note, overfit=overfit)


def _above(found: Found) -> Iterator[Line]:
    for name, columns in ABOVE.items():
        ours = of_way(found, name, _MINILM)
        for column, ways in columns.items() if ours else ():
            for way in ways:
                bar = measures.mean(of_way(found, name, way), column)
                figure = measures.mean(ours, column)
                yield Line(what=f"{name}, {_MINILM}, {column}, that of {way}", figure=figure, goal=round(bar, 3))


def _languages(found: Found) -> Iterator[Line]:
    ours = of_way(found, "tongues", WORDS)
    english = measures.mean([outcome for outcome in ours if outcome.language == "en"], "R@10")
    for language in sorted({outcome.language for outcome in ours} - {"en"}):
        figure = measures.mean([outcome for outcome in ours if outcome.language == language], "R@10")
        goal = round(LEAST_OF_ENGLISH * english, 3)
        yield Line(what=f"tongues, {WORDS}, R@10 in {language}, beside English", figure=figure, goal=goal)


def _certain(found: Found) -> Iterator[Line]:
    """Judge high certainty in the halves that it was not fitted on."""
    for kind, way in product(KINDS, CERTAIN_WAYS):
        outcomes = [outcome for name in KINDS[kind] for outcome in of_way(found, name, way) if not outcome.odd]
        what, count = f"{kind}, {way}", certainty.count_high(outcomes)
        if count >= _FEWEST_HIGH:
            right = measures.mean(outcomes, "high right")
            yield Line(what=f"{what}, high and right, of {count}", figure=right, goal=MIN_RIGHT)
        never = measures.mean(outcomes, "never high")
        if not math.isnan(never):
            yield Line(what=f"{what}, never said but high", figure=never, goal=MOST_NEVER_HIGH, most=True)
        if kind in MIN_HIGH and outcomes:
            yield Line(what=f"{what}, high", figure=measures.mean(outcomes, "high"), goal=MIN_HIGH[kind])


def _empty(found: Found) -> Iterator[Line]:
    for name, outcomes in found.items():
        for way in dict.fromkeys(outcome.way for outcome in outcomes):
            figure = measures.mean(of_way(found, name, way), "empty")
            if way.startswith(_OURS) and not math.isnan(figure):
                yield Line(what=f"{name}, {way}, empty", figure=figure, goal=MOST_EMPTY, most=True)
