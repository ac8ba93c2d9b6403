"""How often a reader answers right from memory, next to full context, cosine and nothing, with tokens and cost.

It needs an OpenAI-compatible model as reader and one as judge. Without any, `--derivable` checks whether the lines that
an answer needs are in the text that a reader would be given, and `--judge-only` judges recorded answers by their words.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import anyio

from benchmarks import answers_derivable
from benchmarks.answers_judge import JUDGES, PROMPTS, Judge
from benchmarks.answers_record import Record, RecordFile, read_records, write_records
from benchmarks.answers_report import bill, count_questions, judges_of, rate, silent, table
from benchmarks.answers_run import WAYS, Plan, Report, measured, rejudged
from benchmarks.recall_models import MODELS, loaded
from benchmarks.sets import PUBLISHED, SETS, Conversation
from bethink.config.settings import Settings, load_settings
from bethink.extend import Embedder, Model
from bethink.memory.plugins import embedder_from, model_from
from bethink.model.prices import Prices

Make = Callable[[Settings], Model | None]
DEFAULT_SETS = ("longmemeval", "locomo", "beam", "meme")
_FROM_SETTINGS = "settings"


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--derivable", action="store_true", help="check without a model whether the required lines are given")
    add("--patterns", type=Path, default=answers_derivable.PATTERNS, help="file of questions with patterns")
    add(
        "--evidence",
        action="store_true",
        help="with --derivable: look for the short evidence turns of the sets instead",
    )
    add("--judge-only", type=Path, metavar="FILE", help="judge the recorded answers of a file again")
    add("--data", type=Path, default=Path("bench/data"), help="folder of the public sets")
    add("--set", metavar="NAME", action="append", help="set to ask; repeatable (default: those in the folder)")
    add("--first", type=int, metavar="N", help="with --derivable: only the first N conversations of each set")
    add("--model", help="reader, as the setting `model` has it: openai:NAME")
    add("--base-url", help="address of an OpenAI-compatible server for the reader and the judge")
    add("--judge", help="judge, in the same form (default: the reader)")
    add("--judge-base-url", help="address of the judge, if it is elsewhere")
    add("--judges", default=",".join(JUDGES), help="kinds of verdicts to ask for, separated by commas")
    add("--judge-prompts", type=Path, metavar="FOLDER", help="published prompts: SET.md, or SET-CATEGORY.md")
    add("--way", choices=WAYS, action="append", help="text that the reader is given; repeatable (default: all)")
    add("--embedder", action="append", choices=["words", _FROM_SETTINGS, *MODELS], help="vectors of memory and cosine")
    add("--cache", type=Path, default=Path(tempfile.gettempdir()) / "bethink-benchmark-vectors.db",
        help="file in which vectors are kept between runs")  # fmt: skip
    add("--questions", type=int, default=50, help="questions to draw from each set (default 50)")
    add("--all", action="store_true", help="ask every question")
    add("--budget", type=int, default=2_000, help="tokens that memory may return (default 2,000)")
    add("--learn", action="store_true", help="let the reader's model learn from every session first: costs more")
    add("--parallel", type=int, default=8, help="questions to ask at the same time (default 8)")
    add("--price", type=_prices, metavar="IN,OUT", help="dollars per million tokens of the reader")
    add("--judge-price", type=_prices, metavar="IN,OUT", help="dollars per million tokens of the judge")
    add("--record", type=Path, metavar="FILE", help="record each answer in FILE, and resume from it")
    add("--seed", type=int, default=1, help="seed of the drawn questions")
    add("--goal", action="append", default=[], metavar="WAY=SHARE", help="fail below this share of right answers")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None, *, make: Make = model_from) -> int:
    options = _options(arguments)
    goals = _goals(options.goal)
    if options.derivable:
        patterns = None if options.evidence else options.patterns
        return answers_derivable.check(
            patterns, embedders=options.embedder or ["words"], data=options.data, cache=options.cache,
            only=options.set or (), first=options.first,
        )  # fmt: skip
    if options.judge_only is not None:
        return _judge_only(options, goals, make)
    plan = _plan(options, make)
    reports: list[Report] = []
    for name, conversations in _sets(options):
        reports.append(anyio.run(measured, name, conversations, plan))
        _print(reports[-1], plan)
    if not reports:
        raise SystemExit(f"no set under {options.data}: pass --data with {', '.join(DEFAULT_SETS)}")
    return _conclude([record for report in reports for record in report.records], goals, seed=plan.seed)


def _prices(text: str) -> Prices:
    low, high = map(float, text.split(","))
    return Prices(input=low, output=high)


def _goals(texts: Sequence[str]) -> dict[str, float]:
    goals: dict[str, float] = {}
    for text in texts:
        way, _, share = text.partition("=")
        try:
            goals[way] = float(share)
        except ValueError:
            raise SystemExit(f"--goal {text}: expected WAY=SHARE, such as context=0.9") from None
        if way not in WAYS:
            raise SystemExit(f"--goal {text}: {way} is no way; choose from {', '.join(WAYS)}")
    return goals


def _sets(options: argparse.Namespace) -> list[tuple[str, list[Conversation]]]:
    """Read the sets that are asked for; by default those whose files exist, LongMemEval as published if it is there."""
    found: list[tuple[str, list[Conversation]]] = []
    for name in options.set or DEFAULT_SETS:
        if name not in SETS:
            raise SystemExit(f"--set {name}: choose from {', '.join(SETS)}")
        published = name == "longmemeval" and any((options.data / name / each).is_file() for each in PUBLISHED)
        choice = "longmemeval_s" if published else name
        try:
            found.append((choice, SETS[choice](options.data)))
        except FileNotFoundError as error:
            if options.set:
                raise SystemExit(f"no {name} under {options.data}: {error.filename} is missing") from error
            print(f"without {name}: {error.filename} is missing")
    return found


def _model(name: str, base_url: str | None, make: Make) -> tuple[Settings, Model]:
    settings = load_settings(model=name, model_base_url=base_url) if base_url else load_settings(model=name)
    model = make(settings)
    if model is None:
        raise SystemExit(f"no model {name!r}: pass openai:NAME")
    return settings, model


def _judge(options: argparse.Namespace, name: str, make: Make) -> Judge:
    kinds: list[str] = list(filter(None, str(options.judges).split(",")))
    unknown = [kind for kind in kinds if kind not in JUDGES]
    if unknown or not kinds:
        raise SystemExit(f"--judges {options.judges}: choose from {', '.join(JUDGES)}")
    _, model = _model(name, options.judge_base_url or options.base_url, make)
    return Judge(model=model, kinds=kinds, folder=options.judge_prompts)


def _plan(options: argparse.Namespace, make: Make) -> Plan:
    if not options.model:
        raise SystemExit("no model: pass --model openai:NAME, or --derivable to do without")
    if len(options.embedder or ()) > 1:
        raise SystemExit("--embedder: only --derivable takes several")
    settings, model = _model(options.model, options.base_url, make)
    name, embedder = _embedder(options, settings)
    return Plan(
        model=model,
        judge=_judge(options, options.judge or options.model, make),
        prices=options.price or settings.model.prices,
        judge_prices=options.judge_price or options.price or settings.model.prices,
        parallel=options.parallel,
        embedder=embedder,
        embedder_name=name,
        ways=tuple(dict.fromkeys(options.way or WAYS)),
        questions=None if options.all else options.questions,
        budget=options.budget,
        seed=options.seed,
        learn=options.learn,
        records=RecordFile(options.record),
    )


def _embedder(options: argparse.Namespace, settings: Settings) -> tuple[str, Embedder | None]:
    [name] = options.embedder or [_FROM_SETTINGS]
    if name == _FROM_SETTINGS:
        embedder = embedder_from(settings)
        return ("words" if embedder is None else embedder.name), embedder
    if name == "words":
        return name, None
    models = loaded([name], (), cache=options.cache, threads=2)
    if models.missing:
        raise SystemExit(f"no embedder {name}: {models.missing[name]}")
    return models.embedders[name].name, models.embedders[name]


def _judge_only(options: argparse.Namespace, goals: Mapping[str, float], make: Make) -> int:
    records = [each for each in read_records(options.judge_only) if not options.set or each.set in options.set]
    if not records:
        raise SystemExit(f"{options.judge_only} has no recorded answer")
    judge = _judge(options, options.judge, make) if options.judge else None
    results = anyio.run(partial(rejudged, records, judge))
    if options.record is not None:
        write_records(options.record, results)
    for name in dict.fromkeys(record.set for record in results):
        _print_records(name, [record for record in results if record.set == name])
    before, after = (_verdicts(each) for each in (records, results))
    changed = sum(before[key] != after[key] for key in before.keys() & after.keys())
    print(f"\n{changed} of {len(before.keys() & after.keys())} recorded verdicts differ.")
    return _conclude(results, goals)


def _verdicts(records: Sequence[Record]) -> dict[tuple[int, str], float | None]:
    return {(place, judge): value for place, each in enumerate(records) for judge, value in each.verdicts.items()}


def _print(report: Report, plan: Plan) -> None:
    _print_records(report.name, report.records)
    print("\n| besides | tokens in | tokens out | dollars |\n|---|---|---|---|")
    print(f"| write | {bill(report.write)} |\n| judge | {bill(report.judge)} |")
    how = "learned from by that model" if plan.learn else "verbatim"
    print(f"\nmemory {how}, {plan.embedder_name}, budget {plan.budget} tokens; {report.reused} answers reused")
    reader, judge = (f"${each.input:g} and ${each.output:g}" for each in (plan.prices, plan.judge_prices))
    print(f"prices per million tokens in and out: reader {reader}, judge {judge}")
    if report.blocked:
        print(f"Learning stopped early: {report.blocked}.")


def _print_records(name: str, records: Sequence[Record]) -> None:
    conversations = len({record.conversation for record in records})
    print(f"\n## {name}: {count_questions(records)} questions about {conversations} conversations\n")
    readers, judges, prompts = (
        ", ".join(sorted({str(getattr(record, field) or "words") for record in records}))
        for field in ("reader", "judge", "judge_prompts")
    )
    print(f"answers by {readers} with {PROMPTS['answer']}, judged by {judges} with {prompts}\n")
    print("\n".join([*table(records), "", silent(records)]))


def _conclude(records: Sequence[Record], goals: Mapping[str, float], *, seed: int | None = None) -> int:
    """Print the mean of all sets, each question counted once, and return 1 if a goal is missed."""
    by_set = {name: [each for each in records if each.set == name] for name in dict.fromkeys(r.set for r in records)}
    judge = (judges_of(records) or ["none"])[0]
    counts = {name: count_questions(of_set) for name, of_set in by_set.items()}
    parts: list[str] = []
    missed = False
    for way in [way for way in WAYS if any(record.way == way for record in records) or way in goals]:
        share = sum(rate(of_set, way, judge) * counts[name] for name, of_set in by_set.items()) / sum(counts.values())
        goal = goals.get(way)
        missed |= goal is not None and share < goal
        parts.append(f"{way} {share:.3f}" + ("" if goal is None else f" (goal {goal:.3f})"))
    ending = "" if seed is None else f"; seed {seed}"
    print(f"\nright by the {judge} judge: {', '.join(parts)}; {sum(counts.values())} questions{ending}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
