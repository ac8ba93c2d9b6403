"""New messages are found by meaning at once, before a worker has embedded them."""

import sys
from array import array
from collections.abc import Sequence

import pytest

from bethink import Fact, Memory
from bethink.errors import ModelResponseError
from bethink.extend import TextKind
from bethink.memory.recall import tail
from bethink.memory.recall.reindex import Vectors
from bethink.model.views import NOW
from bethink.store import search, vectors
from bethink.store.db import Database
from tests.conftest import FakeClock, said
from tests.rooms.recall_kit import message, tell, texts, with_vectors
from tests.rooms.vector_kit import DIMENSION, Hashed, index_all, index_of

pytestmark = pytest.mark.pgvector

QUESTION = "What about crimson things?"
_COLOURS = {"crimson": 0, "scarlet": 0, "azure": 1, "cobalt": 1}


class Colours(Hashed):
    """A quick embedder that knows two words for each colour."""

    at_once = 8

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "message") -> list[Sequence[float]]:
        await super().embed(texts, kind=kind)
        return [_vector(text) for text in texts]


def _vector(text: str) -> list[float]:
    places = [place for word, place in _COLOURS.items() if word in text]
    return [1.0 if place == (places or [DIMENSION - 1])[0] else 0.0 for place in range(DIMENSION)]


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail, "_cache", tail._VectorCache())


async def test_recent_message_is_found_by_meaning(database: Database, memory: Memory) -> None:
    await tell(memory, "a scarlet coat", "an azure hat")
    quick = Colours("colours")

    before_any_worker = await with_vectors(database, quick).space("alice").recall(QUESTION)
    await index_all(database, quick)
    embedded = await with_vectors(database, quick).space("alice").recall(QUESTION)
    await tell(memory, "a scarlet boat")
    after = await with_vectors(database, quick).space("alice").recall(QUESTION)

    assert texts(before_any_worker) == texts(embedded) == ["a scarlet coat"]
    assert sorted(texts(after)) == ["a scarlet boat", "a scarlet coat"]
    assert [each.note for each in (before_any_worker, embedded, after)] == [None, None, None]


async def test_unindexed_facts_are_found_at_once(database: Database, memory: Memory) -> None:
    await memory.space("alice").facts.save(Fact(id="f", text="Her boat is scarlet"))

    found = await with_vectors(database, Colours("colours")).space("alice").recall(QUESTION)

    assert texts(found) == ["Her boat is scarlet"]


async def test_a_text_that_waits_is_embedded_for_the_first_question_only(database: Database, memory: Memory) -> None:
    await tell(memory, "a scarlet coat")
    quick = Colours("colours")
    asking = with_vectors(database, quick).space("alice")

    await asking.recall(QUESTION)
    await asking.recall(QUESTION)

    assert quick.kinds.count("message") == 1


async def test_only_newest_texts_are_embedded_and_the_rest_reported(database: Database, memory: Memory) -> None:
    await tell(memory, "a scarlet coat", *[f"an azure hat number {number}" for number in range(10)])
    await tell(memory, "a scarlet boat")
    quick = Colours("colours")

    found = await with_vectors(database, quick).space("alice").recall(QUESTION)

    assert sum(len(asked) for asked, kind in zip(quick.asked, quick.kinds, strict=True) if kind == "message") == 8
    assert texts(found) == ["a scarlet boat"]
    assert found.note == "4 new texts have no vector yet. Searched by words only."


async def test_an_embedder_that_is_not_quick_is_not_made_to_hurry(database: Database, memory: Memory) -> None:
    await tell(memory, "a crimson coat")
    slow = Colours("colours")
    slow.at_once = 0

    found = await with_vectors(database, slow).space("alice").recall(QUESTION)

    assert slow.kinds == ["question"]
    assert texts(found) == ["a crimson coat"]
    assert (found.note or "").startswith("No vectors yet. Ranked by words only.")
    await index_all(database, slow)
    await tell(memory, "a crimson boat")
    again = await with_vectors(database, slow).space("alice").recall(QUESTION)
    assert again.note == "1 new text has no vector yet. Searched by words only."


@pytest.mark.parametrize("few", [False, True])
async def test_an_embedder_that_fails_on_new_texts_still_compares_the_others(
    database: Database, memory: Memory, few: bool
) -> None:
    class Picky(Colours):
        async def embed(self, texts: Sequence[str], *, kind: TextKind = "message") -> list[Sequence[float]]:
            if kind == "message" and "a scarlet boat" in texts:
                if few:
                    return []
                raise ModelResponseError("not this one")
            return await super().embed(texts, kind=kind)

    await tell(memory, "a scarlet coat")
    picky = Picky("colours")
    await index_all(database, picky)
    await tell(memory, "a scarlet boat")

    found = await with_vectors(database, picky).space("alice").recall(QUESTION)

    assert texts(found) == ["a scarlet coat"]
    assert found.note == "1 new text has no vector yet. Searched by words only."


