"""How many questions about public conversations a model answers from memory, from everything, and from nothing.

It needs a model, and asks it three times for each question, and a judge twice for each answer.
"""

import argparse
import random
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from pathlib import Path
from statistics import fmean

import anyio

import bethink
from benchmarks.answers_judge import PROMPTS, Verdict, ask, judged, prompt
from benchmarks.sets import SETS, Conversation, Question, Turn, load
from bethink.config.settings import Settings, load_settings
from bethink.extend import Embedder, Model
from bethink.host.local import Local, Parts
from bethink.jobs.build import worker_from
from bethink.jobs.worker import Worker
from bethink.memory.plugins import embedder_from, model_from, reranker_from
from bethink.memory.recall.index import Indexer
from bethink.memory.recall.search import Searcher
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.framing import add_frame, inert
from bethink.model.jobs import JobKind, Usage
from bethink.model.moments import EPOCH
from bethink.model.prices import Prices
from bethink.model.records import conversation_key
from bethink.providers.estimated_tokens import EstimatedTokens
from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions

CONTEXTS = ("memory", "full", "none")
_ANSWER_TOKENS = 1_024
_SPARE = 0.9  # tokens are estimated: a window that looks nearly full may be more than full
_LIMIT = 100  # the budget decides, not the number of items
_NOTE = "Notes from earlier conversations."
_tokens = EstimatedTokens()


class Counted:
    """A model that adds up what its answers took."""

    def __init__(self, real: Model, prices: Prices) -> None:
        self._real = real
        self._prices = prices
        self.name, self.window = real.name, real.window
        self.usage = Usage()

    async def answer(self, call: ModelCall) -> ModelAnswer:
        """Ask the real one."""
        answer = await self._real.answer(call)
        self.usage += self._prices.usage(call, answer)
        return answer


class _Clock:
    """Says that it is the time of the conversation."""

    def __init__(self) -> None:
        self.time = EPOCH

    def __call__(self) -> datetime:
        return self.time


class _AsItIs:
    """A redactor that has nothing to do: these texts are public."""

    def redact(self, text: str) -> str:
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is measured, and with what."""

    settings: Settings
    model: Model
    judge: Model
    embedder: Embedder | None = None
    questions: int
    budget: int
    seed: int
    learn: bool
    parallel: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One answer from one context, or none where the model gave none."""

    context: str
    question: str
    tokens: int
    verdict: Verdict | None


@dataclass(kw_only=True)
class Report:
    """What came of one set."""

    name: str
    questions: int
    conversations: int
    models: Mapping[str, Counted]
    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    held: str | None = None

    def rate(self, context: str, judge: str) -> float:
        """Return the share of answers that a judge holds to be right; one that was never given is wrong."""
        verdicts = [outcome.verdict for outcome in self.outcomes if outcome.context == context]
        return fmean(0.0 if verdict is None else float(getattr(verdict, judge) or 0) for verdict in verdicts)

    def tokens(self, context: str) -> float:
        """Return how many tokens of context a question had."""
        return fmean(outcome.tokens for outcome in self.outcomes if outcome.context == context)


def chosen(conversations: Iterable[Conversation], *, count: int, seed: int) -> list[tuple[Conversation, Question]]:
    """Draw questions that have an answer and turns that hold it, in the order of the set."""
    pairs = [(each, question) for each in conversations for question in each.questions if question.answerable]
    places = random.Random(seed).sample(range(len(pairs)), min(count, len(pairs)))
    return [pairs[place] for place in sorted(places)]


async def measured(name: str, conversations: Sequence[Conversation], plan: Plan) -> Report:
    """Store the conversations that are asked about, each in a space of its own, and ask about each."""
    pairs = chosen(conversations, count=plan.questions, seed=plan.seed)
    if not pairs:
        raise SystemExit(f"{name} has no question to ask")
    prices = Prices(input=plan.settings.model.input_price, output=plan.settings.model.output_price)
    models = {use: Counted(plan.model, prices) for use in ("write", *CONTEXTS)}
    models["judge"] = Counted(plan.judge, prices)
    groups = [(first, [pair[1] for pair in group]) for first, group in _by_conversation(pairs)]
    report = Report(name=name, questions=len(pairs), conversations=len(groups), models=models)
    clock = _Clock()
    database = SqliteDatabase(SqliteOptions(path=":memory:"), clock=clock)
    async with _memory(plan, database, models["write"]) as memory:
        for conversation, questions in groups:
            await _stored(memory, conversation, clock)
            report.held = report.held or await _learnt(memory)
            for at, asked in groupby(sorted(questions, key=lambda each: each.at), key=lambda each: each.at):
                clock.time = at
                await _asked_all(memory, conversation, list(asked), plan, report)
            print(f"{name}: {len(report.outcomes) // len(CONTEXTS)} of {len(pairs)} questions", file=sys.stderr)
    return report


