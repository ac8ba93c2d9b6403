"""New facts among existing ones: merged, replacing or outranked; nothing is overwritten."""

from datetime import timedelta

import anyio
import pytest

from bethink import Fact, Memory, Message
from bethink.memory.learning.extraction.answer import moment
from bethink.model.records import conversation_key
from bethink.store.db import Database
from bethink.types import Facts
from tests.conftest import FakeClock, said
from tests.rooms.learn_kit import a_fact, answer, worker


class Talk:
    """Says something in a session of its own and learns what the model makes of it."""

    def __init__(self, database: Database, memory: Memory) -> None:
        self.database, self.memory, self.count = database, memory, 0

    async def learn(self, text: str | Message, *facts: dict[str, object]) -> dict[str, int]:
        self.count += 1
        key = conversation_key(channel="c", chat=str(self.count))
        session = await self.memory.space("alice").session(key)
        await session.append(said(text) if isinstance(text, str) else [text])
        await session.checkpoint(force=True)
        report = await worker(self.database, [answer(*facts)]).run_once()
        return {str(name): count for name, count in report.settled.items()}


@pytest.fixture
def talk(database: Database, memory: Memory) -> Talk:
    return Talk(database, memory)


@pytest.fixture
def facts(memory: Memory) -> Facts:
    return memory.space("alice").facts


@pytest.mark.parametrize("again", ["User likes green tea", "user likes GREEN tea!", "The user likes green teas"])
async def test_repeated_fact_gets_another_source_and_no_duplicate(talk: Talk, facts: Facts, again: str) -> None:
    assert await talk.learn("I like green tea", a_fact("User likes green tea", 1)) == {"added": 1}
    assert await talk.learn("as I said, I like green teas", a_fact(again, 1)) == {"merged": 1}

    [fact] = await facts.search("tea", limit=5)
    assert len(await facts.sources(fact.id)) == 2


async def test_a_contradiction_retires_the_older_and_keeps_both_findable(
    talk: Talk, facts: Facts, clock: FakeClock
) -> None:
    home = {"slot": "home_town"}
    await talk.learn("I live in Oslo", a_fact("User lives in Oslo", 1, **home))
    between = clock.time
    clock.time += timedelta(seconds=10)
    settled = await talk.learn("I live in Bergen now", a_fact("User lives in Bergen", 1, **home))

    assert settled == {"succeeded": 1}
    [now] = await facts.search("lives", limit=5)
    [then] = await facts.search("lives", limit=5, as_of=between)
    assert (now.text, then.text) == ("User lives in Bergen", "User lives in Oslo")
    assert (then.replaced_by, then.valid_to) == (None, None), "as it was known then"
    [replaced] = await facts.history(status="replaced")
    assert (replaced.fact.replaced_by, replaced.fact.valid_to) == (now.id, now.created_at)
    assert replaced.fact.replaced_at is None, "it is still the newest version of its text"
    assert await facts.count() == 1


async def test_facts_with_disjoint_times_do_not_conflict(talk: Talk, facts: Facts) -> None:
    home = {"slot": "home_town"}
    await talk.learn("I live in Bergen", a_fact("User lives in Bergen", 1, since="2020", **home))
    past = a_fact("User lived in Oslo", 1, since="2010", until="2019", **home)

    assert await talk.learn("I lived in Oslo before", past) == {"added": 1}
    assert {entry.fact.text: (entry.status, entry.replaced_by) for entry in await facts.history()} == {
        "User lives in Bergen": ("current", None),
        "User lived in Oslo": ("ended", None),
    }
    assert [fact.text for fact in await facts.search("Oslo Bergen", limit=5)] == ["User lives in Bergen"]


async def test_earlier_fact_ends_even_if_learned_later(talk: Talk, facts: Facts, clock: FakeClock) -> None:
    home = {"slot": "home_town"}
    since = str(clock.time.year - 1)
    await talk.learn("I live in Bergen", a_fact("User lives in Bergen", 1, since=since, **home))

    earlier = Message(role="user", content="I live in Oslo", said_at=moment("2020-03"))
    settled = await talk.learn(earlier, a_fact("User lives in Oslo", 1, since="2020", **home))

    assert settled == {"added": 1}
    held = {entry.fact.text: (entry.fact.valid_from, entry.fact.valid_to) for entry in await facts.history()}
    assert held == {
        "User lives in Bergen": (moment(since), None),
        "User lives in Oslo": (moment("2020"), moment(since)),
    }, "it was true until then"


async def test_later_statement_wins_whatever_beginning_it_names(talk: Talk, facts: Facts) -> None:
    home = {"slot": "home_town"}
    await talk.learn("I live in Bergen", a_fact("User lives in Bergen", 1, since="2022", **home))

    settled = await talk.learn("I live in Oslo", a_fact("User lives in Oslo", 1, since="2020", **home))

    assert settled == {"succeeded": 1}
    assert [fact.text for fact in await facts.search("lives", limit=5)] == ["User lives in Oslo"]
    [bergen] = await facts.history(status="replaced")
    assert bergen.fact.valid_to == moment("2022"), "it was not true on any day, as far as is known now"


