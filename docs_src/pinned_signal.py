"""A ranking signal: texts with a hash tag come before others that are as good."""

from bethink.memory.recall.candidates import Candidates
from bethink.memory.recall.question import ParsedQuestion


class Pinned:
    name = "pinned"
    weight = 0.3

    def score(self, question: ParsedQuestion, candidates: Candidates) -> list[float]:
        if question.now:  # it asks about the present, and a pinned text may be old
            return [0.0] * len(candidates.texts)
        return [1.0 if "#pinned" in text.text else 0.0 for text in candidates.texts]


if __name__ == "__main__":
    print(f"{Pinned.name} changes a score by at most {Pinned.weight:.0%}")
