"""Reads what ten invented users, and five by another author, told an assistant, and what they ask it later."""

from pathlib import Path

from benchmarks.own_sets import Half, read
from benchmarks.sets import Conversation

DATA = Path(__file__).parent / "data" / "everyday.jsonl"


def everyday(half: Half | None = None) -> list[Conversation]:
    """Read the conversations, or those of one half: weights are set on "tune", figures are reported on "report".

    A question's category is `direct` (in the words of the statement), `paraphrase` (it shares no content word with
    it) or `never` (nothing was said about it).
    """
    return read(DATA, half)


def everyday2(half: Half | None = None) -> list[Conversation]:
    """Read the five: nothing is tuned on them, so all are in the half "report"."""
    return read(DATA.with_name("everyday2.jsonl"), half)
