"""Answers a question from memory. Read this file first; each step is one call in `Answerer`.

    recall     recall/           search memory, within the budget
    exclude    drop_excluded     memories that the caller excludes; orders.py those that read like an order
    ask        prompt.py         the model, with the other memories as data, one line with a label each
    split      sentences.py      its text into sentences, while it is still writing
    verify     proof.py          each sentence by the memories that it cites, or drop it
    count      store/ledger.py   the cited memories as used

The model only words the answer. Code decides which sentences are included.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import anyio

from bethink.errors import ModelTimeoutError
from bethink.extend import Model, StreamingModel
from bethink.memory.answering.orders import is_order
from bethink.memory.answering.prompt import SYSTEM, UNKNOWN, prompt_for
from bethink.memory.answering.proof import Proof
from bethink.memory.answering.sentences import Sentence, SentenceSplitter
from bethink.memory.recall.search import Searcher
from bethink.memory.spending import Budget
from bethink.model.answers import Answer, AnswerSentence, Refusal, SentenceFault, listener, no_model
from bethink.model.calls import ModelAnswer, ModelCall, Stop
from bethink.model.jobs import Usage
from bethink.model.operations.memory import AskRequest, RecallRequest
from bethink.model.recall import Match, RecallResult, highest
from bethink.model.refs import Ref, RefKind
from bethink.store import ledger
from bethink.store.db import Database, Tx, commit_hook

_BUDGET = 4_000
_ANSWER_TOKENS = 1_024
_SPENT_ON = "ask"


class Answerer:
    """Answers questions with one model, from one database."""

    def __init__(self, database: Database, *, searcher: Searcher, model: Model | None, budget: Budget) -> None:
        self._database = database
        self._searcher = searcher
        self._model = model
        self._budget = budget

    async def ask(self, space: str, request: AskRequest) -> Answer:
        """Answer a question, or return the reason for a refusal."""
        if self._model is None:
            raise no_model()
        end = time.monotonic() + request.timeout
        try:
            with anyio.fail_after(request.timeout):
                return await self._ask(self._model, space, request, end)
        except TimeoutError:
            raise _timeout(request) from None

    async def _ask(self, model: Model, space: str, request: AskRequest, end: float) -> Answer:
        recall_result = await self._searcher.recall(space, _recall_of(request, model))
        items = drop_excluded(recall_result, request.exclude)[: request.limit]
        withheld = tuple(item.ref for item in items if is_order(item.text))
        items = [item for item in items if item.ref not in withheld]
        answer = Answer(
            question=request.question,
            sources=tuple(item.ref for item in items),
            excluded=withheld,
            ignored=request.exclude,
            certainty=highest(items),
            as_of=request.as_of,
            known_at=request.known_at,
            note=recall_result.note,
        )
        if not items:
            return replace(answer, refusal=Refusal.NOTHING_FOUND)
        await self._budget.check()
        await self._record(space, answer.sources)
        builder = _AnswerBuilder(Proof(items, question=request.question, space=space))
        response, usage = await self._generate(model, space, _call_of(request, items, model, end), builder)
        return await self._count(space, builder.answer(answer, response, items, usage))

    async def _generate(
        self, model: Model, space: str, call: ModelCall, builder: "_AnswerBuilder"
    ) -> tuple[ModelAnswer, Usage]:
        if listener.get() is not None and hasattr(model, "stream"):
            response = await cast("StreamingModel", model).stream(call, builder.add_text)
        else:
            response = await model.answer(call)
            builder.add_text(response.text)
        usage = self._budget.prices.usage(call, response)
        await self._budget.charge(usage, kind=_SPENT_ON, model=response.model, space=space)
        builder.finish()
        return response, usage

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
        refs = tuple(item.ref for item in answer.cited)
        if refs and not answer.ignored and answer.as_of is None and answer.known_at is None:
            await self._database.transact(lambda tx: ledger.use(tx, space=space, refs=refs), space=space)
        return answer


class _AnswerBuilder:
    """Builds an answer: splits the text, and collects the verified sentences and the faults of the others."""

    def __init__(self, proof: Proof) -> None:
        self._proof = proof
        self._cut = SentenceSplitter()
        self._notify = listener.get()
        self.sentences: list[AnswerSentence] = []
        self.dropped: list[SentenceFault] = []

    def add_text(self, piece: str) -> None:
        self._verify(self._cut.add(piece))

    def finish(self) -> None:
        self._verify(self._cut.finish())

    def _verify(self, sentences: Sequence[Sentence]) -> None:
        for sentence in sentences:
            if UNKNOWN.fullmatch(sentence.text):
                continue
            checked = self._proof.check(sentence)
            if isinstance(checked, SentenceFault):
                self.dropped.append(checked)
                continue
            self.sentences.append(checked)
            if self._notify is not None:
                self._notify(checked)

    def answer(self, answer: Answer, response: ModelAnswer, items: Sequence[Match], usage: Usage) -> Answer:
        """Return the complete answer."""
        cited = {ref for sentence in self.sentences for ref in sentence.refs}
        refusal = None
        if not self.sentences:
            refusal = Refusal.NOT_PROVEN if self.dropped else Refusal.NOT_IN_MEMORY
            refusal = Refusal.DECLINED if response.stop is Stop.REFUSED else refusal
        return replace(
            answer,
            text=" ".join(sentence.text for sentence in self.sentences),
            sentences=tuple(self.sentences),
            refusal=refusal,
            cited=tuple(item for item in items if item.ref in cited),
            rejected_sentences=tuple(self.dropped),
            model=response.model,
            usage=usage,
        )


def drop_excluded(result: RecallResult, without: Sequence[Ref]) -> list[Match]:
    """Return the items without the excluded memories, and without those that only excluded messages support.

    An excluded item is replaced by its first duplicate that is not excluded.
    """
    excluded = set(without)
    if not excluded:
        return list(result.items)
    texts = {candidate.ref: candidate.text for candidate in result.candidates}
    retained: list[Match] = []
    for item in result.items:
        messages = {Ref(RefKind.MESSAGE, source.session_id, source.number) for source in item.sources}
        if item.ref not in excluded and not (messages and messages <= excluded):
            retained.append(item)
            continue
        other = next((ref for ref in item.duplicates if ref not in excluded and ref in texts), None)
        if other is not None:
            retained.append(
                replace(item, ref=other, text=texts[other], fact=None, sources=(), excerpts=(), duplicates=())
            )
    return retained


def _recall_of(request: AskRequest, model: Model) -> RecallRequest:
    budget = _BUDGET if request.budget is None else request.budget
    more = len(request.exclude)
    return RecallRequest.from_request(
        request,
        limit=min(1_000, request.limit + more),
        budget=min(budget, model.window // 2),
        session_id=None if more else request.session_id,  # a hypothetical answer is not in the context log
        explain=bool(more),
    )


def _call_of(request: AskRequest, items: Sequence[Match], model: Model, end: float) -> ModelCall:
    return ModelCall(
        system=SYSTEM,
        prompt=prompt_for(request.question, items),
        max_tokens=min(_ANSWER_TOKENS, model.window // 4),
        timeout=max(0.1, end - time.monotonic()),
    )


def _timeout(request: AskRequest) -> ModelTimeoutError:
    return ModelTimeoutError(
        f"The model did not answer within {request.timeout:g} seconds.", hint="Set a longer `timeout`."
    )
