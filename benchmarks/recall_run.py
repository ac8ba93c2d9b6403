"""Stores conversations, and asks their questions every way: Bethink by words, with each model, and the baselines."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import multiprocessing
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path

import anyio
import numpy as np

import bethink
from benchmarks import recall_measures as measures
from benchmarks.recall_ablations import ablations
from benchmarks.recall_baselines import BIGRAMS, Baselines
from benchmarks.recall_measures import Outcome, Prediction
from benchmarks.recall_misses import missed
from benchmarks.recall_models import Asked, Loaded, loaded
from benchmarks.sets import Conversation, Question, Turn
from bethink.api.connect import memory_from
from bethink.extend import Embedder
from bethink.jobs.worker import Worker
from bethink.memory.recall.index import Indexer
from bethink.memory.recall.reindex import vectors_of
from bethink.memory.recall.search import Searcher
from bethink.memory.recall.tuning import TUNING
from bethink.model.jobs import JobKind
from bethink.model.moments import EPOCH
from bethink.model.operations.memory import RecallRequest
from bethink.model.recall import Certainty, RecallResult
from bethink.model.records import conversation_key
from bethink.model.refs import RefKind
from bethink.providers.estimated_tokens import EstimatedTokens
from bethink.store.candidates import Bounds
from bethink.store.db import Database
from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions

WORDS = "words"
UNBOUNDED = "words, every text weighed"
_ALL = 10**9
_SPACE = "benchmark"
_FIRST = 20
_SESSIONS_FROM = 200
_TOP = 10
_EMBEDDED = 1_200
"""The characters of a message that are embedded, so that bare vectors are the very same."""


def with_model(model: str, reranker: str | None = None) -> str:
    """Name the way that asks Bethink with a model, and perhaps a reranker."""
    return f"words + {model}" + (f" + {reranker}" if reranker else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Which ways questions are asked, and what is looked at. It is sent to other processes."""

    models: tuple[str, ...] = ()
    rerankers: tuple[str, ...] = ()
    ablations: bool = False
    misses: bool = False
    whole: bool = False
    """Whether whole sessions are the evidence."""
    unbounded: bool = False
    """Whether questions are also compared with every text that shares a word with them."""
    cache: Path
    jobs: int = 1

    def load(self) -> Loaded:
        """Load the models."""
        return loaded(self.models, self.rerankers, cache=self.cache, threads=1 if self.jobs > 1 else 2)


@dataclass(kw_only=True)
class _Stage:
    """One conversation in a memory, and what came of its questions so far."""

    conversation: Conversation
    odd: bool
    plan: Plan
    database: Database
    clock: "_Clock"
    turns: dict[tuple[str, int], str]
    baselines: Baselines
    outcomes: list[Outcome] = field(default_factory=list[Outcome])

    def questions(self) -> Iterator[Question]:
        """Go through the questions that can be judged, each at its time."""
        for question in self.conversation.questions:
            if self.plan.whole or question.answer is None or question.evidence:
                self.clock.time = question.at
                yield question

    async def ask(self, way: str, searcher: Searcher, *, without: str | None = None) -> None:
        """Ask every question one way."""
        limit = _SESSIONS_FROM if self.plan.whole else _FIRST
        for question in self.questions():
            request = RecallRequest(question=question.text, limit=limit, kinds=(RefKind.MESSAGE,))
            found = await searcher.recall(_SPACE, request)
            ranked = [self.turns[item.ref.id, item.ref.number] for item in found.items]
            outcome = self._outcome(way, question, ranked, found, without)
            if self.plan.misses and without is None and outcome.figures.get("R@10", 1.0) < 1:
                explained = await searcher.recall(_SPACE, _explained(request))
                words = self.baselines.by_words(question.text)[BIGRAMS]
                misses = missed(question, self.conversation.turns, explained, self.turns, words)
                outcome = replace(outcome, misses=misses)
            self.outcomes.append(outcome)

    async def ask_embedded(self, model: str, embedder: Asked, loaded: Loaded) -> None:
        """Embed the conversation, and ask with its vectors: Bethink, and bare."""
        await vectors_of(self.database, embedder).reindex()
        await fill(self.database, embedder)
        tokens = EstimatedTokens()
        for name, reranker in {None: None, **loaded.rerankers}.items():
            ranks = Searcher(self.database, tokens=tokens, embedder=embedder, reranker=reranker)
            await self.ask(with_model(model, name), ranks)
        if self.plan.ablations:
            for off, tuning in ablations(vectors=True).items():
                ranks = Searcher(self.database, tokens=tokens, embedder=embedder, tuning=tuning)
                await self.ask(with_model(model), ranks, without=off)
        texts = [turn.text.strip()[:_EMBEDDED] for turn in self.conversation.turns]
        vectors = np.asarray(await embedder.embed(texts), dtype=np.float32)
        for question in self.questions():
            asked = (await embedder.embed([question.text], kind="question"))[0]
            for way, ranked in self.baselines.by_vectors(model, question.text, asked, vectors).items():
                self.outcomes.append(self._outcome(way, question, ranked))

    def ask_full_text(self) -> None:
        """Ask the full texts."""
        for question in self.questions():
            for way, ranked in self.baselines.by_words(question.text).items():
                self.outcomes.append(self._outcome(way, question, ranked))

    def _outcome(
        self,
        way: str,
        question: Question,
        ranked: Sequence[str],
        found: RecallResult | None = None,
        without: str | None = None,
    ) -> Outcome:
        sessions = _sessions(ranked, self.conversation.turns) if self.plan.whole else None
        figures = measures.judged(question, ranked[:_FIRST], sessions)
        evidence = frozenset[str]() if question.answer is None else question.evidence
        items = () if found is None else found.items
        predictions = [
            Prediction(item.probability, turn in evidence) for item, turn in zip(items, ranked, strict=False)
        ]
        surest = max(predictions, key=lambda prediction: prediction.certainty, default=None)
        if found is not None:
            is_high = found.certainty is Certainty.HIGH
            figures["never high" if question.answer is None else "high"] = float(is_high)
            if is_high and surest is not None:
                figures["high right"] = float(surest.right)
        return Outcome(
            way=way,
            conversation=self.conversation.id,
            question=question.id,
            category=question.category,
            language=question.language,
            odd=self.odd if question.odd is None else question.odd,
            figures=figures,
            without=without,
            answers=() if surest is None else (surest,),
            items=tuple(predictions[:_TOP]),
        )


