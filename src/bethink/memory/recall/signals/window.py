"""The similarity of a message to the question, averaged with the messages directly before and after it."""

from collections.abc import Mapping, Sequence

from bethink.extend import Cosines
from bethink.memory.recall.candidates import Candidates, Key
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.signals.vector import calibrate
from bethink.memory.recall.tuning import Tuning
from bethink.model.refs import RefKind


class WindowSignal:
    """The mean similarity of a message and its neighbors: a topic usually takes more than one message."""

    name = "window"

    def __init__(self, tuning: Tuning, cosines: Cosines) -> None:
        self.weight = tuning.window
        self._tuning = tuning
        self._cosines = cosines

    def score(self, question: ParsedQuestion, candidates: Candidates) -> list[float]:
        """Return the mean similarity."""
        del question  # the database compared its vector
        near = candidates.similarities
        return [_mean(near, key) for key in candidates.keys]

    def scale(self, values: Sequence[float], candidates: Candidates) -> list[float]:
        """Convert it to the scale of the vectors."""
        return calibrate(values, candidates, self._cosines, self._tuning)


def _mean(near: Mapping[Key, float], key: Key) -> float:
    kind, session, number = key
    total, count = near.get(key, 0.0), 1
    if kind is not RefKind.MESSAGE:
        return total
    for side in (near.get((kind, session, number - 1)), near.get((kind, session, number + 1))):
        if side is not None:
            total += side
            count += 1
    return total / count
