"""The sockets in the wall: one Protocol, one method each."""

from typing import Protocol


class Redactor(Protocol):
    """Cuts secrets out of a text. Called on every text before it is first written; must not wait."""

    def redact(self, text: str) -> str:
        """Return `text` with its secrets replaced."""
        ...