async def test_repeated_event_is_stored_once(talk: Talk, facts: Facts) -> None:
    day = {"kind": "event", "happened": "2026-05-01"}
    for _ in range(3):
        await talk.learn("I married on 1 May 2026", a_fact("User married on 1 May 2026", 1, **day))

    assert await facts.count() == 1


async def test_forgetting_a_replacement_restores_the_earlier_fact(talk: Talk, facts: Facts, memory: Memory) -> None:
    home = {"slot": "home_town"}
    for town in ("Oslo", "Bergen", "Trondheim"):
        await talk.learn(f"I live in {town}", a_fact(f"User lives in {town}", 1, **home))

    await memory.space("alice").forget(conversation=conversation_key(channel="c", chat="2"))
    assert [fact.text for fact in await facts.search("lives", limit=5)] == ["User lives in Trondheim"]
    await memory.space("alice").forget(conversation=conversation_key(channel="c", chat="3"))

    assert [fact.text for fact in await facts.search("lives", limit=5)] == ["User lives in Oslo"]


async def test_many_may_index_the_same_fact_at_once(facts: Facts) -> None:
    async with anyio.create_task_group() as tasks:
        for number in range(12):
            tasks.start_soon(facts.save, Fact(id="f", text=f"tea number {number}"))

    assert await facts.count() == 1
    assert len(await facts.versions("f")) == 12


async def test_a_tools_word_never_retires_a_users(talk: Talk, facts: Facts) -> None:
    home = {"slot": "home_town"}
    await talk.learn("I live in Bergen", a_fact("User lives in Bergen", 1, **home))
    page = Message(role="tool", name="web", content="the user lives in Moscow")

    assert await talk.learn(page, a_fact("User lives in Moscow", 1, **home)) == {}, "it is held for a person"
    assert [fact.text for fact in await facts.search("lives", limit=5)] == ["User lives in Bergen"]


async def test_user_statement_outranks_a_tool_statement(talk: Talk, facts: Facts) -> None:
    berth = {"slot": "berth", "about": "The Fram"}
    await talk.learn("The Fram lies in Bergen", a_fact("The Fram lies in Bergen", 1, **berth))
    page = Message(role="tool", name="web", content="The Fram lies in Moscow")

    assert await talk.learn(page, a_fact("The Fram lies in Moscow", 1, **berth)) == {"outranked": 1}
    assert [fact.text for fact in await facts.search("lies", limit=5)] == ["The Fram lies in Bergen"]


async def test_user_statement_takes_over_a_tool_fact(talk: Talk, facts: Facts) -> None:
    page = Message(role="tool", name="web", content="The Fram lies in Bergen")
    claim = a_fact("The Fram lies in Bergen", 1, about="The Fram")
    await talk.learn(page, claim)

    assert await talk.learn("The Fram lies in Bergen", claim) == {"succeeded": 1}
    [fact] = await facts.search("Bergen", limit=5)
    assert fact.origin == "user"
    assert await talk.learn(page, claim) == {"known": 1}
    assert len(await facts.sources(fact.id)) == 1, "a tool's echo is no further source"


@pytest.mark.spec("S4.22")
async def test_saving_a_fact_replaces_it_only_if_it_changed(memory: Memory, facts: Facts, clock: FakeClock) -> None:
    await facts.save(Fact(id="f", text="Ana lives in Oslo"))
    before = clock.time
    await facts.save(Fact(id="f", text="Ana lives in Oslo"))
    await facts.save(Fact(id="f", text="Ana lives in Bergen"))

    versions = await facts.versions("f")
    assert [(each.version, each.text, each.replaced_at is None) for each in versions] == [
        (1, "Ana lives in Oslo", False),
        (2, "Ana lives in Bergen", True),
    ]
    assert [each.text for each in await facts.search("Ana", limit=5, as_of=before)] == ["Ana lives in Oslo"]
    assert await facts.count() == 1
    await memory.space("alice").forget("fact:f:0")
    assert await facts.versions("f") == []
    await facts.save(Fact(id="f", text="Ana is back"))
    assert (await facts.versions("f"))[0].version == 1


@pytest.mark.spec("S4.40")
async def test_a_quoted_piece_must_occur_just_so_even_inside_a_word(facts: Facts) -> None:
    await facts.save(Fact(id="a", text="prefers dark mode"))
    await facts.save(Fact(id="b", text="the mode is dark"))

    assert [fact.id for fact in await facts.search('"dark mode"', limit=5)] == ["a"]
    assert [fact.id for fact in await facts.search('"ark mo"', limit=5)] == ["a"]
    assert [fact.id for fact in await facts.search('"DARK" mode', limit=5)] == ["a", "b"]
    assert await facts.search('"light"', limit=5) == []
    assert [fact.id for fact in await facts.search('"dark', limit=5)] == ["a", "b"]


@pytest.mark.spec("S4.41")
async def test_deleting_one_fact_leaves_the_others(memory: Memory, facts: Facts) -> None:
    for number in range(5):
        await facts.save(Fact(id=f"f{number}", text=f"tea number {number}"))

    await memory.space("alice").forget("fact:f1:0")

    assert {fact.id for fact in await facts.search("tea", limit=9)} == {"f0", "f2", "f3", "f4"}
