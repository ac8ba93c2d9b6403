"""Prints what recall came to: figures, halves, categories, languages, and what each signal is worth."""

import math
from collections.abc import Callable, Sequence

from benchmarks import recall_measures as measures
from benchmarks.recall_measures import Outcome

_COLUMNS = (
    "hit@1", "R@5", "R@10", "R@20", "all@10", "MRR", "NDCG@10", "every@5", "any@5", "empty", "never",
    "high", "high right", "never high",
)  # fmt: skip


def table(name: str, outcomes: Sequence[Outcome], *, seed: int) -> None:
    """Print the figures of every way, and of both halves."""
    whole = [outcome for outcome in outcomes if outcome.without is None]
    ways = list(dict.fromkeys(outcome.way for outcome in whole))
    first = [outcome for outcome in whole if outcome.way == ways[0]]
    never = sum(1 for outcome in first if "never" in outcome.figures)
    print(f"\n## {name}: {len(first)} questions, the answer to {never} was never said\n")
    shown = _shown(whole)
    _print_rows("way", [(way, [each for each in whole if each.way == way]) for way in ways], shown)
    key = "every@5" if "every@5" in shown else "R@10"
    print(f"\n{key} by half, with 95 % intervals by drawing conversations; tuned on odd ones, reported on even ones:")
    for way in ways:
        of_way = [outcome for outcome in whole if outcome.way == way]
        halves: list[str] = []
        for half in (True, False):
            of_half = [outcome for outcome in of_way if outcome.odd is half]
            low, high = measures.interval(of_half, key, seed=seed)
            halves.append(f"{'odd' if half else 'even'} {measures.mean(of_half, key):.3f} [{low:.3f}, {high:.3f}]")
        gap, low, high = measures.differ(of_way, key, seed=seed)
        print(f"- {way}: {', '.join(halves)}; odd minus even {gap:+.3f} [{low:+.3f}, {high:+.3f}]")


def parts(name: str, outcomes: Sequence[Outcome]) -> None:
    """Print the figures by category and by language, where there are several."""
    whole = [outcome for outcome in outcomes if outcome.without is None]
    _print_parts(f"{name} by category", whole, lambda outcome: outcome.category)
    _print_parts(f"{name} by language", whole, lambda outcome: outcome.language)


def _print_parts(title: str, outcomes: Sequence[Outcome], part_of: Callable[[Outcome], str]) -> None:
    names = sorted({part_of(outcome) for outcome in outcomes})
    if len(names) < 2:
        return
    print(f"\n{title}:\n")
    rows: list[tuple[str, list[Outcome]]] = []
    for part in names:
        of_part = [outcome for outcome in outcomes if part_of(outcome) == part]
        for way in dict.fromkeys(outcome.way for outcome in of_part):
            of_way = [outcome for outcome in of_part if outcome.way == way]
            rows.append((f"{part} ({len(of_way)}): {way}", of_way))
    _print_rows("part and way", rows, _shown(outcomes))


def ablated(found: dict[str, list[Outcome]]) -> None:
    """Print what is lost, or won, without each signal, on each set."""
    signals = dict.fromkeys(outcome.without for outcomes in found.values() for outcome in outcomes if outcome.without)
    if not signals:
        return
    print("\n## Without each signal: how much R@10 and hit@1 change\n")
    heads = [(name, way) for name, outcomes in found.items() for way in dict.fromkeys(each.way for each in outcomes)]
    by: dict[tuple[str, str, str | None], list[Outcome]] = {}
    for name, outcomes in found.items():
        for outcome in outcomes:
            by.setdefault((name, outcome.way, outcome.without), []).append(outcome)
    heads = [(name, way) for name, way in heads if any((name, way, signal) in by for signal in signals)]
    columns = ["every@5" if any("every@5" in each.figures for each in found[name]) else "R@10" for name, _ in heads]
    names = [f"{name}, {way}: {column}, hit@1" for (name, way), column in zip(heads, columns, strict=True)]
    print("| without | " + " | ".join(names) + " |")
    print("|---|" + "---|" * len(heads))
    for signal in signals:
        cells: list[str] = []
        for (name, way), column in zip(heads, columns, strict=True):
            off, on = by.get((name, way, signal), []), by[name, way, None]
            gaps = [measures.mean(off, each) - measures.mean(on, each) for each in (column, "hit@1")]
            cells.append(" ".join(f"{gap:+.3f}" for gap in gaps) if off else "")
        print(f"| {signal} | " + " | ".join(cells) + " |")


def _shown(outcomes: Sequence[Outcome]) -> list[str]:
    return [column for column in _COLUMNS if any(column in outcome.figures for outcome in outcomes)]


def _print_rows(head: str, rows: Sequence[tuple[str, Sequence[Outcome]]], shown: Sequence[str]) -> None:
    print(f"| {head} | " + " | ".join(shown) + " |")
    print("|---|" + "---|" * len(shown))
    for name, outcomes in rows:
        print(f"| {name} | " + " | ".join(_cell(outcomes, column) for column in shown) + " |")


def _cell(outcomes: Sequence[Outcome], column: str) -> str:
    figure = measures.mean(outcomes, column)
    return "" if math.isnan(figure) else f"{figure:.3f}"
