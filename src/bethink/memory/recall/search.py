"""The searcher: recall, context and explain on one database, with an embedder and a reranker."""

from collections.abc import Sequence

from bethink.extend import Embedder, Reranker, Tokens
from bethink.memory.recall import context_log
from bethink.memory.recall.context import BlockLimits, build_block
from bethink.memory.recall.context_sources import ContextSources, context_sources
from bethink.memory.recall.excerpts import question_stems
from bethink.memory.recall.pipeline import Pipeline
from bethink.memory.recall.reindex import Vectors, vectors_of
from bethink.memory.recall.signals.base import RecallSignal
from bethink.memory.recall.tuning import TUNING, Tuning
from bethink.model.ids import new_id
from bethink.model.operations.memory import ContextRequest, ExplainRequest, MarkUsedRequest, RecallRequest
from bethink.model.operations.sessions import StripCitationsRequest
from bethink.model.recall import ContextBlock, Lineage, Match, Purpose, RecallResult
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

    async def recall(self, space: str, request: RecallRequest) -> RecallResult:
        """Search memory. With a session, the context log records the result."""
        return await self._pipeline.recall(space, request)

    async def answer_all(self, space: str, requests: Sequence[RecallRequest]) -> list[RecallResult]:
        """Answer several questions, and record nothing."""
        return await self._pipeline.answer_all(space, requests)

    async def warm_up(self) -> None:
        """Load the embedder and everything else that the first question needs, by searching an empty space."""
        await self.answer_all(new_id("spc"), [RecallRequest(question="Where do I live?")])

    async def context(self, space: str, request: ContextRequest) -> ContextBlock:
        """Return the context block for a prompt, with answers to the question if there is one."""
        tuning = self._pipeline.tuning
        budget = tuning.context_budget if request.budget is None else request.budget
        question = request.question.strip()
        answers: tuple[Match, ...] = ()

        def read_sources(tx: Tx) -> ContextSources:
            return context_sources(
                tx,
                space=space,
                view=request.view,
                only=request.only,
                kinds=request.kinds,
                session_id=request.session_id,
                has_question=bool(question),
            )

        def read_in_session(tx: Tx) -> ContextSources:
            context_log.check_session(tx, space, request.session_id)
            return read_sources(tx)

        if question:
            recall_request = RecallRequest.from_request(request, budget=None, limit=tuning.block_limit(budget))
            answer, sources = await self._pipeline.answer_with(
                space, recall_request, read_sources, max_item_tokens=tuning.max_item_tokens(budget)
            )
            answers = answer.items
        else:
            sources = await self._database.transact(read_in_session, space=space, read_only=True)
        context_block = build_block(
            sources,
            answers,
            limits=BlockLimits(budget=budget, has_question=bool(question), words=question_stems(question)),
            tokens=self._pipeline.tokens,
            citations=request.citations,
        )
        if context_block and request.session_id is not None:
            await context_log.record(
                self._database,
                context_block,
                Purpose.CONTEXT,
                space=space,
                session_id=request.session_id,
                result=context_block,
            )
        return context_block

    def vectors(self) -> Vectors:
        """Return the vectors of the embedder. Raises `ConfigurationError` if there is no embedder."""
        return vectors_of(self._database, self._pipeline.embedder)

    async def explain(self, space: str, request: ExplainRequest) -> Lineage:
        """Trace a memory back to its messages, and forward to its context log entries."""
        return await context_log.explain(self._database, space, request)

    async def mark_used(self, space: str, request: MarkUsedRequest) -> int:
        """Mark each of these memories, and its sources, as used once."""
        return await context_log.mark_used(self._database, space, request)

    async def strip_citations(self, space: str, request: StripCitationsRequest) -> str:
        """Mark the memories that an answer cites as used, and return the answer without these citations."""
        return await context_log.strip_citations(self._database, space, request)
