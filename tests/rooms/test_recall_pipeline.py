"""For any space and question, the explanation of recall matches what it did."""

import random
from collections.abc import Sequence

import pytest

from bethink import Fact, Memory
from bethink.model.recall import Fate
from bethink.store.db import Database
from tests.length import often
from tests.rooms.recall_kit import assistant, replace_fact, tell, user, with_vectors
from tests.rooms.vector_kit import index_all

_WORDS = "tea cello Oslo Bergen job dog garden bread doctor Anna trip train book the a my was in with about"
QUESTIONS = ("What did I say about {}?", "Where is {} now?", "Did you recommend {}?", "{}", "What about {} last week?")


class ByLength:
    """A reranker that prefers long texts."""

    name = "by-length"

    async def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        return [float(len(each)) for each in texts]


def sentence(chance: random.Random) -> str:
    return " ".join(chance.choices(_WORDS.split(), k=chance.randint(2, 12)))


async def filled(memory: Memory, database: Database, chance: random.Random) -> None:
    for _ in range(chance.randint(1, 5)):
        said = [sentence(chance) for _ in range(chance.randint(1, 8))]
        await tell(memory, *[chance.choice([user, assistant])(each) for each in said])
    for number in range(4):
        await memory.space("alice").facts.save(Fact(id=f"f{number}", text=sentence(chance)))
    await replace_fact(database, "f0", by="f1")
    await index_all(database)


@pytest.mark.parametrize("seed", range(often(1, long=4)))
@pytest.mark.parametrize("way", ["words", "vectors", "reranked"])
async def test_parts_add_up_and_the_order_is_that_of_the_scores(
    memory: Memory, database: Database, way: str, seed: int
) -> None:
    chance = random.Random(seed)
    await filled(memory, database, chance)
    asking = memory if way == "words" else with_vectors(database, reranker=ByLength() if way == "reranked" else None)

    for form in QUESTIONS:
        question = form.format(sentence(chance))
        found = await asking.space("alice").recall(question, explain=True, limit=5)
        plain = await asking.space("alice").recall(question, limit=5)

        for each in found.candidates:
            assert each.score == pytest.approx(sum(signal.added for signal in each.signals.values()))
        scores = [item.score for item in found.items]
        assert scores == sorted(scores, reverse=True)
        shown = {each.ref: each.score for each in found.candidates if each.fate is Fate.SHOWN}
        assert {item.ref: item.score for item in found.items} == shown
        assert [item.ref for item in plain.items] == [item.ref for item in found.items], "explaining changes nothing"
