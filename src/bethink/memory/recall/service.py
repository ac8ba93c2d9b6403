"""Handles the operations of recall. A searcher is made for each request: a missing embedder may have arrived."""

from collections.abc import Callable
from typing import Self

from bethink.memory.recall.search import Searcher
from bethink.memory.registry import Host, handles
from bethink.model.operations.memory import (
    CONTEXT,
    EXPLAIN,
    RECALL,
    SHOWN,
    USED,
    ContextRequest,
    ExplainRequest,
    RecallRequest,
    ShownRequest,
    UsedRequest,
)
from bethink.model.operations.sessions import CITED, CitedRequest
from bethink.model.recall import Block, Lineage, Recall, Showing


class RecallService:
    """Recalls in every space of one database."""

    def __init__(self, searcher: Callable[[], Searcher]) -> None:
        self._searcher = searcher

    @classmethod
    def of(cls, host: Host) -> Self:
        """Make it from the parts of an open memory."""
        return cls(host.searcher)

    @handles(RECALL)
    async def recall(self, space: str, request: RecallRequest) -> Recall:
        """Answer a question."""
        return await self._searcher().recall(space, request)

    @handles(CONTEXT)
    async def context(self, space: str, request: ContextRequest) -> Block:
        """Write a block for a prompt."""
        return await self._searcher().context(space, request)

    @handles(EXPLAIN)
    async def explain(self, space: str, request: ExplainRequest) -> Lineage:
        """Return the sources of a memory."""
        return await self._searcher().explain(space, request)

    @handles(USED)
    async def used(self, space: str, request: UsedRequest) -> int:
        """Count memories as used."""
        return await self._searcher().used(space, request)

    @handles(SHOWN)
    async def shown(self, space: str, request: ShownRequest) -> list[Showing]:
        """List where a memory was shown."""
        return await self._searcher().shown(space, request)

    @handles(CITED)
    async def cited(self, space: str, request: CitedRequest) -> str:
        """Count what an answer cites as used."""
        return await self._searcher().cited(space, request)
