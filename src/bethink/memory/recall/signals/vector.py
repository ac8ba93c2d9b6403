"""How similar the vector of a candidate is to that of the question."""

from collections.abc import Collection, Sequence
from statistics import fmean, pstdev

from bethink.extend import Cosines
from bethink.memory.recall.candidates import Candidates
from bethink.memory.recall.languages import TOLD_APART
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.tuning import Tuning


class VectorSignal:
    """The cosine of two vectors, so that other words for the same are found, too."""

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
        """Return little for what is as far away as any other text, and about half for a usual answer."""
        return calibrated(values, candidates, self._cosines, self._tuning)


def knows(embedder: object, language: str) -> bool:
    """Return whether an embedder was trained on a language.

    One that names no language, or one that questions are not told apart by, such as `mul`, is taken to know them all.
    """
    languages: Collection[str] = getattr(embedder, "languages", ())
    return not languages or language in languages or not TOLD_APART.issuperset(languages)


def cosines_of(embedder: object, similarities: Collection[float], tuning: Tuning, *, language: str) -> Cosines:
    """Return what the cosines of an embedder mean: as it says, else by the spread of what was compared."""
    known: Cosines | None = getattr(embedder, "cosines", None)
    usual = known or Cosines()
    if not knows(embedder, language):
        # To an embedder that does not know a language, all its texts are much the same.
        unrelated = fmean(similarities)
        return Cosines(unrelated, unrelated + usual.related - usual.unrelated)
    if known is not None:
        return known
    if len(similarities) < tuning.cosines_from:
        return usual
    unrelated = fmean(similarities)
    if abs(unrelated - usual.unrelated) <= tuning.cosines_differ:
        return usual
    spread = pstdev(similarities)
    return Cosines(unrelated, unrelated + max(tuning.cosines_spread * spread, 0.01))


def calibrated(values: Sequence[float], candidates: Candidates, cosines: Cosines, tuning: Tuning) -> list[float]:
    """Bring similarities onto the scale that all embedders share; 0 for a candidate without a vector."""
    base, near = tuning.near_unrelated, candidates.similarities
    slope = (tuning.near_related - base) / (cosines.related - cosines.unrelated)
    return [
        max(0.0, min(1.0, base + slope * (value - cosines.unrelated))) if key in near else 0.0
        for key, value in zip(candidates.keys, values, strict=True)
    ]
