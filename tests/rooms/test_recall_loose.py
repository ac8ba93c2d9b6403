"""Words such as "my" are searched only for want of better ones, and what they find is weak."""

import pytest

from bethink import Memory
from bethink.model.recall import Certainty
from tests.rooms.recall_kit import tell, texts

FIRST_PERSON = {
    "de": (
        "Was ist mein Lieblingsgetränk?",
        "Tee mit Honig ist mir mein Leben lang am liebsten.",
        "Regen wird erwartet.",
    ),
    "ru": ("Какой у меня любимый напиток?", "Чай у меня всегда с мёдом.", "Ожидается дождь."),
    "es": ("¿Cuál es mi bebida favorita?", "Té con miel, mi gran debilidad.", "Lloverá hoy."),
    "hi": ("मेरा पेय क्या है?", "शहद वाली चाय मेरा सहारा है।", "बारिश होगी।"),
}
"""Per language: a question, a statement with which it shares only words such as "my", and one with no word of it."""


@pytest.mark.parametrize("language", FIRST_PERSON)
async def test_words_without_meaning_decide_if_nothing_else_matches(memory: Memory, language: str) -> None:
    question, statement, other = FIRST_PERSON[language]
    await tell(memory, other, statement)

    result = await memory.space("alice").recall(question)

    assert texts(result) == [statement]
    assert result.certainty is Certainty.WEAK
    assert not await memory.space("alice").recall(question, min_certainty=Certainty.FAIR)


async def test_words_without_meaning_add_nothing_to_a_fair_match(memory: Memory) -> None:
    await tell(memory, "Mein Hund heißt Bello.", "Mein Auto ist rot.")

    result = await memory.space("alice").recall("Wie heißt mein Hund?")

    assert texts(result) == ["Mein Hund heißt Bello."]
    assert result.certainty is not Certainty.WEAK


async def test_a_weak_match_ranks_before_words_without_meaning(memory: Memory) -> None:
    chatter = [f"Mein {number}. Versuch war nichts." for number in range(12)]
    await tell(memory, *chatter, "Die Farbe blättert ab.", "Hunde und Farbe passen nicht.")

    result = await memory.space("alice").recall("Welche Farbe hat mein Fahrrad im Keller meiner Schwester?", limit=5)

    assert len(result) == 5
    assert {"Die Farbe blättert ab.", "Hunde und Farbe passen nicht."} <= set(texts(result)[:3])
    assert {item.certainty for item in result} == {Certainty.WEAK}


async def test_a_question_without_any_shared_word_has_no_match(memory: Memory) -> None:
    await tell(memory, "Regen wird erwartet.")

    assert not await memory.space("alice").recall("Was ist mein Lieblingsgetränk?")
