"""The protocols of signals, with and without a scale of their own."""

from collections.abc import Sequence
from typing import Protocol

from bethink.memory.recall.candidates import Candidates
from bethink.memory.recall.question import ParsedQuestion


class RecallSignal(Protocol):
    """Scores one property of every candidate, such as how many words of the question it has.

    Signals are called inside a transaction, and must not block.
    """

    @property
    def name(self) -> str:
        """Return the name under which `explain` lists the signal."""
        ...

    @property
    def weight(self) -> float:
        """Return the weight of the signal, as fuse.py applies it."""
        ...

    def score(self, question: ParsedQuestion, candidates: Candidates) -> list[float]:
        """Return a value for each candidate, in order: between 0 and 1, unless the signal has a scale of its own."""
        ...


class Scaled(Protocol):
    """A signal whose values are counts, days or similarities, and must be scaled to between 0 and 1."""

    def scale(self, values: Sequence[float], candidates: Candidates) -> list[float]:
        """Return each value, scaled to between 0 and 1."""
        ...