def _explained(request: RecallRequest) -> RecallRequest:
    return replace(request, limit=_FIRST, explain=True)


async def asked(conversation: Conversation, *, odd: bool, plan: Plan, models: Loaded) -> list[Outcome]:
    """Store a conversation once, and ask its questions every way."""
    clock = _Clock()
    database = SqliteDatabase(SqliteOptions(path=":memory:"), clock=clock)
    memory = memory_from(bethink.Settings.load(environ={}, learn=False), database=database, redactor=_AsItIs())
    async with memory:
        stage = _Stage(
            conversation=conversation,
            odd=odd,
            plan=plan,
            database=database,
            clock=clock,
            turns=await _stored(memory, conversation),
            baselines=Baselines(conversation.turns),
        )
        await stage.ask(WORDS, Searcher(database, tokens=EstimatedTokens()))
        if plan.unbounded:
            everything = Bounds(postings=_ALL, one_term=_ALL, of_pair=_ALL, newest=_ALL, compared=_ALL)
            tuning = replace(TUNING, bounds=everything)
            await stage.ask(UNBOUNDED, Searcher(database, tokens=EstimatedTokens(), tuning=tuning))
        if plan.ablations:
            for off, tuning in ablations(vectors=False).items():
                await stage.ask(WORDS, Searcher(database, tokens=EstimatedTokens(), tuning=tuning), without=off)
        for model, embedder in models.embedders.items():
            await stage.ask_embedded(model, embedder, models)
        stage.ask_full_text()
        stage.baselines.close()
    return stage.outcomes


async def fill(database: Database, embedder: Embedder) -> None:
    """Let a worker embed whatever has no vector yet."""
    worker = Worker(database, {JobKind.INDEX: Indexer(database=database, embedder=embedder)})
    while (await worker.run_once()).leased:
        pass


class _AsItIs:
    """A redactor that has nothing to do: these texts are public."""

    def redact(self, text: str) -> str:
        return text


class _Clock:
    """Says that it is the time of the question."""

    def __init__(self) -> None:
        self.time = EPOCH

    def __call__(self) -> datetime:
        return self.time


async def _stored(memory: bethink.Memory, conversation: Conversation) -> dict[tuple[str, int], str]:
    """Append every turn in its session, and say which message each became."""
    turns: dict[tuple[str, int], str] = {}
    by_session: dict[str, list[Turn]] = {}
    for turn in conversation.turns:
        by_session.setdefault(turn.session, []).append(turn)
    for name, said in by_session.items():
        key = conversation_key(channel="benchmark", chat=name)
        session = await memory.space(_SPACE).session(key)
        numbers = await session.append([_message(turn) for turn in said])
        turns |= {(session.id, number): turn.id for number, turn in zip(numbers, said, strict=True)}
    return turns


def _message(turn: Turn) -> bethink.Message:
    if turn.speaker in ("user", "assistant"):
        return bethink.Message(role=turn.speaker, content=turn.text, said_at=turn.at)
    return bethink.Message(role="user", name=turn.speaker, content=turn.text, said_at=turn.at)


def _sessions(found: Sequence[str], turns: Sequence[Turn]) -> list[str]:
    where = {turn.id: turn.session for turn in turns}
    return list(dict.fromkeys(where[each] for each in found))


_models: dict[Plan, Loaded] = {}


def _one(plan: Plan, numbered: tuple[int, Conversation]) -> list[Outcome]:
    """Ask one conversation, in whatever process this is; the models are loaded once."""
    place, conversation = numbered
    if plan not in _models:
        _models[plan] = plan.load()
    return anyio.run(partial(asked, conversation, odd=place % 2 == 0, plan=plan, models=_models[plan]))


def measured(name: str, conversations: Sequence[Conversation], plan: Plan) -> list[Outcome]:
    """Ask all conversations of a set, several at a time with more than one job, in their order."""
    started = time.monotonic()
    if plan.jobs == 1:
        results = map(partial(_one, plan), enumerate(conversations))
        return list(_told(name, results, len(conversations), started))
    with ProcessPoolExecutor(plan.jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        results = pool.map(partial(_one, plan), enumerate(conversations))
        return list(_told(name, results, len(conversations), started))


def _told(name: str, results: Iterator[list[Outcome]], count: int, started: float) -> Iterator[Outcome]:
    """Say from time to time how far it is."""
    for place, outcomes in enumerate(results, 1):
        yield from outcomes
        if sys.stderr.isatty() or place % 50 == 0 or place == count:
            spent = time.monotonic() - started
            print(f"{name}: {place} of {count} conversations, {spent:.0f} s", file=sys.stderr)
