"""How far a certainty can be believed: predicted beside observed, as a table and as a drawing."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean

from benchmarks import recall_measures as measures
from benchmarks.recall_measures import Outcome, Prediction
from benchmarks.recall_sets import KINDS

_BINS = 10
_SIDE, _EDGE = 320, 48
_COLOURS = ("#1f6feb", "#bf5700", "#2d7d46", "#8250df")


@dataclass(frozen=True, slots=True)
class Bin:
    """Predictions of about the same certainty: their mean, the share that was right, and how many there are."""

    predicted: float
    observed: float
    count: int


def bins(predictions: Iterable[Prediction]) -> list[Bin]:
    """Group predictions by tenths of their certainty; empty tenths are left out."""
    grouped: dict[int, list[Prediction]] = {}
    for each in predictions:
        grouped.setdefault(min(_BINS - 1, int(each.certainty * _BINS)), []).append(each)
    return [
        Bin(fmean(each.certainty for each in group), fmean(each.right for each in group), len(group))
        for _, group in sorted(grouped.items())
    ]


def error(found: Sequence[Bin]) -> float:
    """Return the mean distance between predicted and observed, each prediction counted once."""
    total = sum(each.count for each in found)
    return sum(abs(each.predicted - each.observed) * each.count for each in found) / total if total else 0.0


def kinds_table(found: Mapping[str, Sequence[Outcome]]) -> list[str]:
    """Return the lines of a table of high certainty in each kind of data, for both halves of its questions.

    `high` is a share of the answerable questions, `right` the share of high answers whose surest item is evidence.
    """
    lines = ["| kind of data | way | half | high | right (of) | never high |", "|---|---|---|---|---|---|"]
    for kind, sets in KINDS.items():
        outcomes = [outcome for name in sets for outcome in found.get(name, ()) if outcome.without is None]
        ways = dict.fromkeys(outcome.way for outcome in outcomes if outcome.answers)
        for way, half in product(ways, ("odd", "even")):
            of_half = [outcome for outcome in outcomes if outcome.way == way and outcome.odd is (half == "odd")]
            high, right, never = (_share(of_half, column) for column in ("high", "high right", "never high"))
            lines.append(f"| {kind} | {way} | {half} | {high} | {right} ({count_high(of_half)}) | {never} |")
    return lines if len(lines) > 2 else []


def count_high(outcomes: Iterable[Outcome]) -> int:
    """Return the number of questions with an answer of high certainty."""
    return sum("high right" in outcome.figures for outcome in outcomes)


def _share(outcomes: Sequence[Outcome], column: str) -> str:
    share = measures.mean(outcomes, column)
    return "" if math.isnan(share) else f"{share:.2f}"


def table(name: str, outcomes: Sequence[Outcome]) -> list[str]:
    """Return the lines of a reliability table for each way that has certainties."""
    lines: list[str] = []
    for way in dict.fromkeys(outcome.way for outcome in outcomes):
        of_way = [outcome for outcome in outcomes if outcome.way == way]
        for what in ("answers", "items"):
            found = bins(each for outcome in of_way for each in getattr(outcome, what))
            if found:
                lines += [f"\n{name}, {way}: certainty of {what}, mean error {error(found):.3f}\n"]
                lines += ["| predicted | observed | count |", "|---|---|---|"]
                lines += [f"| {each.predicted:.3f} | {each.observed:.3f} | {each.count} |" for each in found]
    return lines


def series(found: Mapping[str, Sequence[Outcome]]) -> dict[str, list[Bin]]:
    """Return the answers of all sets together, by way, for those that have certainties."""
    by_way: dict[str, list[Prediction]] = {}
    for outcome in (outcome for outcomes in found.values() for outcome in outcomes):
        by_way.setdefault(outcome.way, []).extend(outcome.answers)
    return {way: bins(predictions) for way, predictions in by_way.items() if predictions}


def svg(found: dict[str, list[Bin]]) -> str:
    """Draw predicted against observed, one line for each series, with the diagonal that perfect certainty follows."""
    size, height = _SIDE + 2 * _EDGE, _SIDE + 2 * _EDGE + 18 * len(found)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {height}" width="{size}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{size}" height="{height}" fill="#fff"/>',
        f'<path d="M{_x(0)} {_y(0)}L{_x(1)} {_y(1)}" stroke="#999" stroke-dasharray="4 4"/>',
    ]
    for tenth in range(0, 11, 2):
        share = tenth / 10
        parts.append(f'<path d="M{_x(share)} {_y(0)}V{_y(1)}M{_x(0)} {_y(share)}H{_x(1)}" stroke="#e5e5e5"/>')
        parts.append(f'<text x="{_x(share)}" y="{_y(0) + 16}" text-anchor="middle">{share:.1f}</text>')
        parts.append(f'<text x="{_x(0) - 8}" y="{_y(share) + 4}" text-anchor="end">{share:.1f}</text>')
    parts.append(f'<text x="{_x(0.5)}" y="{_y(0) + 36}" text-anchor="middle">certainty</text>')
    parts.append(f'<text x="{_x(0)}" y="{_y(1) - 14}">share that was right</text>')
    for place, (name, each) in enumerate(found.items()):
        parts += _drawn(name, each, _COLOURS[place % len(_COLOURS)], _y(0) + 56 + 18 * place)
    return "\n".join([*parts, "</svg>", ""])


def _drawn(name: str, found: Sequence[Bin], colour: str, line: float) -> list[str]:
    most = max((each.count for each in found), default=1)
    path = "L".join(f"{_x(each.predicted)} {_y(each.observed)}" for each in found)
    marks = [
        f'<circle cx="{_x(each.predicted)}" cy="{_y(each.observed)}" r="{2 + 5 * (each.count / most) ** 0.5:.1f}" '
        f'fill="{colour}"><title>{each.count}</title></circle>'
        for each in found
    ]
    label = name.replace("&", "&amp;").replace("<", "&lt;")
    return [
        f'<path d="M{path}" stroke="{colour}" fill="none"/>',
        *marks,
        f'<text x="{_EDGE}" y="{line}" fill="{colour}">{label}</text>',
    ]


def _x(share: float) -> float:
    return round(_EDGE + share * _SIDE, 1)


def _y(share: float) -> float:
    return round(_EDGE + (1 - share) * _SIDE, 1)
