"""What a signal is, and how its values are brought between 0 and 1."""

from collections.abc import Sequence
from typing import Protocol

from bethink.memory.recall.candidates import Candidates
from bethink.memory.recall.question import ParsedQuestion


class RecallSignal(Protocol):
    """Says one thing about every candidate, such as how many of its words are those of the question.

    It is called inside a transaction, and must not wait.
    """

    @property
    def name(self) -> str:
        """Return its name, under which `explain` shows it."""
        ...

    @property
    def weight(self) -> float:
        """Return how much it counts; fuse.py says how."""
        ...

    def score(self, question: ParsedQuestion, candidates: Candidates) -> list[float]:
        """Return a value for each candidate, in order: between 0 and 1, unless the signal has a scale of its own."""
        ...


class Scaled(Protocol):
    """A signal whose values are counts, days or similarities, and must be brought between 0 and 1."""

    def scale(self, values: Sequence[float], candidates: Candidates) -> list[float]:
        """Return each value between 0 and 1."""
        ...
