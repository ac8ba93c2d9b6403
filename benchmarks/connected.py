"""Reads connected lives: what a few users tell an assistant over months, where every question has rivals."""

from pathlib import Path

from benchmarks.own_sets import Half, read
from benchmarks.sets import Conversation

DATA = Path(__file__).parent / "data" / "connected.jsonl"


def connected(half: Half | None = None) -> list[Conversation]:
    """Read the lives by the first author, or those of one half.

    A question's category is `direct`, `paraphrase`, `person` (about another person), `update` (the answer changed, and
    the newest statement is the evidence), `exchange` (the assistant gave the answer), `list`, `time` or `never`.
    """
    return read(DATA, half)


def connected2(half: Half | None = None) -> list[Conversation]:
    """Read the lives by the second author, in the same form."""
    return read(DATA.with_name("connected2.jsonl"), half)
