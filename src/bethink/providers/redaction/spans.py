"""Positions of secrets in a text."""

from collections.abc import Iterable
from typing import NamedTuple


class MatchSpan(NamedTuple):
    """The position of a secret in a text, and its kind."""

    start: int
    end: int
    kind: str


def merge_overlaps(spans: Iterable[MatchSpan]) -> list[MatchSpan]:
    """Merge overlapping spans. The kind of the earlier entry wins, so list surer matches first."""
    merged: list[tuple[int, MatchSpan]] = []
    for rank, span in sorted(enumerate(spans), key=lambda entry: entry[1].start):
        if not merged or span.start >= merged[-1][1].end:
            merged.append((rank, span))
            continue
        first, last = merged[-1]
        kind = last.kind if first < rank else span.kind
        merged[-1] = min(first, rank), MatchSpan(last.start, max(last.end, span.end), kind)
    return [span for _, span in merged]
