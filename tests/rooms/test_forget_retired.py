"""Which replaced facts become current again when their replacement is deleted."""

from dataclasses import replace
from random import Random
from typing import NamedTuple

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bethink
from bethink.memory.facts.reconcile import reconcile
from bethink.model.facts import Fact, Quote
from bethink.model.moments import from_micros
from bethink.model.records import Origin, conversation_key
from bethink.model.reviews import ClaimedFact
from bethink.model.rules import overlap
from bethink.store import facts as fact_store
from bethink.store.db import Database, Tx
from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions
from bethink.store.statements import LinkKind
from tests.conftest import FakeClock, memory_on
from tests.facts_kit import change_fact
from tests.rooms.learn_kit import a_fact, answer, worker


def home(town: str) -> str:
    return answer(a_fact(f"The ship lies in {town}.", 1, about="The ship", slot="home"))


class Told:
    """A space in which somebody says where a ship lies, each time in a conversation of its own."""

    def __init__(self, memory: bethink.Memory, database: Database) -> None:
        self.memory, self.database, self.count = memory, database, 0
        self.facts = memory.space("alice").facts

    async def by(self, role: str, town: str) -> bethink.Session:
        self.count += 1
        key = conversation_key(channel="cli", chat=str(self.count))
        session = await self.memory.space("alice").session(key)
        await session.append([{"role": role, "content": f"The ship lies in {town}."}])
        await session.checkpoint(force=True)
        await worker(self.database, [home(town)]).run_once()
        return session

    async def now(self) -> list[str]:
        return [each.text.split()[-1].strip(".") for each in await self.facts.list()]


@pytest.mark.parametrize(
    ("other", "current"),
    [({}, ["Bergen"]), ({"text": "Bergen is where she was born.", "slot": None}, ["born", "Oslo"])],
)
async def test_fact_restored_by_hand_stays_when_successor_is_deleted(
    memory: bethink.Memory, database: Database, other: dict[str, str | None], current: list[str]
) -> None:
    """A value that is saved anew replaces the value that replaced it."""
    told = Told(memory, database)
    await told.by("user", "Bergen")
    [bergen] = await told.facts.list()
    oslo = await told.by("user", "Oslo")
    await told.facts.save(replace(bergen, created_at=None, **other))
    assert sorted(await told.now()) == sorted(current)

    gone = await memory.space("alice").forget(session_id=oslo.id)

    assert (gone.messages, gone.facts) == (1, 1)
    assert await oslo.messages() == []
    first, second = await told.facts.versions(bergen.id)
    assert (first.replaced_by, second.replaced_at) == (bergen.id, None)
    assert await told.now() == current[:1]


async def test_only_the_newer_outranked_fact_of_a_slot_returns(memory: bethink.Memory, database: Database) -> None:
    told = Told(memory, database)
    oslo = await told.by("user", "Oslo")
    for town in ("Bergen", "Paris"):
        await told.by("assistant", town)
    assert await told.now() == ["Oslo"]

    await memory.space("alice").forget(session_id=oslo.id)

    [paris] = await told.facts.list()
    assert paris.text == "The ship lies in Paris."


async def test_the_better_origin_holds_again_and_not_the_newer(memory: bethink.Memory, database: Database) -> None:
    told = Told(memory, database)
    await told.by("assistant", "Bergen")
    oslo = await told.by("user", "Oslo")
    await told.by("tool", "Paris")
    assert await told.now() == ["Oslo"]

    await memory.space("alice").forget(session_id=oslo.id)

    assert await told.now() == ["Bergen"]


async def test_fact_set_by_hand_keeps_the_replaced_one_from_returning(
    memory: bethink.Memory, database: Database
) -> None:
    told = Told(memory, database)
    await told.by("user", "Bergen")
    [bergen] = await told.facts.list()
    oslo = await told.by("user", "Oslo")
    mine = Fact(id="mine", text="The ship lies in Turin.", subject=bergen.subject, slot="home", origin=Origin("user"))
    await told.facts.save(mine)

    await memory.space("alice").forget(session_id=oslo.id)

    assert await told.now() == ["Turin"]
    assert [each.replaced_by for each in await told.facts.versions(bergen.id)] == ["mine"]


async def test_facts_of_a_slot_with_disjoint_times_return_together(memory: bethink.Memory, database: Database) -> None:
    told = Told(memory, database)
    session = await told.by("user", "Oslo")
    [oslo] = await told.facts.list()

    def replaced(tx: Tx) -> None:
        for name, start, end in (("early", 1, 5), ("late", 5, 9)):
            fact = Fact(id=name, text=name, subject=oslo.subject, slot="home", created_at=from_micros(0))
            held = replace(fact, valid_from=from_micros(start), valid_to=from_micros(end))
            fact_store.put(tx, space="alice", fact=held)
            change_fact(tx, name, by=oslo.id, space="alice", kind=LinkKind.CORRECTS)

    await database.transact(replaced, space="alice")
    assert sorted(each.fact.id for each in await told.facts.history(status="corrected")) == ["early", "late"]

    await memory.space("alice").forget(session_id=session.id)

    assert sorted(each.fact.id for each in await told.facts.history(status="ended")) == ["early", "late"]


class Said(NamedTuple):
    """Somebody says something; then a message is forgotten, or a fact put back by hand."""

    town: int
    origin: str
    then: str


SAID = st.builds(
    Said, st.integers(0, 3), st.sampled_from(["user", "assistant", "document"]), st.sampled_from(["", "forget", "back"])
)


@settings(max_examples=60)
@given(st.lists(SAID, max_size=12), st.randoms(use_true_random=False))
def test_forget_always_succeeds_and_a_slot_has_one_current_fact(said: list[Said], draw: Random) -> None:
    anyio.run(_live, said, draw)


async def _live(said: list[Said], draw: Random) -> None:
    clock = FakeClock()
    database = SqliteDatabase(SqliteOptions(path=":memory:"), clock=clock)
    # Hypothesis may end a run anywhere: the database is closed all the same.
    async with memory_on(database) as memory:
        session = await memory.space("alice").session(conversation_key(channel="c", chat="1"))
        facts = memory.space("alice").facts
        for place, each in enumerate(said, 1):
            await session.append([{"role": "user", "content": str(each.town)}])
            fact = Fact(id=f"f{place}", text=f"lives in town {each.town}", subject="user", slot="home",
                        origin=Origin(each.origin), created_at=clock())  # fmt: skip
            quote = Quote(session_id=session.id, number=place, text=str(each.town))
            claimed = ClaimedFact(fact=fact, quotes=(quote,))
            await database.transact(
                lambda tx, claimed=claimed: reconcile(tx, claimed, space="alice", effect=claimed.fact.id, token=1),
                space="alice",
            )
            if each.then == "forget":
                left = [record.number for record in await session.messages()]
                await memory.space("alice").forget(f"message:{session.id}:{draw.choice(left)}")
            elif each.then == "back" and (old := await facts.versions(f"f{draw.randint(1, place)}")):
                await facts.save(old[0])
            holds = await facts.list()
            assert not [(a, b) for a in holds for b in holds if a.id < b.id and overlap(a, b)]
