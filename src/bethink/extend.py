"""The sockets: small protocols for your own model, embedder, reranker, redactor or token counter.

Pass an object to `connect`, or register a factory as an entry point; see docs/reference/extend.md.
"""

from collections.abc import Sequence
from typing import Protocol

from bethink.model.calls import ModelAnswer, ModelCall


class Redactor(Protocol):
    """Cuts secrets out of a text. Called on every text before it is first written; must not wait."""

    def redact(self, text: str) -> str:
        """Return `text` with its secrets replaced."""
        ...


class Tokens(Protocol):
    """Says how many tokens a text costs. Must be pure: the same text always costs the same."""

    def count(self, text: str) -> int:
        """Count the tokens of a text."""
        ...


class Model(Protocol):
    """Answers a question. It is never called inside a transaction, and may be called from another event loop."""

    @property
    def name(self) -> str:
        """Say which model this is, as it is recorded with everything it makes."""
        ...

    @property
    def window(self) -> int:
        """Say how many tokens fit into one call, question and answer together."""
        ...

    async def answer(self, call: ModelCall) -> ModelAnswer:
        """Ask once, without trying again. Raises `ModelUnavailable` or `ModelTimeout`; never judges the text."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors of one length, near each other where the texts mean much the same.

    It is never called inside a transaction, and may be called from another event loop.
    """

    @property
    def name(self) -> str:
        """Say which embedder this is; vectors of another name are never compared with its own."""
        ...

    @property
    def dimension(self) -> int:
        """Say how many numbers a vector has."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return a vector of length one for each text, in order. Raises `ModelUnavailable` or `ModelTimeout`."""
        ...


class Reranker(Protocol):
    """Judges again how well the best few candidates answer a question. It is never called inside a transaction."""

    @property
    def name(self) -> str:
        """Say which reranker this is."""
        ...

    async def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text, in order; only their order and distances count."""
        ...
