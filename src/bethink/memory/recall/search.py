"""The searcher: recall, context and explain on one database, with an embedder and a reranker."""

from collections.abc import Sequence

from bethink.extend import Embedder, Reranker, Tokens
from bethink.memory.recall import shown
from bethink.memory.recall.context import ContextSources, block, context_sources
from bethink.memory.recall.pipeline import Pipeline
from bethink.memory.recall.reindex import Vectors, vectors_of
from bethink.memory.recall.signals.base import RecallSignal
from bethink.memory.recall.tuning import TUNING, Tuning
from bethink.model.ids import new_id
from bethink.model.operations.memory import ContextRequest, ExplainRequest, RecallRequest, ShownRequest, UsedRequest
from bethink.model.operations.sessions import CitedRequest
from bethink.model.recall import Block, Level, Lineage, Purpose, Recall, Recalled, Showing
from bethink.store.db import Database, Tx


class Searcher:
    """Runs the operations of recall on one database. `pipeline.py` answers the questions."""

    def __init__(
        self,
        database: Database,
        *,
        tokens: Tokens,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        signals: Sequence[RecallSignal] = (),
        tuning: Tuning = TUNING,
    ) -> None:
        self._database = database
        self._pipeline = Pipeline(
            database=database, tokens=tokens, embedder=embedder, reranker=reranker, signals=signals, tuning=tuning
        )

    async def recall(self, space: str, request: RecallRequest) -> Recall:
        """Find what answers a question. With a session, the context log records the result."""
        return await self._pipeline.recall(space, request)

    async def answer_each(self, space: str, requests: Sequence[RecallRequest]) -> list[Recall]:
        """Find what answers each of several questions, and record nothing."""
        return await self._pipeline.answer_each(space, requests)

    async def warm_up(self) -> None:
        """Load what the first question would wait for, such as an embedder, by asking a space that holds nothing."""
        await self.answer_each(new_id("spc"), [RecallRequest(question="Where do I live?")])

    async def context(self, space: str, request: ContextRequest) -> Block:
        """Return a block of memory for a prompt, including answers to the question if one is given."""
        tuning = self._pipeline.tuning
        budget = tuning.context_budget if request.budget is None else request.budget
        answers: tuple[Recalled, ...] = ()

        def body(tx: Tx) -> ContextSources:
            return context_sources(tx, space=space, as_of=request.as_of, only=request.only)

        def checked(tx: Tx) -> ContextSources:
            shown.check_session(tx, space, request.session_id)
            return body(tx)

        if request.question.strip():
            asked = RecallRequest.of(request, budget=budget, least=Level.FAIR)
            found, sources = await self._pipeline.answer_and(space, asked, body, longest=tuning.answer_tokens)
            answers = found.items
        else:
            sources = await self._database.transact(checked, space=space, read=True)
        made = block(sources, answers, budget=budget, tokens=self._pipeline.tokens)
        if made and request.session_id is not None:
            await shown.record(
                self._database, made, Purpose.CONTEXT, space=space, session_id=request.session_id, result=made
            )
        return made

    def vectors(self) -> Vectors:
        """Return the vectors of the embedder. Raises `Misconfigured` if there is no embedder."""
        return vectors_of(self._database, self._pipeline.embedder)

    async def explain(self, space: str, request: ExplainRequest) -> Lineage:
        """Trace a memory back to its messages, and forward to where it was shown."""
        return await shown.explain(self._database, space, request)

    async def used(self, space: str, request: UsedRequest) -> int:
        """Count each of these memories, and what it was derived from, as used once."""
        return await shown.used(self._database, space, request)

    async def cited(self, space: str, request: CitedRequest) -> str:
        """Count the memories that an answer cites as used, and return the answer without these citations."""
        return await shown.cited(self._database, space, request)

    async def shown(self, space: str, request: ShownRequest) -> list[Showing]:
        """Return what was shown, newest first."""
        return await shown.shown(self._database, space, request)
