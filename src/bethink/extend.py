"""The sockets in the wall: one Protocol, one method each."""

from typing import Protocol


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
