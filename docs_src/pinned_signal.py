"""A signal of recall: what someone pinned with a hash tag comes before what is otherwise as good."""

from bethink.memory.recall.candidates import Candidates
from bethink.memory.recall.question import ParsedQuestion


class Pinned:
    name = "pinned"
    weight = 0.3

    def score(self, question: ParsedQuestion, candidates: Candidates) -> list[float]:
        if question.now:  # what holds now is not what was pinned some day
            return [0.0] * len(candidates.texts)
        return [1.0 if "#pinned" in text.text else 0.0 for text in candidates.texts]


if __name__ == "__main__":
    print(f"{Pinned.name} changes a score by at most {Pinned.weight:.0%}")
