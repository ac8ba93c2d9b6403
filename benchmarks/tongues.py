"""Reads `data/tongues.jsonl`: the same kind of talk in twelve languages, one conversation each."""

from pathlib import Path

from benchmarks.own_sets import Half, read
from benchmarks.sets import Conversation

DATA = Path(__file__).parent / "data" / "tongues.jsonl"


def tongues(half: Half | None = None) -> list[Conversation]:
    """Read the conversations; a half leaves each with every second of its questions.

    A conversation's id is its language ("de"). A question's category is `direct` (the words of the statement, as
    grammar bends them) or `reworded` (a synonym or another way to say it).
    """
    return read(DATA, half)
