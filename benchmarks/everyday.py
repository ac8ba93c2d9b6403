"""Reads `data/everyday.jsonl`: what ten invented users told an assistant over a year, and what they ask it later."""

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
