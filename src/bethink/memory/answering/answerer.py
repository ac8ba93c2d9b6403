"""Answers a question from memory. Read this file first; each step is one call in `Answerer`.

    search     searches.py       search memory, within the budget; exclude memories, and those that read like an order
    ask        prompt.py         the model, with the other memories as data, one line with a label each
    split      sentences.py      its text into sentences, while it is still writing
    verify     proof.py          each sentence by the memories that it cites, or drop it
    repeat     searches.py       if it names something else to search for, up to three searches
    count      store/ledger.py   the cited memories as used

The model only words the answer. Code decides which sentences are included.
"""

import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from typing import cast

import anyio

from bethink.errors import ModelError, ModelTimeoutError
from bethink.extend import Model, StreamingModel
from bethink.memory.answering.prompt import UNKNOWN, prompt_for, system_for
from bethink.memory.answering.proof import Proof
from bethink.memory.answering.searches import RecallIn, Searches
from bethink.memory.answering.sentences import Sentence, SentenceSplitter
from bethink.memory.recall.search import Searcher
from bethink.memory.spending import Budget
from bethink.model.answers import Answer, AnswerSentence, Refusal, SentenceFault, listener, no_model
from bethink.model.calls import ModelAnswer, ModelCall, Stop
from bethink.model.jobs import Usage
from bethink.model.operations.memory import AskRequest
from bethink.model.recall import Match
from bethink.model.refs import Ref, RefKind
from bethink.store import ledger
from bethink.store.db import Database, Tx, commit_hook
from bethink.store.search import survey

_ANSWER_TOKENS = 1_024
_SPENT_ON = "ask"


class Answerer:
    """Answers questions with one model, from one database."""

    def __init__(self, database: Database, *, searcher: Searcher, model: Model | None, budget: Budget) -> None:
        self._database = database
        self._searcher = searcher
        self._model = model
        self._budget = budget

    async def ask(self, space: str, request: AskRequest, recall_in: RecallIn) -> Answer:
        """Answer a question, or return the reason for a refusal. `recall_in` searches the other spaces."""
        if self._model is None:
            raise no_model()
        end = time.monotonic() + request.timeout
        try:
            with anyio.fail_after(request.timeout):
                return await self._ask(self._model, space, request, recall_in, end)
        except TimeoutError:
            raise _timeout(request) from None

    async def _ask(self, model: Model, space: str, request: AskRequest, recall_in: RecallIn, end: float) -> Answer:
        searches = Searches(self._searcher.recall, recall_in, space=space, request=request, window=model.window)
        await searches.run([request.question])
        if not searches.items and (searches.has_matches or not await self._has_content(searches.spaces)):
            return replace(searches.answer(), refusal=Refusal.NOTHING_FOUND)
        now = request.view.moment or await self._database.transact(_now, read_only=True)
        builder = _AnswerBuilder(searches, now=now)
        is_open = True
        while is_open:
            try:
                await self._read(model, space, searches, builder, end)
            except ModelError:
                if searches.items:
                    raise
                break  # it could only have named other words to search for
            is_open = not builder.sentences and await searches.run(builder.queries)
        return await self._count(space, builder.answer())

    async def _read(self, model: Model, space: str, searches: Searches, builder: "_AnswerBuilder", end: float) -> None:
        """Let the model read the matches and answer, or name what else to search for."""
        await self._budget.check()
        await self._record(space, tuple(item.ref for item in searches.items))
        builder.begin()
        call = _call_of(searches, model, today=builder.today, end=end)
        if listener.get() is not None and hasattr(model, "stream"):
            response = await cast("StreamingModel", model).stream(call, builder.add_text)
        else:
            response = await model.answer(call)
            builder.add_text(response.text)
        usage = self._budget.prices.usage(call, response)
        await self._budget.charge(usage, kind=_SPENT_ON, model=response.model, space=space)
        builder.finish(response, usage)

    async def _has_content(self, spaces: Sequence[str]) -> bool:
        """Return whether a space has any memories: in an empty one, other words find nothing either."""
        for space in spaces:
            kinds = await self._database.transact(partial(_kinds_in, space=space), space=space, read_only=True)
            if kinds:
                return True
        return False

    async def _record(self, space: str, refs: tuple[Ref, ...]) -> None:
        """Record the memories that the model receives, before it reads them and before a sentence is sent."""
        hook = commit_hook.get()
        if hook is None:
            return

        def body(tx: Tx) -> tuple[Ref, ...]:
            hook.before_commit(tx, refs)
            return refs

        await self._database.transact(body, space=space)

    async def _count(self, space: str, answer: Answer) -> Answer:
        if answer.ignored or answer.as_of is not None or answer.known_at is not None:
            return answer
        for name in dict.fromkeys(item.space or space for item in answer.cited):
            refs = tuple(item.ref for item in answer.cited if (item.space or space) == name)
            await self._database.transact(partial(ledger.use, space=name, refs=refs), space=name)
        return answer