async def test_large_space_embeds_only_newest_unindexed_messages(
    database: Database, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail, "_EXACT_UP_TO", 0)
    session = await tell(memory, *[f"an azure hat number {number}" for number in range(20)])
    quick = Colours("colours")
    await index_all(database, quick)
    await session.append(said("a scarlet coat"))
    await tell(memory, " ", "a scarlet boat")

    found = await with_vectors(database, quick).space("alice").recall(QUESTION)

    assert sorted(texts(found)) == ["a scarlet boat", "a scarlet coat"]
    assert found.note is None
    made = [
        text
        for asked, kind in zip(quick.asked[1:], quick.kinds[1:], strict=True)
        if kind == "message"
        for text in asked
    ]
    assert sorted(made) == ["a scarlet boat", "a scarlet coat"]


async def test_a_space_that_is_done_costs_one_look(database: Database, memory: Memory, clock: FakeClock) -> None:
    session = await tell(memory, "a scarlet coat")
    await session.end()
    quick = Colours("colours")
    await index_all(database, quick)
    quick.asked.clear()

    found = await with_vectors(database, quick).space("alice").recall(QUESTION)

    assert texts(found) == ["a scarlet coat"]
    assert quick.asked == [["What about crimson things?"]]


async def test_deleted_message_is_not_found_after_query_time_embedding(database: Database, memory: Memory) -> None:
    session = await tell(memory, "a scarlet coat")
    asking = with_vectors(database, Colours("colours")).space("alice")
    assert texts(await asking.recall(QUESTION)) == ["a scarlet coat"]

    await memory.space("alice").forget(str(message(session, 1)))

    assert texts(await asking.recall(QUESTION)) == []


async def test_embedder_not_in_use_embeds_only_the_question(database: Database, memory: Memory) -> None:
    class Automatic(Colours):
        automatic = True

    await tell(memory, "a crimson coat")
    await index_all(database, Hashed("chosen"))
    automatic, retired = Automatic("automatic"), Colours("retired")
    await with_vectors(database, automatic).space("alice").recall(QUESTION)
    await Vectors(database, retired).reindex()
    await index_all(database, retired)
    await Vectors(database, Hashed("chosen")).reindex()
    await index_all(database, Hashed("chosen"))
    retired.kinds.clear()
    await tell(memory, "a crimson boat")
    await with_vectors(database, retired).space("alice").recall(QUESTION)

    assert automatic.kinds == ["question"]
    assert retired.kinds == ["question"]


@pytest.mark.parametrize("exact", [True, False])
async def test_retracted_message_is_not_embedded(
    database: Database, memory: Memory, monkeypatch: pytest.MonkeyPatch, *, exact: bool
) -> None:
    if not exact:
        monkeypatch.setattr(tail, "_EXACT_UP_TO", 0)
    session = await tell(memory, "a scarlet coat", "a scarlet boat", "a scarlet hat")
    await session.retract(2)
    quick = Colours("colours")
    asking = with_vectors(database, quick).space("alice")

    assert sorted(texts(await asking.recall(QUESTION))) == ["a scarlet coat", "a scarlet hat"]
    await index_all(database, quick)

    assert "boat" not in str(quick.asked)
    assert sorted(texts(await asking.recall(QUESTION))) == ["a scarlet coat", "a scarlet hat"]
    index = await index_of(database, "colours")
    assert await database.transact(lambda tx: vectors.counts(tx, space="alice", index=index), space="alice") == (2, 0)

    await session.retract(3)

    taken = [message(session, number) for number in (1, 2, 3)]
    gone = await database.transact(
        lambda tx: search.outdated_refs(tx, space="alice", refs=taken, view=NOW), space="alice"
    )
    assert gone == set(taken[1:])


def test_similarity_is_the_same_alone_or_without_numpy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = [0.1 * place for place in range(DIMENSION)]
    made = {str(number): array("f", [0.5 / (number + place + 1) for place in range(DIMENSION)]) for number in range(9)}

    together = tail._similarities(asked, made)
    alone = {text: tail._similarities(asked, {text: vector})[text] for text, vector in made.items()}
    monkeypatch.setitem(sys.modules, "numpy", None)
    without = tail._similarities(asked, made)

    assert together == alone
    assert together == pytest.approx(without, rel=1e-12)
