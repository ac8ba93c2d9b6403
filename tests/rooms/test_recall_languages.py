"""Recall in a language that the embedder was not trained on: words lead, and its vectors only decide between equals."""

from collections.abc import Sequence

import pytest

from bethink import Memory
from bethink.extend import TextKind
from bethink.memory.recall.signals.vector import knows
from bethink.store.db import Database
from tests.rooms.recall_kit import tell, texts, with_vectors
from tests.rooms.vector_kit import Hashed, hashed, index_all

DOG, RAIN = "我家的狗叫小白", "昨天下了一整天的雨"
QUESTION = "狗叫什么名字？"


class Misled(Hashed):
    """An embedder to which every question in Chinese is about the rain."""

    def __init__(self, *languages: str) -> None:
        super().__init__()
        self.languages = languages

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "message") -> list[Sequence[float]]:
        return [hashed(RAIN if text == QUESTION else text) for text in texts]


async def test_an_embedder_is_not_believed_in_a_language_it_was_not_trained_on(
    memory: Memory, database: Database
) -> None:
    await tell(memory, DOG, RAIN)
    await index_all(database, Misled())

    trained = await with_vectors(database, Misled("zh")).space("alice").recall(QUESTION)
    untrained = await with_vectors(database, Misled("en")).space("alice").recall(QUESTION)

    assert texts(trained)[0] == RAIN
    assert texts(untrained)[0] == DOG


@pytest.mark.parametrize(
    ("languages", "known"),
    [((), True), (("zh",), True), (("en", "zh"), True), (("mul",), True), (("pl",), True), (("en",), False)],
)
def test_an_embedder_says_which_languages_it_knows(languages: tuple[str, ...], known: bool) -> None:
    assert knows(Misled(*languages), "zh") is known
