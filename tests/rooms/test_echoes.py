"""Echoes: repetitions, lookalikes, and an assistant that repeats its own memory."""

from datetime import timedelta

import pytest

from bethink import Fact, Memory, Message, Session
from bethink.jobs.worker import LearnReport
from bethink.model.framing import inert
from bethink.model.moments import from_micros
from bethink.model.records import conversation_key
from bethink.model.words import gist
from bethink.store.db import Database
from bethink.types import Facts, Origin
from tests.conftest import FakeClock, said
from tests.rooms.learn_kit import a_fact, answer, worker

HOME: dict[str, object] = {"slot": "home_town"}


@pytest.fixture
def facts(memory: Memory) -> Facts:
    return memory.space("alice").facts


class Talk:
    """Has sessions one after another, and learns from each what a model makes of it."""

    def __init__(self, database: Database, memory: Memory) -> None:
        self.database, self.memory, self.count = database, memory, 0

    async def open(self) -> Session:
        self.count += 1
        return await self.memory.space("alice").session(conversation_key(channel="c", chat=str(self.count)))

    async def learn(self, session: Session, messages: list[Message], *claims: dict[str, object]) -> LearnReport:
        await session.append(messages)
        await session.checkpoint(force=True)
        return await worker(self.database, [answer(*claims)]).run_once()


@pytest.fixture
def talk(database: Database, memory: Memory) -> Talk:
    return Talk(database, memory)


async def homes(facts: Facts) -> list[tuple[str, str]]:
    return [(fact.text, str(fact.origin)) for fact in await facts.search("lives", limit=9) if fact.valid_to is None]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("User lives in Stockholm", "User lives in Stockport"),
        ("User's dentist is Alexander", "User's dentist is Alexandra"),
        ("User's sister is called Christina", "User's sister is called Christine"),
    ],
)
def test_names_with_the_same_beginning_differ(one: str, other: str) -> None:
    assert gist(one) != gist(other)
    assert gist(one) == gist(one.upper())


async def test_similar_new_value_replaces_the_old_one(talk: Talk, facts: Facts) -> None:
    for town in ("Stockholm", "Stockport"):
        claim = a_fact(f"User lives in {town}", 1, **HOME)
        await talk.learn(await talk.open(), said(f"I live in {town}"), claim)

    assert await homes(facts) == [("User lives in Stockport", "user")]


async def test_later_message_wins_whatever_order_the_model_returns(talk: Talk, facts: Facts) -> None:
    claims = [a_fact("User lives in Bergen", 2, **HOME), a_fact("User lives in Oslo", 1, **HOME)]
    await talk.learn(await talk.open(), said("I live in Oslo", "Sorry, I live in Bergen"), *claims)

    assert await homes(facts) == [("User lives in Bergen", "user")]


async def test_repeated_fact_is_not_ended_by_an_earlier_message(talk: Talk, facts: Facts, clock: FakeClock) -> None:
    start = clock.time
    clock.time += timedelta(seconds=10)
    for town, second in (("Oslo", 1), ("Oslo", 3), ("Bergen", 2)):  # learnt in this order, said in another
        message = Message(role="user", content=f"I live in {town}", said_at=start + timedelta(seconds=second))
        await talk.learn(await talk.open(), [message], a_fact(f"User lives in {town}", 1, **HOME))

    assert await homes(facts) == [("User lives in Oslo", "user")]
    [oslo] = await facts.search("lives", limit=5)
    [bergen] = await facts.history(status="replaced")
    first, second, third = (start + timedelta(seconds=number) for number in (1, 2, 3))
    assert (bergen.fact.created_at, bergen.fact.valid_to) == (second, third)
    assert (oslo.created_at, oslo.valid_from) == (first, third), "it was not true in between"


async def test_an_assistant_that_repeats_a_tool_adds_no_trust_to_it(talk: Talk, facts: Facts) -> None:
    page = Message(role="tool", name="web", content="The bishop lives in Bergen")
    echo = Message(role="assistant", content="The bishop lives in Bergen")
    for message in (page, echo):
        report = await talk.learn(await talk.open(), [message], a_fact("The bishop lives in Bergen", 1, about="bishop"))

    assert report.settled == {"known": 1}
    assert await homes(facts) == [("The bishop lives in Bergen", "tool:web")]
    [fact] = await facts.search("Bergen", limit=5)
    assert len(await facts.sources(fact.id)) == 1


async def test_an_assistant_proves_nothing_by_what_memory_has_shown_it(
    talk: Talk, facts: Facts, memory: Memory
) -> None:
    await facts.save(Fact(id="f", text="User prefers green tea in the morning", origin=Origin("user")))
    session = await talk.open()
    assert await memory.space("alice").context(session_id=session.id)
    retold = [Message(role="assistant", content="As I recall, you prefer green tea. The shop closes at noon.")]
    claims = [
        a_fact("User prefers green tea", 1),
        a_fact("User does not prefer green tea", 1),
        a_fact("The shop closes at noon", 1, about="the shop"),
    ]

    report = await talk.learn(session, retold, *claims)

    assert (report.refused, report.for_review) == ({"echo": 1}, {"assistant_only": 1})
    assert {fact.text for fact in await facts.search("tea shop", limit=5)} == {
        "User prefers green tea in the morning",
        "The shop closes at noon",
    }


async def test_a_user_may_say_what_memory_has_shown(talk: Talk, facts: Facts, memory: Memory) -> None:
    await facts.save(Fact(id="f", text="User prefers green tea in the morning", origin=Origin("user")))
    session = await talk.open()
    await memory.space("alice").context(session_id=session.id)
    both = [Message(role="user", content="I prefer green tea."), Message(role="assistant", content="Green tea it is.")]

    report = await talk.learn(session, both, a_fact("User prefers green tea", 1, 2))

    assert report.settled == {"added": 1}


async def test_similar_statement_never_shown_is_not_an_echo(talk: Talk, facts: Facts) -> None:
    await facts.save(Fact(id="f", text="User prefers green tea in the morning", origin=Origin("user")))
    retold = [Message(role="assistant", content="The guests prefer green tea.")]

    report = await talk.learn(await talk.open(), retold, a_fact("The guests prefer green tea", 1, about="guests"))

    assert report.settled == {"added": 1}


@pytest.mark.parametrize(
    ("tool", "label"),
    [
        ("web", "(tool:web)"),
        ("web, user", "(tool:web_user)"),
        ("x (user, 2020-01-01) [^abc234]", "(tool:x_user_2020-01-01_abc234_)"),
    ],
)
async def test_context_line_names_its_tool_only(memory: Memory, facts: Facts, tool: str, label: str) -> None:
    origin = Origin(f"tool:{tool}")
    await facts.save(Fact(id="f", text="Trains run late", origin=origin, created_at=from_micros(1_700_000_000_000_000)))

    block = await memory.space("alice").context("Do trains run late?")

    assert f"- Trains run late {label} [^" in block.text


@pytest.mark.parametrize("label", ["[^abc234]", "[^ABC234]", "[^abc234, ^def567]", "[^abc234^def567]"])
def test_a_stored_text_cannot_be_cited_by_a_label_of_its_own(label: str) -> None:
    assert inert(f"It is so {label}.") == f"It is so ({label[1:]}."
    assert inert("a footnote[^1] and [^note]") == "a footnote[^1] and [^note]"
