"""The texts that a reader is given before it answers: recall, the context block, and the baselines."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

import numpy as np

import bethink
from benchmarks.recall_baselines import BIGRAMS, Baselines
from benchmarks.recall_run import fill
from benchmarks.sets import Conversation, Turn
from bethink.api.connect import memory_from
from bethink.extend import Embedder, Model
from bethink.model.framing import inert
from bethink.model.moments import EPOCH
from bethink.model.records import conversation_key
from bethink.providers.estimated_tokens import EstimatedTokens
from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions

NONE, FULL, COSINE, RECALL, CONTEXT, ASK = "none", "full", "cosine", "recall", "context", "ask"
_LIMIT = 100
"""Results of a recall: the budget decides, not their number."""
_EMBEDDED = 1_200
"""Characters of a turn that the baseline embeds, so that it uses the vectors of the recall benchmark."""
_tokens = EstimatedTokens()


class Clock:
    """Returns the time of the conversation."""

    def __init__(self) -> None:
        self.time = EPOCH

    def __call__(self) -> datetime:
        return self.time


class _NoRedaction:
    def redact(self, text: str) -> str:
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One conversation, stored in a memory and ready for questions."""

    conversation: Conversation
    memory: bethink.Memory
    clock: Clock
    embedder: Embedder | None
    vectors: "np.ndarray | None"
    """Vectors of the turns for the baseline, without an embedder None."""
    baselines: Baselines
    blocked: str | None = None
    """The reason why learning stopped early."""

    @property
    def space(self) -> bethink.Space:
        """The space of the conversation."""
        return self.memory.space(self.conversation.id)

    async def text(self, way: str, question: str, budget: int) -> str:
        """Return the text that a reader of this question is given, with at most `budget` tokens of memory."""
        turns = self.conversation.turns
        if way == CONTEXT:
            return (await self.space.context(question, budget=budget, citations=False)).text
        if way == RECALL:
            result = await self.space.recall(question, budget=budget, limit=_LIMIT)
            return lines_of((item.said_at, item.speaker, item.text) for item in result.items)
        if way == COSINE:
            return lines_of(_within(await self._ranked(question), budget))
        if way == FULL:
            return lines_of(_within(turns[::-1], budget))
        return ""

    async def _ranked(self, question: str) -> list[Turn]:
        """Rank the turns by cosine alone; without an embedder by full text."""
        turns = self.conversation.turns
        if self.embedder is None or self.vectors is None:
            by_id = {turn.id: turn for turn in turns}
            return [by_id[name] for name in self.baselines.by_words(question)[BIGRAMS]]
        [asked] = await self.embedder.embed([question], kind="question")
        near = self.vectors @ np.asarray(asked, dtype=np.float32)
        return [turns[index] for index in np.argsort(-near, kind="stable")]


def lines_of(said: Iterable[tuple[datetime, str | None, str]]) -> str:
    """Return one line for each text, the oldest first, each with its day and speaker."""
    lines = [
        (at, index, f"[{at:%A}, {at.day} {at:%B %Y}] {speaker or 'someone'}: {inert(text)}")
        for index, (at, speaker, text) in enumerate(said)
    ]
    return "\n".join(line for _, _, line in sorted(lines))


def count_tokens(text: str) -> int:
    """Return the estimated number of tokens of a text."""
    return _tokens.count(text)


def _within(turns: Sequence[Turn], budget: int) -> Iterable[tuple[datetime, str, str]]:
    """Yield the first turns until the budget is spent on their texts; the last of them is cut to what remains."""
    for turn in turns:
        cost = _tokens.count(turn.text)
        yield turn.at, turn.speaker, turn.text if cost <= budget else turn.text[: 4 * budget]
        budget -= cost
        if budget <= 0:
            return


@asynccontextmanager
async def staged(
    conversation: Conversation,
    *,
    embedder: Embedder | None = None,
    model: Model | None = None,
    learn: bool = False,
) -> AsyncGenerator[Stage]:
    """Store a conversation through the public API, one session each, and embed it.

    With `model`, `ask` works. With `learn` too, the model learns from every session before any question.
    """
    clock = Clock()
    memory = memory_from(
        bethink.Settings.load(environ={}, learn=learn, learn_in_background=False, embedder="none"),
        database=(database := SqliteDatabase(SqliteOptions(path=":memory:"), clock=clock)),
        redactor=_NoRedaction(),
        model=model,
        embedder=embedder,
    )
    async with memory:
        await _store(memory.space(conversation.id), conversation, clock)
        blocked = await _learn(memory) if learn else None
        vectors = None
        if embedder is not None:
            await fill(database, embedder)
            texts = [turn.text.strip()[:_EMBEDDED] for turn in conversation.turns]
            vectors = np.asarray(await embedder.embed(texts), dtype=np.float32)
        baselines = Baselines(conversation.turns)
        try:
            yield Stage(
                conversation=conversation, memory=memory, clock=clock, embedder=embedder, vectors=vectors,
                baselines=baselines, blocked=blocked,
            )  # fmt: skip
        finally:
            baselines.close()


async def _store(space: bethink.Space, conversation: Conversation, clock: Clock) -> None:
    for name, turns in groupby(conversation.turns, key=lambda turn: turn.session):
        said = list(turns)
        clock.time = said[-1].at
        session = await space.session(conversation_key(channel="benchmark", chat=name))
        await session.append([_message(turn) for turn in said])
        await session.end()


async def _learn(memory: bethink.Memory) -> str | None:
    """Let a worker learn until nothing is left, and return the reason if it stopped early."""
    while (run := await memory.learn()).leased and run.blocked is None:
        pass
    return run.blocked


def _message(turn: Turn) -> bethink.Message:
    if turn.speaker in ("user", "assistant"):
        return bethink.Message(role=turn.speaker, content=turn.text, said_at=turn.at)
    return bethink.Message(role="user", name=turn.speaker, content=turn.text, said_at=turn.at)
