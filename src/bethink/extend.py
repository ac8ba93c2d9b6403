"""Extension points: small protocols for your own model, embedder, reranker, redactor or token counter.

Pass an object to `connect`, or register a factory as an entry point; see docs/reference/extend.md.
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol

from bethink.model.calls import ModelAnswer, ModelCall

TextKind = Literal["message", "question"]
"""What a text is to an embedder: something that was stored, or a question about it."""


class Redactor(Protocol):
    """Removes secrets from a text. It is called on every text before it is first written, and must not block."""

    def redact(self, text: str) -> str:
        """Return `text` with its secrets replaced."""
        ...


class Tokens(Protocol):
    """Counts the tokens of a text. It must be pure: the same text always has the same count."""

    def count(self, text: str) -> int:
        """Count the tokens of a text."""
        ...


class Model(Protocol):
    """Answers a question. It is never called inside a transaction, and may be called from another event loop."""

    @property
    def name(self) -> str:
        """Return the name of the model, which is recorded with everything it creates."""
        ...

    @property
    def window(self) -> int:
        """Return how many tokens fit into one call, question and answer together."""
        ...

    async def answer(self, call: ModelCall) -> ModelAnswer:
        """Ask once, without retrying. Raises `ModelUnavailable` or `ModelTimeout`; never judges the text."""
        ...


class StreamingModel(Model, Protocol):
    """A model that can also be heard while it writes. `ask` tells sentences earlier with one; nothing else needs it."""

    async def stream(self, call: ModelCall, heard: Callable[[str], None]) -> ModelAnswer:
        """Ask once, as `answer` does, and call `heard` with each piece of the text as it comes."""
        ...


class Embedder(Protocol):
    """Converts texts to vectors of one length, so that texts with similar meaning are close to each other.

    It is never called inside a transaction, and may be called from another event loop.
    """

    @property
    def name(self) -> str:
        """Return the name of the embedder; vectors of different names are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """Return how many numbers a vector has."""
        ...

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "message") -> list[Sequence[float]]:
        """Return a vector of length one for each text, in order. Raises `ModelUnavailable` or `ModelTimeout`.

        Some models are trained to read a question in another way than a message; others ignore `kind`.
        """
        ...


class Cosines(NamedTuple):
    """What cosines an embedder typically gives: to two unrelated texts, and to a question and its answer.

    An embedder may have them as an attribute `cosines`. Without it, they are estimated from what a question is compared
    with, and in a small space those of all-MiniLM-L6-v2 are taken. As `languages` it may have those that it knows, as
    ISO 639-1, or `mul` for about a hundred: in others that Bethink tells apart, its vectors count little beside words.
    """

    unrelated: float = 0.08
    related: float = 0.455


class Reranker(Protocol):
    """Scores again how well the best few candidates answer a question. It is never called inside a transaction.

    It may have a `weight`: how much its scores count beside the other signals, whose sum is at most 1.
    """

    @property
    def name(self) -> str:
        """Return the name of the reranker."""
        ...

    async def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text, in order; only their order and distances matter."""
        ...
