"""Extension points: small protocols for your own model, embedder, reranker, redactor or token counter.

Pass an object to `connect`, or register a factory as an entry point; see docs/reference/extend.md.
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol

from bethink.model.calls import ModelAnswer, ModelCall

__all__ = [
    "Cosines",
    "Embedder",
    "Model",
    "ModelAnswer",
    "ModelCall",
    "Redactor",
    "Reranker",
    "StreamingModel",
    "TextKind",
    "Tokens",
]

TextKind = Literal["message", "question"]
"""Type of a text for an embedder: stored text, or a question."""


class Redactor(Protocol):
    """Removes secrets from text. Called for every text before it is stored; must not block."""

    def redact(self, text: str) -> str:
        """Return `text` with its secrets replaced."""
        ...


class Tokens(Protocol):
    """Counts the tokens of a text. Must be pure: the same text always has the same count."""

    def count(self, text: str) -> int:
        """Count the tokens of a text."""
        ...


class Model(Protocol):
    """A language model. Never called inside a transaction; may be called from another event loop."""

    @property
    def name(self) -> str:
        """Return the name of the model, which is recorded with everything it creates."""
        ...

    @property
    def window(self) -> int:
        """Return the context window in tokens, for prompt and answer together."""
        ...

    async def answer(self, call: ModelCall) -> ModelAnswer:
        """Call the model once, without retries.

        Raises `ModelUnavailableError` or `ModelTimeoutError` if the call fails.
        """
        ...


class StreamingModel(Model, Protocol):
    """A model that can also stream its answer. Only `ask` uses it, to report sentences earlier."""

    async def stream(self, call: ModelCall, on_text: Callable[[str], None]) -> ModelAnswer:
        """Call the model once, like `answer`, and call `on_text` with each piece of the text as it arrives."""
        ...


class Embedder(Protocol):
    """Converts texts to vectors of one length, so that texts with similar meaning are close to each other.

    Never called inside a transaction; may be called from another event loop.
    """

    @property
    def name(self) -> str:
        """Return the name of the embedder. Vectors of different embedders are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """Return the number of dimensions of a vector."""
        ...

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "message") -> list[Sequence[float]]:
        """Return a normalized vector for each text, in order. Raises `ModelUnavailableError` or `ModelTimeoutError`.

        Some models embed questions and messages differently; others ignore `kind`.
        """
        ...


class Cosines(NamedTuple):
    """Typical cosines of an embedder: of two unrelated texts, and of a question and its answer.

    An embedder can have an attribute `cosines`. Without it, they are estimated from the candidates of each question, or
    in a small space, those of all-MiniLM-L6-v2 are used. An attribute `languages` can list the supported languages as
    ISO 639-1 codes, or `mul` for about a hundred. In other detected languages, vectors count less than words.
    """

    unrelated: float = 0.08
    related: float = 0.455


class Reranker(Protocol):
    """Rescores the best candidates for a question. Never called inside a transaction.

    An attribute `weight` is the largest share by which it raises a score.
    """

    @property
    def name(self) -> str:
        """Return the name of the reranker."""
        ...

    async def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text, in order. Only their relative values matter."""
        ...