def _by_conversation(
    pairs: Iterable[tuple[Conversation, Question]],
) -> Iterable[tuple[Conversation, Iterable[tuple[Conversation, Question]]]]:
    for _, group in groupby(pairs, key=lambda pair: pair[0].id):
        held = list(group)
        yield held[0][0], held


def _memory(plan: Plan, database: SqliteDatabase, writer: Model) -> bethink.Memory:
    redactor, embedder = _AsItIs(), plan.embedder
    reranker = reranker_from(plan.settings, embedder)
    searcher = Searcher(database, tokens=_tokens, embedder=embedder, reranker=reranker)

    def worker() -> Worker:
        if plan.learn:
            return worker_from(
                plan.settings, database, redactor=redactor, model=writer, tokens=_tokens, embedder=embedder
            )
        return Worker(database, {JobKind.INDEX: Indexer(database=database, embedder=embedder)} if embedder else {})

    return bethink.Memory(Local(Parts(database=database, redactor=redactor, worker=worker, searcher=lambda: searcher)))


async def _stored(memory: bethink.Memory, conversation: Conversation, clock: _Clock) -> None:
    for name, turns in groupby(conversation.turns, key=lambda turn: turn.session):
        said = list(turns)
        clock.time = said[-1].at
        key = conversation_key(channel="benchmark", chat=name)
        session = await memory.space(conversation.id).session(key)
        await session.append([_message(turn) for turn in said])
        await session.end()


async def _learnt(memory: bethink.Memory) -> str | None:
    """Let a worker learn and embed what it is to, and say what kept it from going on."""
    while (run := await memory.learn()).leased and run.blocked is None:
        pass
    return run.blocked


def _message(turn: Turn) -> bethink.Message:
    if turn.speaker in ("user", "assistant"):
        return bethink.Message(role=turn.speaker, content=turn.text, said_at=turn.at)
    return bethink.Message(role="user", name=turn.speaker, content=turn.text, said_at=turn.at)


async def _asked_all(
    memory: bethink.Memory, conversation: Conversation, questions: Sequence[Question], plan: Plan, report: Report
) -> None:
    room = anyio.CapacityLimiter(plan.parallel)

    async def one(question: Question, context: str, notes: Sequence[str]) -> None:
        async with room:
            report.outcomes.append(await _answered(question, context, notes, report.models))

    async with anyio.create_task_group() as tasks:
        for question in questions:
            found = await memory.space(conversation.id).recall(question.text, limit=_LIMIT, budget=plan.budget)
            window = int(plan.model.window * _SPARE) - 2 * _ANSWER_TOKENS
            notes = {
                "memory": _fitting(((item.said_at, item.speaker, item.text) for item in found.items), plan.budget),
                "full": _fitting(((turn.at, turn.speaker, turn.text) for turn in conversation.turns[::-1]), window),
                "none": [],
            }
            for context in CONTEXTS:
                tasks.start_soon(one, question, context, notes[context])


def _fitting(said: Iterable[tuple[datetime, str | None, str]], room: int) -> list[str]:
    """Return the first of them that there is room for, the oldest first."""
    lines: list[tuple[datetime, int, str]] = []
    for place, (at, speaker, text) in enumerate(said):
        line = f"[{at:%A}, {at.day} {at:%B %Y}] {speaker or 'someone'}: {inert(text)}"
        room -= _tokens.count(line) + 1
        if room < 0:
            break
        lines.append((at, -place, line))
    return [line for _, _, line in sorted(lines)]


async def _answered(question: Question, context: str, notes: Sequence[str], models: Mapping[str, Counted]) -> Outcome:
    body = "\n".join(notes)
    today = question.at
    text = f"Today is {today:%A}, {today.day} {today:%B %Y}.\nQuestion: {inert(question.text)}"
    asked = f"{add_frame(body, note=_NOTE)}\n\n{text}" if body else text
    call = ModelCall(system=prompt("answer"), prompt=asked, max_tokens=_ANSWER_TOKENS)
    said = await ask(models[context], call)
    verdict = None
    if said is not None:
        verdict = await judged(models["judge"], question=question.text, key=question.answer or "", answer=said.text)
    return Outcome(context=context, question=question.id, tokens=_tokens.count(body), verdict=verdict)


