"""Evidence recall: Bethink by words and with each model, beside what anyone would try first.

Without a folder of data it runs the sets that are kept here: an assistant's everyday and connected lives, each by two
authors, and twelve languages. Weights were found on odd conversations (the 1st, 3rd, …) and are reported on both
halves, with bootstrap intervals.
"""

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks import recall_certainty as certainty
from benchmarks import recall_goals as goals
from benchmarks import recall_misses as misses
from benchmarks import recall_tables as tables
from benchmarks.recall_measures import Outcome
from benchmarks.recall_models import MODELS, RERANKERS
from benchmarks.recall_run import Plan, measured
from benchmarks.recall_sets import OWN, SESSIONS, SETS, load, together


def _data() -> Path:
    beside = [Path("bench/data"), *sorted(Path.cwd().parent.glob("*/bench/data"))]
    return next((folder for folder in beside if folder.is_dir()), beside[0])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--data", type=Path, default=_data(), help="the folder with locomo, realtalk, beam, longmemeval, madial")
    add("--all", action="store_true", help="every set, by words and with MiniLM, and by category")
    add("--set", choices=SETS, action="append", help="only these sets; without any, those that need no data")
    add("--model", choices=[*MODELS, "all"], action="append", help="also with the vectors of these models")
    add("--vectors", action="store_true", help="the same as --model minilm")
    add("--reranker", choices=RERANKERS, action="append", help="also reranked: slow")
    add("--rerank", action="store_true", help="the same as --model minilm --reranker tokens")
    add("--ablations", action="store_true", help="also without each signal")
    add("--misses", type=int, metavar="N", help="the first N misses of each set and way, and all of them by cause")
    add("--plot", type=Path, metavar="FILE", help="draw how far the certainty can be believed, as SVG")
    add("--first", type=int, help="only so many conversations of each set")
    add(
        "--together",
        action="store_true",
        help="all conversations of a set in one space, and whether the limits on what is read cost evidence",
    )
    add("--categories", action="store_true", help="also by category and by language")
    add("--cache", type=Path, default=Path(tempfile.gettempdir()) / "bethink-benchmark-vectors.db",
        help="the file in which vectors are kept between runs")  # fmt: skip
    add("--jobs", type=int, default=1, help="so many processes, each with conversations of its own")
    add("--seed", type=int, default=1)
    return parser.parse_args()


def _plan(options: argparse.Namespace) -> Plan:
    models: list[str] = list(MODELS) if "all" in (options.model or ()) else options.model or []
    rerankers: list[str] = options.reranker or []
    if options.all or options.vectors or options.rerank:
        models = ["minilm", *models]
    if options.rerank:
        rerankers = ["tokens", *rerankers]
    wanted = Plan(
        models=tuple(dict.fromkeys(models)),
        rerankers=tuple(dict.fromkeys(rerankers)),
        ablations=options.ablations,
        misses=options.misses is not None,
        cache=options.cache,
        jobs=options.jobs,
    )
    missing = wanted.load().missing
    for name, why in missing.items():
        print(f"without {name}: {why}")
    return replace(
        wanted,
        models=tuple(name for name in wanted.models if name not in missing),
        rerankers=tuple(name for name in wanted.rerankers if name not in missing),
    )


def main() -> int:
    options = _options()
    plan = _plan(options)
    found: dict[str, list[Outcome]] = {}
    for name in options.set or (SETS if options.all else OWN):
        conversations = load(name, options.data)[: options.first]
        if options.together:
            found[name] = measured(name, [together(name, conversations)], replace(plan, unbounded=True))
        else:
            found[name] = measured(name, conversations, replace(plan, whole=name in SESSIONS))
        tables.table(name, found[name], seed=options.seed)
        if options.categories or options.all:
            tables.parts(name, found[name])
        if options.misses is not None:
            print("\n".join(misses.report(name, found[name], first=options.misses)))
    tables.ablated(found)
    _print_certainty(found, options.plot)
    print("\n## Goals\n")
    lines = goals.verdict(found)
    print("\n".join(map(str, lines)) or "none of the goals is about what was run")
    return 0 if all(line.reached for line in lines) else 1


def _print_certainty(found: dict[str, list[Outcome]], plot: Path | None) -> None:
    whole = {name: [each for each in outcomes if each.without is None] for name, outcomes in found.items()}
    for name, outcomes in whole.items():
        for line in certainty.table(name, outcomes):
            print(line)
    if lines := certainty.kinds_table(found):
        print("\n## High certainty by kind of data; fitted on odd halves, reported on even ones\n")
        print("\n".join(lines))
    if plot is not None:
        plot.write_text(certainty.svg(certainty.series(whole)), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
