"""Trains the table that tells lasting sentences of users from tasks for now, and measures it.

    python -m benchmarks.lasting_training            # figures by cross-validation
    python -m benchmarks.lasting_training --write    # also writes the table

The sentences are in `benchmarks/data/lasting`, one file for each author. What people tell about themselves in everyday
conversations is not meant as an instruction and trains the other side. The result has the same bytes every time.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.everyday import everyday, everyday2
from bethink.base.language import lasting, preferences, preferences_in
from bethink.base.language.preferences import own_sentences

DATA = Path(__file__).parent / "data" / "lasting"
TABLE = Path(lasting.__file__).with_name("lasting.json")
GOAL = 0.9
"""Precision at the threshold, if one of twenty sentences is meant to last."""
_SHARE = 0.05
_RARE = 2
_FOLDS = 5
_PENALTY = 1.0
_ROUNDS = 400
_STEP = 2.0
_LEAST_WEIGHT = 0.05


class Sentence(NamedTuple):
    """A sentence with its label."""

    text: str
    is_lasting: bool
    author: str


def load() -> list[Sentence]:
    """Return the sentences of all authors."""
    told = {
        sentence
        for conversation in (*everyday(), *everyday2())
        for turn in conversation.turns
        if turn.speaker == conversation.turns[0].speaker
        for sentence in own_sentences(turn.text)
        if not preferences_in(sentence)
    }
    chat = [Sentence(text, is_lasting=False, author="everyday") for text in sorted(told)]
    return chat + [
        Sentence(row["text"], row["label"] == "lasting", path.stem)
        for path in sorted(DATA.glob("*.jsonl"))
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())
    ]


def train(sentences: Sequence[Sentence]) -> dict[str, float]:
    """Return the weights of a logistic regression."""
    featured = [sorted(lasting.features_of(sentence.text)) for sentence in sentences]
    counts = Counter(feature for features in featured for feature in features)
    names = sorted(feature for feature, count in counts.items() if count >= _RARE)
    places = {name: place for place, name in enumerate(names)}
    rows = [np.array([places[name] for name in features if name in places], np.int64) for features in featured]
    wanted = np.array([sentence.is_lasting for sentence in sentences], np.float64)
    at = np.concatenate(rows)
    owner = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    weights, bias = np.zeros(len(names)), 0.0
    squares = np.full(len(names), 1.0)
    for _ in range(_ROUNDS):  # AdaGrad over all sentences at once, so that nothing depends on an order
        scores = bias + np.bincount(owner, weights[at], len(rows))
        errors = 1 / (1 + np.exp(-scores)) - wanted
        gradient = np.bincount(at, errors[owner], len(names)) + _PENALTY * weights
        squares += gradient**2
        weights -= _STEP * gradient / np.sqrt(squares)
        bias -= _STEP * float(errors.mean())
    kept = {name: round(float(weight), 2) for name, weight in zip(names, weights, strict=True)}
    return {"bias": round(bias, 2), **{name: weight for name, weight in kept.items() if abs(weight) >= _LEAST_WEIGHT}}


def scores_of(weights: dict[str, float], sentences: Sequence[Sentence]) -> NDArray[np.float64]:
    """Return the score of each sentence."""
    return np.array(
        [weights["bias"] + sum(weights.get(name, 0.0) for name in lasting.features_of(each.text)) for each in sentences]
    )


class Figures(NamedTuple):
    """Recall and false alarms at a threshold, and the precision if few sentences are meant to last."""

    threshold: float
    recall: float
    alarms: float

    @property
    def precision(self) -> float:
        """The share of found sentences that are meant to last."""
        hits = self.recall * _SHARE
        return hits / max(1e-9, hits + self.alarms * (1 - _SHARE))


def figures_at(threshold: float, scores: NDArray[Any], wanted: NDArray[Any]) -> Figures:
    """Return the figures at a threshold."""
    found = scores >= threshold
    return Figures(threshold, float(found[wanted].mean()), float(found[~wanted].mean()))


def cross_validated(sentences: Sequence[Sentence]) -> NDArray[np.float64]:
    """Return the score of each sentence by a table that was trained without it."""
    scores = np.zeros(len(sentences))
    for fold in range(_FOLDS):
        own = list(range(fold, len(sentences), _FOLDS))
        others = [sentence for at, sentence in enumerate(sentences) if at % _FOLDS != fold]
        scores[own] = scores_of(train(others), [sentences[at] for at in own])
    return scores


def main() -> int:
    """Train, and print the figures. Returns 1 if the precision misses the goal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the table")
    options = parser.parse_args()
    sentences = load()
    if options.write:
        table = train(sentences)
        TABLE.write_text(json.dumps(table, ensure_ascii=False, separators=(",", ":"), sort_keys=True) + "\n", "utf-8")
        print(f"{len(sentences):,} sentences, {len(table):,} weights, {TABLE.stat().st_size / 1000:.0f} kB")
    wanted = np.array([sentence.is_lasting for sentence in sentences])
    scores = cross_validated(sentences)
    for threshold in (0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5):
        figures = figures_at(threshold, scores, wanted)
        found = f"recall {figures.recall:.3f}, alarms {figures.alarms:.4f}, precision {figures.precision:.2f}"
        print(f"{threshold:.1f}: {found}")
    chosen = figures_at(preferences.CERTAIN, scores, wanted)
    print(f"at {preferences.CERTAIN}: precision {chosen.precision:.2f} if one of twenty is lasting (goal {GOAL})")
    return int(chosen.precision < GOAL)


if __name__ == "__main__":
    sys.exit(main())