def shown(report: Report, plan: Plan) -> None:
    """Print what was found, what it took, and what it was found with."""
    print(f"\n## {report.name}: {report.questions} questions about {report.conversations} conversations\n")
    names = f"answers by {plan.model.name}, judged by {plan.judge.name}, prompts {', '.join(PROMPTS.values())}"
    how = "learnt from by that model" if plan.learn else "verbatim"
    how += f", embedded by {plan.embedder.name}" if plan.embedder else ", without vectors"
    print(f"{names}; memory {how}, budget {plan.budget} tokens; seed {plan.seed}\n")
    print("| context | exact | strict | lenient | F1 | tokens of context | tokens in | tokens out | dollars |")
    print("|---|---|---|---|---|---|---|---|---|")
    for context in CONTEXTS:
        rates = " | ".join(f"{report.rate(context, judge):.3f}" for judge in ("exact", "strict", "lenient", "f1"))
        print(f"| {context} | {rates} | {report.tokens(context):.0f} | {_bill(report.models[context].usage)} |")
    print("\n| besides | tokens in | tokens out | dollars |\n|---|---|---|---|")
    for use in ("write", "judge"):
        print(f"| {use} | {_bill(report.models[use].usage)} |")
    silent = sum(outcome.verdict is None for outcome in report.outcomes)
    unclear = sum(
        (outcome.verdict.strict is None) + (outcome.verdict.lenient is None)
        for outcome in report.outcomes
        if outcome.verdict is not None
    )
    print(f"\n{silent} answers never came and {unclear} verdicts were none; both count as wrong.")
    if report.held:
        print(f"Learning stopped early: {report.held}.")


def _bill(usage: Usage) -> str:
    return f"{usage.input_tokens} | {usage.output_tokens} | {usage.cost / 1_000_000:.4f}"


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds the sets")
    parser.add_argument("--model", required=True, help="who answers, as the setting model has it: openai:NAME")
    parser.add_argument("--base-url", help="where that model is, if not at its provider's")
    parser.add_argument("--judge", help="who judges; the same model if left out")
    parser.add_argument("--set", choices=list(SETS), action="append", help="which set; may be given again")
    parser.add_argument("--questions", type=int, default=50, help="how many of each set")
    parser.add_argument("--budget", type=int, default=2_000, help="how many tokens memory may give back")
    parser.add_argument("--learn", action="store_true", help="let the model learn from every session first: costs more")
    parser.add_argument("--seed", type=int, default=1, help="which questions are drawn")
    parser.add_argument(
        "--goal", type=float, help="fail below this share of right answers from memory, judged strictly"
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None, *, make: Callable[[Settings], Model | None] = model_from) -> int:
    options = _options(arguments)
    given = {"model_base_url": options.base_url} if options.base_url else {}
    settings = load_settings(model=options.model, **given)
    other = replace(settings.model, name=options.judge or options.model)
    model, judge = make(settings), make(replace(settings, model=other))
    if model is None or judge is None:
        raise SystemExit("no model: give --model openai:NAME")
    plan = Plan(
        settings=settings,
        model=model,
        judge=judge,
        embedder=embedder_from(settings),
        questions=options.questions,
        budget=options.budget,
        seed=options.seed,
        learn=options.learn,
    )
    reports: list[Report] = []
    for name in options.set or ["locomo"]:
        reports.append(anyio.run(measured, name, load(name, options.data), plan))
        shown(reports[-1], plan)
    asked = sum(report.questions for report in reports)
    right = {
        context: sum(report.rate(context, "strict") * report.questions for report in reports) / asked
        for context in CONTEXTS
    }
    goal = "" if options.goal is None else f" (goal {options.goal:.3f})"
    print(
        f"\nright by the strict judge: {right['memory']:.3f} from memory{goal}, {right['full']:.3f} from everything, "
        f"{right['none']:.3f} from nothing; {asked} questions"
    )
    return 1 if options.goal is not None and right["memory"] < options.goal else 0


if __name__ == "__main__":
    sys.exit(main())
