"""The sockets in the wall: one Protocol, one method each."""

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
