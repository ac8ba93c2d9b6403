"""Handles the operations of recall. Each request gets a new searcher, as an embedder may be available by now."""

from collections.abc import Callable
from typing import Self

from bethink.memory.recall.search import Searcher
from bethink.memory.registry import Host, handles
from bethink.model.operations.memory import (
    CONTEXT,
    EXPLAIN,
    MARK_USED,
    RECALL,
    ContextRequest,
    ExplainRequest,
    MarkUsedRequest,
    RecallRequest,
)
from bethink.model.operations.sessions import STRIP_CITATIONS, StripCitationsRequest
from bethink.model.recall import ContextBlock, Lineage, RecallResult
from bethink.store.lanes import Lanes


class RecallService:
    """Search, context and lineage for every space of one database."""

    def __init__(self, searcher: Callable[[], Searcher], lanes: Lanes) -> None:
        self._searcher = searcher
        self._lanes = lanes

    @classmethod
    def from_host(cls, host: Host) -> Self:
        """Create the service from an open memory."""
        return cls(host.searcher, host.database.lanes)

    @handles(RECALL)
    async def recall(self, space: str, request: RecallRequest) -> RecallResult:
        """Find the memories that answer a question."""
        async with self._lanes.turn(space, len(request.question)):  # long questions, one at a time
            return await self._searcher().recall(space, request)

    @handles(CONTEXT)
    async def context(self, space: str, request: ContextRequest) -> ContextBlock:
        """Build the context block for a prompt."""
        async with self._lanes.turn(space, len(request.question or "")):
            return await self._searcher().context(space, request)

    @handles(EXPLAIN)
    async def explain(self, space: str, request: ExplainRequest) -> Lineage:
        """Return the sources of a memory."""
        return await self._searcher().explain(space, request)

    @handles(MARK_USED)
    async def mark_used(self, space: str, request: MarkUsedRequest) -> int:
        """Mark memories as used."""
        return await self._searcher().mark_used(space, request)

    @handles(STRIP_CITATIONS)
    async def strip_citations(self, space: str, request: StripCitationsRequest) -> str:
        """Mark the memories that an answer cites as used, and return the answer without citations."""
        return await self._searcher().strip_citations(space, request)
