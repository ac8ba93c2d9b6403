"""The share of the names in the question that a fact is about."""

from bethink.memory.recall.candidates import Candidates
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.tuning import Tuning
from bethink.store.search import Text


class EntitySignal:
    """The share of the names in the question that are the subject or an entity of a fact."""

    name = "entity"

    def __init__(self, tuning: Tuning) -> None:
        self.weight = tuning.entity

    def score(self, question: ParsedQuestion, candidates: Candidates) -> list[float]:
        """Return the share; 0 for candidates that are not facts."""
        if not question.names:
            return [0.0] * len(candidates.keys)
        return [_share_of_names(question.names, text) for text in candidates.texts]


def _share_of_names(names: tuple[str, ...], text: Text) -> float:
    if text.row is None:
        return 0.0
    about = f"{text.name or ''} {text.row['entities']}".casefold()
    return sum(name in about for name in names) / len(names)
