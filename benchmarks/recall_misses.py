"""Why evidence was not among the first ten, by rule."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from benchmarks.recall_measures import Miss, Outcome
from benchmarks.sets import Question, Turn
from bethink.model.recall import Fate, RecallResult

_TOP = 10
_SHOWN = 3
_LONGEST = 160
_CAUSES = {
    Fate.UNRELATED: "only beside a match",
    Fate.BEYOND_LIMIT: "below the twentieth place",
    Fate.DUPLICATE: "shown as another that says the same",
    Fate.SUPERSEDED: "superseded",
    Fate.ENDED: "superseded",
    Fate.QUESTION: "taken for a question",
}


def missed(
    question: Question,
    turns: Sequence[Turn],
    found: RecallResult,
    names: Mapping[tuple[str, int], str],
    words: Collection[str],
) -> tuple[Miss, ...]:
    """Return a miss for each turn of the evidence that is not in the first ten of an explained answer.

    `words` are the turns that share a word with the question, as a plain full text sees it.
    """
    texts = {turn.id: turn.text for turn in turns}
    shown = [names[item.ref.id, item.ref.number] for item in found.items]
    fates = {names.get((each.ref.id, each.ref.number), ""): each.fate for each in found.candidates}
    top = tuple(_short(texts[turn]) for turn in shown[:_SHOWN])
    return tuple(
        Miss(question=question.text, evidence=_short(texts[turn]), shown=top, cause=_cause(turn, shown, fates, words))
        for turn in sorted(question.evidence - set(shown[:_TOP]))
    )


def _cause(turn: str, shown: Sequence[str], fates: Mapping[str, Fate], words: Collection[str]) -> str:
    why = "below the tenth place" if turn in shown else "not among the candidates"
    why = why if turn in shown or turn not in fates else _CAUSES.get(fates[turn], fates[turn].value)
    return why if turn in words else f"{why}, no shared word"


def report(name: str, outcomes: Sequence[Outcome], *, first: int) -> list[str]:
    """Return the first misses of each way, and how many there are by cause."""
    lines: list[str] = []
    for way in dict.fromkeys(outcome.way for outcome in outcomes):
        misses = [miss for outcome in outcomes if outcome.way == way for miss in outcome.misses]
        if not misses:
            continue
        lines += [f"\n### {name}, {way}: {len(misses)} turns of evidence not in the first ten\n"]
        lines += [f"- {count} {cause}" for cause, count in Counter(miss.cause for miss in misses).most_common()]
        for miss in misses[:first]:
            lines += [f"\n{_short(miss.question)}", f"  missed: {miss.evidence} ({miss.cause})"]
            lines += [f"  {place}. {text}" for place, text in enumerate(miss.shown, 1)] or ["  nothing was shown"]
    return lines


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST else f"{flat[:_LONGEST]}…"
