"""Whether something was said by the one that the question is about, or is known of them."""

from bethink.memory.recall.candidates import Candidates
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.tuning import Tuning
from bethink.model.recall import RefKind
from bethink.store.db import Row
from bethink.store.search import Match, Text


class SpeakerSignal:
    """1 if the question asks what this speaker said, -1 if it asks about another one, else 0.

    A fact is never asked of the wrong one: it says itself whom it is about.
    """

    name = "speaker"

    def __init__(self, tuning: Tuning) -> None:
        self.weight = tuning.speaker

    def score(self, question: ParsedQuestion, candidates: Candidates) -> list[float]:
        """Return 1, -1 or 0."""
        if question.speaker is None and question.role is None:
            return [0.0] * len(candidates.keys)
        return candidates.each(lambda known: _aimed(question, known))


def _aimed(question: ParsedQuestion, known: Match | Text) -> float:
    if isinstance(known, Text) and known.row is not None:
        return 1.0 if _concerns(question, known.row) else 0.0
    if known.ref.kind is not RefKind.MESSAGE:
        return 0.0
    if question.speaker is not None and known.name is not None:
        return 1.0 if known.name == question.speaker else -1.0
    if question.role is not None and known.role in ("user", "assistant"):
        return 1.0 if known.role == question.role else -1.0
    return 0.0


def _concerns(question: ParsedQuestion, fact: Row) -> bool:
    """Return whether a fact is about the one who asks, or about the speaker whom the question names, or their word."""
    if question.speaker is None:
        return question.role == "user" and fact["subject"] == "user"
    return question.speaker.casefold() in (fact["subject"], (fact["speaker"] or "").casefold())
