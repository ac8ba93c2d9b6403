"""Rerank candidates token by token with the embedding model."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from bethink.providers.onnx_embedder import OnnxEmbedder

if TYPE_CHECKING:
    from bethink.providers.onnx_session import Encoded, Floats, OnnxVectors


class TokenReranker:
    """Scores a text by MaxSim: the mean, over the tokens of the question, of the best similarity; at most 1.

    It runs the model again on every text, so pass only the best fifty or so.
    """

    weight = 0.2

    def __init__(self, embedder: OnnxEmbedder) -> None:
        self.name = f"tokens:{embedder.name}"
        self._embedder = embedder

    async def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text, in order; 0 for all if the question has no words."""
        if not texts:
            return []
        (question_vectors,) = await self._embedder.run_batches([question], lambda session, batch: session.tokens(batch))
        if not len(question_vectors):
            return [0.0] * len(texts)
        return await self._embedder.run_batches(texts, partial(_matches, question_vectors))


def _matches(question_vectors: "Floats", session: "OnnxVectors", batch: "Sequence[Encoded]") -> list[float]:
    return session.matches(question_vectors, batch)
