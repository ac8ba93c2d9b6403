"""Asks a reader the questions of a set, once for each text that it may be given, and a judge about each answer."""

import random
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby

import anyio

from benchmarks.answers_contexts import ASK, CONTEXT, COSINE, FULL, NONE, RECALL, Stage, count_tokens, lines_of, staged
from benchmarks.answers_judge import PROMPTS, Judge, Judged, ask, by_words, prompt
from benchmarks.answers_record import Record, RecordFile, digest
from benchmarks.sets import Conversation, Question
from bethink.errors import ModelError
from bethink.extend import Embedder, Model
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.framing import add_frame, inert
from bethink.model.jobs import Usage
from bethink.model.prices import Prices

WAYS = (NONE, FULL, COSINE, CONTEXT, RECALL, ASK)
_ANSWER_TOKENS = 1_024
_SPARE = 0.9
"""The share of a window that is used: tokens are estimated."""
_NOTE = "Notes from earlier conversations."
_ASK_LIMIT = 20


class Counted:
    """A model that adds up the tokens and the cost of its answers."""

    def __init__(self, real: Model, prices: Prices) -> None:
        self._real = real
        self.prices = prices
        self.name, self.window = real.name, real.window
        self.usage = Usage()

    async def answer(self, call: ModelCall) -> ModelAnswer:
        """Call the real model."""
        answer = await self._real.answer(call)
        self.usage += self.prices.usage(call, answer)
        return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is measured, and with what."""

    model: Model
    judge: Judge
    prices: Prices = field(default_factory=Prices)
    judge_prices: Prices = field(default_factory=Prices)
    embedder: Embedder | None = None
    embedder_name: str = "words"
    ways: Sequence[str] = WAYS
    questions: int | None = 50
    """Number of questions of each set; None for all."""
    budget: int = 2_000
    seed: int = 1
    learn: bool = False
    parallel: int = 8
    """Number of questions asked at the same time."""
    records: RecordFile = field(default_factory=partial(RecordFile, None))


@dataclass(kw_only=True)
class Report:
    """The answers to the questions of one set."""

    name: str
    records: list[Record] = field(default_factory=list[Record])
    write: Usage = field(default_factory=Usage)
    """The cost of learning."""
    judge: Usage = field(default_factory=Usage)
    reused: int = 0
    """Number of answers from an earlier run."""
    blocked: str | None = None


def chosen(
    conversations: Iterable[Conversation], *, count: int | None, seed: int
) -> list[tuple[Conversation, Question]]:
    """Draw questions, in the order of the set.

    Left out are the trap questions of LoCoMo, whose published keys are the mistakes they invite, and questions that
    have neither a key nor the mark of a question that cannot be answered. A question that another one needs comes with
    it.
    """
    pairs = [(each, question) for each in conversations for question in each.questions if _is_asked(question)]
    if count is None or count >= len(pairs):
        return pairs
    drawn = {pairs[place][1].id for place in random.Random(seed).sample(range(len(pairs)), count)}
    needed = {question.needs for _, question in pairs if question.id in drawn}
    return [pair for pair in pairs if pair[1].id in drawn or pair[1].id in needed]


def _is_asked(question: Question) -> bool:
    if question.category == "adversarial":
        return False
    return question.answer is not None or question.id.endswith("_abs") or question.category == "abstention"


async def measured(name: str, conversations: Sequence[Conversation], plan: Plan) -> Report:
    """Store the conversations that are asked about, each in a memory of its own, and ask about each."""
    pairs = chosen(conversations, count=plan.questions, seed=plan.seed)
    if not pairs:
        raise SystemExit(f"{name} has no question to ask")
    judge = Counted(plan.judge.model, plan.judge_prices)
    report = Report(name=name)
    groups = [tuple(group) for _, group in groupby(pairs, key=lambda pair: pair[0].id)]
    room = anyio.CapacityLimiter(plan.parallel)
    stages = anyio.Semaphore(max(1, plan.parallel // 2))  # so that few conversations are in memory

    async def about(conversation: Conversation, questions: Sequence[Question]) -> None:
        try:
            reader = Counted(plan.model, plan.prices)
            async with staged(conversation, embedder=plan.embedder, model=reader, learn=plan.learn) as stage:
                report.write += reader.usage
                report.blocked = report.blocked or stage.blocked
                asker = _Asker(plan=plan, report=report, stage=stage, reader=reader, room=room,
                               judge=replace(plan.judge, model=judge))  # fmt: skip
                await asker.ask_all(questions)
        finally:
            stages.release()
        print(f"{name}: {len(report.records)} answers", file=sys.stderr)

    async with anyio.create_task_group() as tasks:
        for group in groups:
            await stages.acquire()
            tasks.start_soon(about, group[0][0], [question for _, question in group])
    report.judge = judge.usage
    order = {question.id: place for place, (_, question) in enumerate(pairs)}
    report.records.sort(key=lambda record: (order[record.id], WAYS.index(record.way)))
    return report


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asker:
    """Asks the questions about one conversation."""

    plan: Plan
    report: Report
    stage: Stage
    reader: Counted
    judge: Judge
    room: anyio.CapacityLimiter

    async def ask_all(self, questions: Sequence[Question]) -> None:
        """Ask each question every way, at its time."""
        for at, asked in groupby(sorted(questions, key=lambda each: each.at), key=lambda each: each.at):
            self.stage.clock.time = at
            async with anyio.create_task_group() as tasks:
                for question in asked:
                    for way in self.plan.ways:
                        tasks.start_soon(self._ask, question, way)

    async def _ask(self, question: Question, way: str) -> None:
        """Answer one question one way and judge the answer, unless an earlier run did."""
        async with self.room:
            body = await self._text(question, way)
            record = self._unanswered(question, way, body)
            earlier = self.plan.records.find(record.key_of_run)
            if earlier is not None and earlier.answer is not None:
                self.report.reused += 1
                record = earlier
            elif way == ASK:
                record = await self._by_ask(question, record)
            else:
                record = await self._by_reader(question, record, body)
            if not record.verdicts or not _is_judged_by(record, self.judge):
                record = await judged(record, self.judge)
                self.plan.records.add(record)
            self.report.records.append(record)

    async def _text(self, question: Question, way: str) -> str:
        """Return the text that the reader is given; for `ask`, what its first search finds."""
        if way == ASK:
            result = await self.stage.space.recall(question.text, budget=self.plan.budget, limit=_ASK_LIMIT)
            return lines_of((item.said_at, item.speaker, item.text) for item in result.items)
        window = int(self.reader.window * _SPARE) - 2 * _ANSWER_TOKENS
        return await self.stage.text(way, question.text, window if way == FULL else self.plan.budget)

    def _unanswered(self, question: Question, way: str, body: str) -> Record:
        return Record(
            set=self.report.name,
            conversation=self.stage.conversation.id,
            id=question.id,
            category=question.category,
            question=question.text,
            key=question.answer,
            rubric=question.rubric,
            needs=question.needs,
            way=way,
            budget=self.plan.budget if way in (COSINE, CONTEXT, RECALL, ASK) else 0,
            embedder=self.plan.embedder_name,
            learned=self.plan.learn,
            context_hash=digest(body),
            context_tokens=count_tokens(body),
            answer=None,
            reader=self.reader.name,
            reader_prompt="ask" if way == ASK else PROMPTS["answer"],
        )

    async def _by_reader(self, question: Question, record: Record, body: str) -> Record:
        """Let the reader answer from a text."""
        today = question.at
        text = f"Today is {today:%A}, {today.day} {today:%B %Y}.\nQuestion: {inert(question.text)}"
        # The block has a frame of its own.
        notes = body if record.way == CONTEXT else add_frame(body, note=_NOTE)
        prompted = f"{notes}\n\n{text}" if body else text
        call = ModelCall(system=prompt("answer"), prompt=prompted, max_tokens=_ANSWER_TOKENS)
        said = await ask(self.reader, call)
        return record if said is None else _answered(record, said.text, self.reader.prices.usage(call, said))

    async def _by_ask(self, question: Question, record: Record) -> Record:
        """Let `ask` answer. A refusal is the answer that it is not known."""
        try:
            answer = await self.stage.space.ask(question.text, budget=self.plan.budget)
        except ModelError:
            return record
        usage = answer.usage or Usage()
        answered = _answered(record, answer.text or "unknown", usage)
        return replace(answered, context_tokens=usage.input_tokens)


def _answered(record: Record, answer: str, usage: Usage) -> Record:
    return replace(
        record, answer=answer, input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, cost=usage.cost
    )


def _is_judged_by(record: Record, judge: Judge) -> bool:
    return (record.judge, record.judge_prompts) == (judge.model.name, judge.prompts(record.set, record.category))


async def judged(record: Record, judge: Judge | None) -> Record:
    """Return the record with new verdicts: those of a judge, or without one only what comparing words gives.

    An answer that never came is wrong.
    """
    if record.answer is None:
        return record
    verdicts: dict[str, float | None] = dict(by_words(record.key, record.answer))
    if judge is None:
        return record.judged(verdicts, judge=None, prompts=None)
    case = Judged(
        set=record.set,
        category=record.category,
        question=record.question,
        key=record.key,
        rubric=tuple(record.rubric),
        answer=record.answer,
    )
    verdicts |= await judge.verdicts(case)
    return record.judged(verdicts, judge=judge.model.name, prompts=judge.prompts(record.set, record.category))


async def rejudged(
    records: Sequence[Record], judge: Judge | None, *, parallel: int = 4, note: Callable[[Record], None] | None = None
) -> list[Record]:
    """Judge recorded answers again, without their memory or their reader."""
    results: dict[int, Record] = {}
    room = anyio.CapacityLimiter(parallel)

    async def one(place: int, record: Record) -> None:
        async with room:
            results[place] = await judged(record, judge)
            if note is not None:
                note(results[place])

    async with anyio.create_task_group() as tasks:
        for place, record in enumerate(records):
            tasks.start_soon(one, place, record)
    return [results[place] for place in range(len(records))]
