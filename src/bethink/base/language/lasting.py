"""Judges whether a sentence of a user is meant to last: an instruction, a preference or a decision, not a task for now.

A linear model with readable weights, trained by `benchmarks.lasting_training` on sentences that several authors wrote.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from itertools import pairwise

from bethink.base.language.letters import QUESTION_MARKS, words_in

_BIAS = "bias"
_LOG = re.compile(
    r"\w[:(]\d+|\b(?:error|warning|info|debug)\b[:\[ ]|[{};=<>|\\]|\b[A-Z]{1,3}\d{3,}\b|https?:", re.IGNORECASE
)
"""What a person pastes rather than says."""
_MAX_WORDS = 40
_PREFIX = 5
"""Letters of a word that most of its forms share."""
_SHORT, _LONG = 4, 14


def lasting_score(sentence: str) -> float:
    """Return the log odds that a sentence is meant to last. Output that somebody pasted is not."""
    if _LOG.search(sentence):
        return -math.inf
    weights = _weights()
    return weights.get(_BIAS, 0.0) + sum(weights.get(feature, 0.0) for feature in features_of(sentence))


def features_of(sentence: str) -> Iterator[str]:
    """Yield the features of a sentence, each once: its words, pairs of neighbors, its beginning, and its shape."""
    words = words_in(sentence)[:_MAX_WORDS]
    yield from {
        *words,
        *(f"{word[:_PREFIX]}-" for word in words if len(word) > _PREFIX),
        *(f"{first} {second}" for first, second in pairwise(words)),
        *(f"{first} * {second}" for first, second in zip(words, words[2:], strict=False)),
    }
    if words:
        yield f"^{words[0]}"
        yield f"{words[-1]}$"
    if sentence.rstrip().endswith(QUESTION_MARKS):
        yield "?"
    yield "short" if len(words) <= _SHORT else "long" if len(words) >= _LONG else "medium"


@cache
def _weights() -> Mapping[str, float]:
    file = resources.files("bethink.base.language") / "lasting.json"
    weights: Mapping[str, float] = json.loads(file.read_text(encoding="utf-8"))
    return weights