def _now(tx: Tx) -> datetime:
    return tx.now


def _kinds_in(tx: Tx, *, space: str) -> Collection[RefKind]:
    return survey(tx, space=space).kinds


class _AnswerBuilder:
    """Builds an answer: splits the text, and collects the verified sentences and the faults of the others."""

    def __init__(self, searches: Searches, *, now: datetime) -> None:
        self._searches = searches
        self._now = now
        self._notify = listener.get()
        self._usage = Usage()
        self._given: dict[Ref, Match] = {}
        self._response: ModelAnswer | None = None
        self.sentences: list[AnswerSentence] = []
        self.dropped: list[SentenceFault] = []
        self.begin()

    @property
    def today(self) -> date:
        """The day of the question."""
        return self._now.date()

    def begin(self) -> None:
        """Prepare for the next text of the model, about the memories that were found so far."""
        searches = self._searches
        self._given |= {item.ref: item for item in searches.items}
        self._proof = Proof(searches.items, question=searches.question, space=searches.spaces[0], now=self._now)
        self._cut = SentenceSplitter()
        self.queries: list[str] = []

    def add_text(self, piece: str) -> None:
        self._verify(self._cut.add(piece))

    def finish(self, response: ModelAnswer, usage: Usage) -> None:
        self._verify(self._cut.finish())
        self._response = response
        self._usage += usage

    def _verify(self, sentences: Sequence[Sentence]) -> None:
        for sentence in sentences:
            if UNKNOWN.fullmatch(sentence.text):
                continue
            if sentence.search is not None:
                self.queries.append(sentence.search)
                continue
            checked = self._proof.check(sentence)
            if isinstance(checked, SentenceFault):
                self.dropped.append(checked)
                continue
            self.sentences.append(checked)
            if self._notify is not None:
                self._notify(checked)

    def answer(self) -> Answer:
        """Return the complete answer."""
        cited = {ref for sentence in self.sentences for ref in sentence.refs}
        response = self._response
        return replace(
            self._searches.answer(),
            text=" ".join(sentence.text for sentence in self.sentences),
            sentences=tuple(self.sentences),
            refusal=self._refusal(),
            sources=tuple(self._given),
            cited=tuple(item for item in self._given.values() if item.ref in cited),
            rejected_sentences=tuple(self.dropped),
            model=None if response is None else response.model,
            usage=None if response is None else self._usage,
        )

    def _refusal(self) -> Refusal | None:
        if self.sentences:
            return None
        if self._response is not None and self._response.stop is Stop.REFUSED:
            return Refusal.DECLINED
        if self.dropped:
            return Refusal.NOT_PROVEN
        return Refusal.NOT_IN_MEMORY if self._given else Refusal.NOTHING_FOUND


def _call_of(searches: Searches, model: Model, *, today: date, end: float) -> ModelCall:
    return ModelCall(
        system=system_for(may_search=searches.may_run),
        prompt=prompt_for(searches.question, searches.items, today=today),
        max_tokens=min(_ANSWER_TOKENS, model.window // 4),
        timeout=max(0.1, end - time.monotonic()),
    )


def _timeout(request: AskRequest) -> ModelTimeoutError:
    return ModelTimeoutError(
        f"The model did not answer within {request.timeout:g} seconds.", hint="Set a longer `timeout`."
    )
