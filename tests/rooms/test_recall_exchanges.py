"""Recall ranks an exchange as a unit: the reply before its question, the statement before its acknowledgment."""

import pytest

from bethink import Memory
from bethink.store.db import Database
from tests.rooms.recall_kit import assistant, tell, texts, user, with_vectors
from tests.rooms.vector_kit import index_all

ASKED = "Which glue holds on wet cedar?"
ANSWERED = "Take the resin in the green tin and wait a day."
CHATTER = ("The rain never stops here.", "My bicycle is painted orange.", "Lunch was late again today.")


@pytest.mark.parametrize("question", ["Which glue did you suggest for cedar?", "What holds on cedar?"])
async def test_reply_ranks_before_the_question_that_has_the_words(memory: Memory, question: str) -> None:
    await tell(memory, *CHATTER, user(ASKED), assistant(ANSWERED))
    await tell(memory, "The cedar was cut down.", assistant("A cedar may live for centuries."))

    found = await memory.space("alice").recall(question)

    ranked = texts(found)
    assert ranked[0] == ANSWERED
    assert ASKED in ranked
    assert found.items[0].reply_to is not None


@pytest.mark.parametrize(
    ("statement", "acknowledgment", "question"),
    [
        ("My train to York leaves at 9:40 on Monday.", "Got it, the 9:40 train to York.", "Which train goes to York?"),
        ("The ferry to Skye was cancelled, so we stayed in Mallaig.", "Skye cancelled!", "Skye cancelled?"),
    ],
)
async def test_statement_ranks_before_its_acknowledgment(
    memory: Memory, statement: str, acknowledgment: str, question: str
) -> None:
    await tell(memory, *CHATTER, user(statement), assistant(acknowledgment))

    assert texts(await memory.space("alice").recall(question))[:2] == [statement, acknowledgment]


async def test_request_ranks_after_a_statement_with_fewer_words(memory: Memory) -> None:
    statement, request = "I sold a poem and a long story to a magazine.", "Write me a poem."
    await tell(memory, *CHATTER, user(request))
    await tell(memory, user(statement))

    assert texts(await memory.space("alice").recall("Which poem?"))[:2] == [statement, request]


async def test_one_shared_word_of_two_is_not_full_coverage(memory: Memory, database: Database) -> None:
    stray = "A polite boy held the door."
    await tell(memory, *CHATTER, stray)
    await index_all(database)
    space = with_vectors(database).space("alice")

    added = {
        question: candidate.signals["words"].added
        for question in ("polite quarrel", "polite boy")
        for candidate in (await space.recall(question, explain=True)).candidates
        if candidate.text == stray
    }

    assert 0 < added["polite quarrel"] < added["polite boy"] / 2
