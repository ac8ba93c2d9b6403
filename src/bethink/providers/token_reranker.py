"""Judges candidates token by token, with the model that embeds and no other."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from bethink.providers.onnx_embedder import OnnxEmbedder

if TYPE_CHECKING:
    from bethink.providers.onnx_session import Encoded, Floats, OnnxSession


class TokenReranker:
    """Scores a text by the mean, over a question's tokens, of the nearest of its own: MaxSim, at most 1.

    Each text is run through the model again, so give it the best fifty and not everything.
    """

    def __init__(self, embedder: OnnxEmbedder) -> None:
        self.name = f"tokens:{embedder.name}"
        self._embedder = embedder

    async def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text, in order; 0 for all if the question holds no word."""
        if not texts:
            return []
        (asked,) = await self._embedder.over([question], lambda session, batch: session.tokens(batch))
        if not len(asked):
            return [0.0] * len(texts)
        return await self._embedder.over(texts, partial(_matches, asked))


def _matches(asked: "Floats", session: "OnnxSession", batch: "Sequence[Encoded]") -> list[float]:
    return session.matches(asked, batch)
