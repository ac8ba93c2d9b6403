"""The change behind a doubtful fact is recalled next to it, with at most half as many statements again."""

from collections.abc import Sequence

import pytest

from bethink import Memory
from bethink.model.facts import FactStatus
from bethink.model.recall import RecallResult
from bethink.store.db import Database
from tests.page_kit import cost_of
from tests.rooms.learn_kit import a_fact
from tests.rooms.test_claims import Talk

MAX_RATIO = 1.5
QUESTION = "How do I get to work?"
MOVED = "User lives in Tromsø"


@pytest.fixture
def talk(database: Database, memory: Memory) -> Talk:
    return Talk(database, memory)


async def _learn_chain(talk: Talk) -> None:
    """Learn of a home, the commute that depends on it, and what depends on the commute."""
    await talk.learn(
        "I live in Bergen", "I get to work by tram", "I get to work with a monthly ticket",
        claims=[
            a_fact("User lives in Bergen", 1, slot="home"),
            a_fact("User gets to work by tram", 2, slot="commute", rests_on=["c1"]),
            a_fact("User gets to work with a monthly ticket", 3, slot="ticket", rests_on=["c2"]),
        ],
    )  # fmt: skip


async def _learn_move(talk: Talk) -> None:
    await talk.learn("I moved to Tromsø", claims=[a_fact(MOVED, 1, slot="home", op="replaces", known=["f1"])])


def _statuses(result: RecallResult) -> dict[str, FactStatus | None]:
    return {match.text: match.status for match in result if match.fact is not None}


@pytest.mark.parametrize("words", [{}, {"kinds": ["fact"]}, {"limit": 1}])
async def test_recall_of_a_doubtful_fact_takes_few_more_statements(
    talk: Talk, memory: Memory, monkeypatch: pytest.MonkeyPatch, words: dict[str, Sequence[str] | int]
) -> None:
    space = memory.space("alice")

    async def ask() -> None:
        await space.recall(QUESTION, **words)  # pyright: ignore[reportArgumentType] - of several types

    await _learn_chain(talk)
    plain = await cost_of(monkeypatch, ask)
    assert MOVED not in {match.text for match in await space.recall(QUESTION)}
    await _learn_move(talk)
    doubtful = await cost_of(monkeypatch, ask)

    result = await space.recall(QUESTION, kinds=["fact"])
    statuses = _statuses(result)
    assert statuses["User gets to work by tram"] is FactStatus.DOUBTFUL
    assert statuses["User gets to work with a monthly ticket"] is FactStatus.DOUBTFUL
    assert MOVED in statuses
    assert plain.statements > 0
    assert doubtful.statements <= MAX_RATIO * plain.statements, (plain.texts, doubtful.texts)


async def test_context_of_a_doubtful_fact_takes_few_more_statements(
    talk: Talk, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = memory.space("alice")
    await _learn_chain(talk)
    plain = await cost_of(monkeypatch, lambda: space.context(question=QUESTION))
    await _learn_move(talk)
    doubtful = await cost_of(monkeypatch, lambda: space.context(question=QUESTION))

    assert "Tromsø" in (await space.context(question=QUESTION)).text
    assert doubtful.statements <= MAX_RATIO * plain.statements, (plain.texts, doubtful.texts)
