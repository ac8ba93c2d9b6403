"""The similarity of a candidate to the question, by their vectors."""

from collections.abc import Collection, Sequence
from statistics import fmean, pstdev

from bethink.extend import Cosines
from bethink.memory.recall.candidates import Candidates
from bethink.memory.recall.languages import DETECTED_LANGUAGES
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.tuning import Tuning


class VectorSignal:
    """The cosine of two vectors, which also finds synonyms."""

    name = "vector"

    def __init__(self, tuning: Tuning, cosines: Cosines) -> None:
        self.weight = tuning.vector
        self._tuning = tuning
        self._cosines = cosines

    def score(self, question: ParsedQuestion, candidates: Candidates) -> list[float]:
        """Return the similarity, 0 without a vector."""
        del question  # the database compared its vector
        return [candidates.similarities.get(key, 0.0) for key in candidates.keys]

    def scale(self, values: Sequence[float], candidates: Candidates) -> list[float]:
        """Return a low value for unrelated texts, and about half for a typical answer."""
        return calibrate(values, candidates, self._cosines, self._tuning)


def supports_language(embedder: object, language: str) -> bool:
    """Return whether an embedder was trained on a language.

    An embedder that names no language, or one that is not detected, such as `mul`, is assumed to support all.
    """
    languages: Collection[str] = getattr(embedder, "languages", ())
    return not languages or language in languages or not DETECTED_LANGUAGES.issuperset(languages)


def cosines_of(embedder: object, similarities: Collection[float], tuning: Tuning, *, language: str) -> Cosines:
    """Return the scale of an embedder's cosines: its own if it has one, else estimated from the similarities."""
    own: Cosines | None = getattr(embedder, "cosines", None)
    default = own or Cosines()
    if not supports_language(embedder, language):
        # To an embedder that was not trained on a language, all its texts are similar.
        unrelated = fmean(similarities)
        return Cosines(unrelated, unrelated + default.related - default.unrelated)
    if own is not None:
        return own
    if len(similarities) < tuning.cosines_from:
        return default
    unrelated = fmean(similarities)
    if abs(unrelated - default.unrelated) <= tuning.cosines_differ:
        return default
    spread = pstdev(similarities)
    return Cosines(unrelated, unrelated + max(tuning.cosines_spread * spread, 0.01))


def calibrate(values: Sequence[float], candidates: Candidates, cosines: Cosines, tuning: Tuning) -> list[float]:
    """Convert similarities to the common scale of all embedders; 0 for a candidate without a vector."""
    base, near = tuning.near_unrelated, candidates.similarities
    slope = (tuning.near_related - base) / (cosines.related - cosines.unrelated)
    return [
        max(0.0, min(1.0, base + slope * (value - cosines.unrelated))) if key in near else 0.0
        for key, value in zip(candidates.keys, values, strict=True)
    ]
