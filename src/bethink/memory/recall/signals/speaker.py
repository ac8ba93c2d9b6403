"""Prefers messages by, and facts about, the person whom the question is about."""

from bethink.memory.recall.candidates import Candidates
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.tuning import Tuning
from bethink.model.refs import RefKind
from bethink.store.db import Row
from bethink.store.search import TermMatch, Text


class SpeakerSignal:
    """1 if the question asks what this speaker said, -1 if it asks about another one, else 0.

    A fact never scores -1: its subject says whom it is about.
    """

    name = "speaker"

    def __init__(self, tuning: Tuning) -> None:
        self.weight = tuning.speaker

    def score(self, question: ParsedQuestion, candidates: Candidates) -> list[float]:
        """Return 1, -1 or 0."""
        if question.speaker is None and question.role is None:
            return [0.0] * len(candidates.keys)
        return candidates.map_texts(lambda item: _speaker_match(question, item))


def _speaker_match(question: ParsedQuestion, item: TermMatch | Text) -> float:
    if isinstance(item, Text) and item.row is not None:
        return 1.0 if _concerns(question, item.row) else 0.0
    if item.ref.kind is not RefKind.MESSAGE:
        return 0.0
    if question.speaker is not None and item.name is not None:
        return 1.0 if item.name == question.speaker else -1.0
    if question.role is not None and item.role in ("user", "assistant"):
        return 1.0 if item.role == question.role else -1.0
    return 0.0


def _concerns(question: ParsedQuestion, fact: Row) -> bool:
    """Return whether a fact is about the person who asks, or is about or by the speaker whom the question names."""
    if question.speaker is None:
        return question.role == "user" and fact["subject"] == "user"
    return question.speaker.casefold() in (fact["subject"], (fact["speaker"] or "").casefold())
