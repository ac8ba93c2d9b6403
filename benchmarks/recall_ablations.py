"""Every signal of the ranking, and how to switch it off."""

from collections.abc import Mapping
from dataclasses import replace

from bethink.memory.recall.tuning import TUNING, Tuning

_OFF: Mapping[str, tuple[str, ...]] = {
    "words": ("words",),
    "neighbours": ("after", "answering", "before", "two_away"),
    "related words": ("related",),
    "session": ("session",),
    "vector": ("vector",),
    "window": ("window",),
    "date": ("date", "date_alone"),
    "speaker": ("speaker",),
    "quoted": ("quoted",),
    "entity": ("entity",),
    "recency": ("recency", "recency_now"),
    "asks": ("asks",),
}
_OF_VECTORS = ("vector", "window")


def ablations(*, vectors: bool) -> dict[str, Tuning]:
    """Return the tuning without each signal; those of vectors only where there are any."""
    return {
        name: replace(TUNING, **dict.fromkeys(fields, 0.0))
        for name, fields in _OFF.items()
        if vectors or name not in _OF_VECTORS
    }
