"""Recall in a language the embedder was not trained on: words lead, and vectors only break ties."""

from collections.abc import Sequence

import pytest

from bethink import Memory
from bethink.extend import TextKind
from bethink.memory.recall.signals.vector import supports_language
from bethink.store.db import Database
from tests.rooms.recall_kit import tell, texts, with_vectors
from tests.rooms.vector_kit import Hashed, hashed, index_all

DOG, RAIN = "我家的狗叫小白", "昨天下了一整天的雨"
QUESTION = "狗叫什么名字？"


TEA = "शहद वाली चाय मेरा सहारा है।", "मेरा पेय क्या है?"
"""A statement in Hindi, and a question that shares only "my" with it."""


class Misled(Hashed):
    """An embedder to which every question in Chinese is about the rain."""

    def __init__(self, *languages: str) -> None:
        super().__init__()
        self.languages = languages

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "message") -> list[Sequence[float]]:
        return [hashed(RAIN if text == QUESTION else text) for text in texts]


class Blind(Misled):
    """An embedder to which all texts are the same."""

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "message") -> list[Sequence[float]]:
        return [hashed(RAIN) for _ in texts]


async def test_embedder_is_ignored_in_an_untrained_language(memory: Memory, database: Database) -> None:
    await tell(memory, DOG, RAIN)
    await index_all(database, Misled())

    trained = await with_vectors(database, Misled("zh")).space("alice").recall(QUESTION)
    untrained = await with_vectors(database, Misled("en")).space("alice").recall(QUESTION)

    assert texts(trained)[0] == RAIN
    assert texts(untrained)[0] == DOG


@pytest.mark.parametrize(("language", "first"), [("en", TEA[0]), ("hi", RAIN)])
async def test_common_words_are_searched_if_the_embedder_lacks_the_language(
    memory: Memory, database: Database, language: str, first: str
) -> None:
    await tell(memory, RAIN, TEA[0])
    await index_all(database, Blind())

    result = await with_vectors(database, Blind(language)).space("alice").recall(TEA[1])

    assert texts(result)[0] == first


async def test_german_compound_finds_its_parts(memory: Memory) -> None:
    await tell(memory, "Der Termin beim Zahnarzt ist um neun.", "Mein Tag war lang.", "Der Arzt hat heute frei.")

    result = await memory.space("alice").recall("Wann ist mein Zahnarzttermin?")

    assert texts(result)[0] == "Der Termin beim Zahnarzt ist um neun."


@pytest.mark.parametrize(
    ("languages", "known"),
    [((), True), (("zh",), True), (("en", "zh"), True), (("mul",), True), (("pl",), True), (("en",), False)],
)
def test_embedder_declares_its_languages(languages: tuple[str, ...], known: bool) -> None:
    assert supports_language(Misled(*languages), "zh") is known
