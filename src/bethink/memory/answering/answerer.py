"""Answers a question from memory. Read this file first; each step is one call in `Answerer`.

    recall     recall/           what memory holds on the question, within the budget
    leave out  left_out          what the caller wants to do without; orders.py what reads like an order
    ask        prompt.py         the model, with what is left as data, each memory on a line with its label
    cut        sentences.py      what it writes into sentences, while it is still writing
    prove      proof.py          each sentence by the memories that it cites, or drop it
    count      store/ledger.py   what was cited as used

The model only words the answer. Which sentences stand is decided here, by code.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import anyio

from bethink.errors import ModelTimeout
from bethink.extend import Model, StreamingModel
from bethink.memory.answering.orders import is_order
from bethink.memory.answering.prompt import SYSTEM, UNKNOWN, prompt_for
from bethink.memory.answering.proof import Proof
from bethink.memory.answering.sentences import Sentence, Sentences
from bethink.memory.recall.search import Searcher
from bethink.memory.spending import Budget
from bethink.model.answers import AnswerSentence, MemoryAnswer, Refusal, SentenceFault, listener, no_model
from bethink.model.calls import ModelAnswer, ModelCall, Stop
from bethink.model.jobs import Usage
from bethink.model.operations.memory import AskRequest, RecallRequest
from bethink.model.recall import Recall, Recalled, Ref, RefKind, most_certain
from bethink.store import ledger
from bethink.store.db import Database, Tx, rider

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

    async def ask(self, space: str, request: AskRequest) -> MemoryAnswer:
        """Answer a question, or say why it was refused."""
        if self._model is None:
            raise no_model()
        end = time.monotonic() + request.deadline
        try:
            with anyio.fail_after(request.deadline):
                return await self._ask(self._model, space, request, end)
        except TimeoutError:
            raise _late(request) from None

    async def _ask(self, model: Model, space: str, request: AskRequest, end: float) -> MemoryAnswer:
        found = await self._searcher.recall(space, _recall_of(request, model))
        items = left_out(found, request.without)[: request.limit]
        withheld = tuple(item.ref for item in items if is_order(item.text))
        items = [item for item in items if item.ref not in withheld]
        answer = MemoryAnswer(
            question=request.question,
            given=tuple(item.ref for item in items),
            withheld=withheld,
            without=request.without,
            certainty=most_certain(items),
            as_of=request.as_of,
            missing=found.missing,
        )
        if not items:
            return replace(answer, refused=Refusal.NOTHING_FOUND)
        await self._budget.check()
        await self._record(space, answer.given)
        writing = _Writing(Proof(items, question=request.question, space=space))
        said, usage = await self._said(model, space, _call_of(request, items, model, end), writing)
        return await self._count(space, writing.answer(answer, said, items, usage))

    async def _said(self, model: Model, space: str, call: ModelCall, writing: "_Writing") -> tuple[ModelAnswer, Usage]:
        if listener.get() is not None and hasattr(model, "stream"):
            said = await cast("StreamingModel", model).stream(call, writing.heard)
        else:
            said = await model.answer(call)
            writing.heard(said.text)
        usage = self._budget.prices.usage(call, said)
        await self._budget.charge(usage, kind=_SPENT_ON, model=said.model, space=space)
        writing.ended()
        return said, usage

    async def _record(self, space: str, given: tuple[Ref, ...]) -> None:
        """Put on record what the model is given, before it reads it and before a sentence is told."""
        riding = rider.get()
        if riding is None:
            return

        def body(tx: Tx) -> tuple[Ref, ...]:
            riding.ride(tx, given)
            return given

        await self._database.transact(body, space=space)

    async def _count(self, space: str, answer: MemoryAnswer) -> MemoryAnswer:
        refs = tuple(item.ref for item in answer.cited)
        if refs and not answer.without and answer.as_of is None:
            await self._database.transact(lambda tx: ledger.use(tx, space=space, refs=refs), space=space)
        return answer


class _Writing:
    """An answer in the making: what was heard, which sentences were proven, and what was wrong with the others."""

    def __init__(self, proof: Proof) -> None:
        self._proof = proof
        self._cut = Sentences()
        self._tell = listener.get()
        self.sentences: list[AnswerSentence] = []
        self.dropped: list[SentenceFault] = []

    def heard(self, piece: str) -> None:
        self._take(self._cut.heard(piece))

    def ended(self) -> None:
        self._take(self._cut.ended())

    def _take(self, found: Sequence[Sentence]) -> None:
        for sentence in found:
            if UNKNOWN.fullmatch(sentence.text):
                continue
            checked = self._proof.check(sentence)
            if isinstance(checked, SentenceFault):
                self.dropped.append(checked)
                continue
            self.sentences.append(checked)
            if self._tell is not None:
                self._tell(checked)

    def answer(self, answer: MemoryAnswer, said: ModelAnswer, items: Sequence[Recalled], usage: Usage) -> MemoryAnswer:
        """Return the answer that was made."""
        cited = {ref for sentence in self.sentences for ref in sentence.refs}
        refused = None
        if not self.sentences:
            refused = Refusal.NOT_PROVEN if self.dropped else Refusal.NOT_HELD
            refused = Refusal.DECLINED if said.stop is Stop.REFUSED else refused
        return replace(
            answer,
            text=" ".join(sentence.text for sentence in self.sentences),
            sentences=tuple(self.sentences),
            refused=refused,
            cited=tuple(item for item in items if item.ref in cited),
            dropped=tuple(self.dropped),
            model=said.model,
            usage=usage,
        )


def left_out(found: Recall, without: Sequence[Ref]) -> list[Recalled]:
    """Return what was found as if some memories were not there, nor what rests on these messages alone.

    Where one of them stood for others that say the same, the first of those takes its place.
    """
    gone = set(without)
    if not gone:
        return list(found.items)
    texts = {candidate.ref: candidate.text for candidate in found.candidates}
    kept: list[Recalled] = []
    for item in found.items:
        behind = {Ref(RefKind.MESSAGE, each.session_id, each.number) for each in item.sources}
        if item.ref not in gone and not (behind and behind <= gone):
            kept.append(item)
            continue
        other = next((ref for ref in item.also if ref not in gone and ref in texts), None)
        if other is not None:
            kept.append(replace(item, ref=other, text=texts[other], fact=None, sources=(), excerpts=(), also=()))
    return kept


def _recall_of(request: AskRequest, model: Model) -> RecallRequest:
    budget = _BUDGET if request.budget is None else request.budget
    more = len(request.without)
    return RecallRequest.of(
        request,
        limit=min(1_000, request.limit + more),
        budget=min(budget, model.window // 2),
        session_id=None if more else request.session_id,  # what might have been is not what was shown
        explain=bool(more),
    )


def _call_of(request: AskRequest, items: Sequence[Recalled], model: Model, end: float) -> ModelCall:
    return ModelCall(
        system=SYSTEM,
        prompt=prompt_for(request.question, items),
        max_tokens=min(_ANSWER_TOKENS, model.window // 4),
        timeout=max(0.1, end - time.monotonic()),
    )


def _late(request: AskRequest) -> ModelTimeout:
    return ModelTimeout(f"the model did not answer within {request.deadline:g} seconds.", hint="Set a later deadline.")
