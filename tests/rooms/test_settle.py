"""New facts among known ones: merged, succeeding, giving way; and nothing ever overwritten."""

from datetime import timedelta

import anyio
import pytest

from bethink import Fact, Facts, Memory, Message, conversation_key
from bethink.memory.learning.extraction.answer import moment
from bethink.store.db import Database
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
        await session.idle()
        report = await worker(self.database, [answer(*facts)]).run_once()
        return {str(name): count for name, count in report.settled.items()}


@pytest.fixture
def talk(database: Database, memory: Memory) -> Talk:
    return Talk(database, memory)


@pytest.fixture
def facts(memory: Memory) -> Facts:
    return memory.space("alice").facts


@pytest.mark.parametrize("again", ["User likes green tea", "user likes GREEN tea!", "The user likes green teas"])
async def test_a_fact_said_again_gets_another_source_and_no_twin(talk: Talk, facts: Facts, again: str) -> None:
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
    assert (now.content, then.content) == ("User lives in Bergen", "User lives in Oslo")
    assert (then.retired_by, then.retired_at is not None) == (now.id, True)
    assert then.valid_to is None, "as it was known then"
    assert await facts.count() == 1


async def test_facts_that_held_at_different_times_do_not_contradict(talk: Talk, facts: Facts) -> None:
    home = {"slot": "home_town"}
    await talk.learn("I live in Bergen", a_fact("User lives in Bergen", 1, since="2020", **home))
    past = a_fact("User lived in Oslo", 1, since="2010", until="2019", **home)

    assert await talk.learn("I lived in Oslo before", past) == {"added": 1}
    assert {fact.content for fact in await facts.search("Oslo Bergen", limit=5)} == {
        "User lives in Bergen",
        "User lived in Oslo",
    }


async def test_what_held_earlier_gives_way_also_when_it_is_learnt_later(talk: Talk, facts: Facts) -> None:
    home = {"slot": "home_town"}
    await talk.learn("I live in Bergen", a_fact("User lives in Bergen", 1, since="2024", **home))

    settled = await talk.learn("I live in Oslo", a_fact("User lives in Oslo", 1, since="2020", **home))

    assert settled == {"added": 1}
    held = {fact.content: fact.valid_to for fact in await facts.search("lives", limit=5)}
    assert held == {"User lives in Bergen": None, "User lives in Oslo": moment("2024")}, "it held until then"


async def test_an_event_said_again_is_one_event(talk: Talk, facts: Facts) -> None:
    day = {"kind": "event", "happened": "2026-05-01"}
    for _ in range(3):
        await talk.learn("I married on 1 May 2026", a_fact("User married on 1 May 2026", 1, **day))

    assert await facts.count() == 1


async def test_purging_what_retired_a_fact_lets_it_hold_again(talk: Talk, facts: Facts, memory: Memory) -> None:
    home = {"slot": "home_town"}
    for town in ("Oslo", "Bergen", "Trondheim"):
        await talk.learn(f"I live in {town}", a_fact(f"User lives in {town}", 1, **home))

    await memory.space("alice").forget(conversation=conversation_key(channel="c", chat="2"))
    assert [fact.content for fact in await facts.search("lives", limit=5)] == ["User lives in Trondheim"]
    await memory.space("alice").forget(conversation=conversation_key(channel="c", chat="3"))

    assert [fact.content for fact in await facts.search("lives", limit=5)] == ["User lives in Oslo"]


async def test_many_may_index_the_same_fact_at_once(facts: Facts) -> None:
    async with anyio.create_task_group() as tasks:
        for number in range(12):
            tasks.start_soon(facts.save, Fact(id="f", content=f"tea number {number}"))

    assert await facts.count() == 1
    assert len(await facts.versions("f")) == 12


async def test_a_tools_word_never_retires_a_users(talk: Talk, facts: Facts) -> None:
    home = {"slot": "home_town"}
    await talk.learn("I live in Bergen", a_fact("User lives in Bergen", 1, **home))
    page = Message(role="tool", name="web", content="the user lives in Moscow")

    assert await talk.learn(page, a_fact("User lives in Moscow", 1, **home)) == {}, "it is held for a person"
    assert [fact.content for fact in await facts.search("lives", limit=5)] == ["User lives in Bergen"]


async def test_what_a_tool_says_of_a_thing_gives_way_to_what_a_user_says_of_it(talk: Talk, facts: Facts) -> None:
    berth = {"slot": "berth", "about": "The Fram"}
    await talk.learn("The Fram lies in Bergen", a_fact("The Fram lies in Bergen", 1, **berth))
    page = Message(role="tool", name="web", content="The Fram lies in Moscow")

    assert await talk.learn(page, a_fact("The Fram lies in Moscow", 1, **berth)) == {"outranked": 1}
    assert [fact.content for fact in await facts.search("lies", limit=5)] == ["The Fram lies in Bergen"]


async def test_a_users_own_word_takes_the_place_of_a_tools(talk: Talk, facts: Facts) -> None:
    page = Message(role="tool", name="web", content="The Fram lies in Bergen")
    claim = a_fact("The Fram lies in Bergen", 1, about="The Fram")
    await talk.learn(page, claim)

    assert await talk.learn("The Fram lies in Bergen", claim) == {"succeeded": 1}
    [fact] = await facts.search("Bergen", limit=5)
    assert fact.origin == "user"
    assert await talk.learn(page, claim) == {"known": 1}
    assert len(await facts.sources(fact.id)) == 1, "a tool's echo is no further source"


@pytest.mark.spec("S4.22")
async def test_indexing_a_fact_again_retires_the_old_version_and_changing_nothing_changes_nothing(
    memory: Memory, facts: Facts, clock: FakeClock
) -> None:
    await facts.save(Fact(id="f", content="Ana lives in Oslo"))
    before = clock.time
    await facts.save(Fact(id="f", content="Ana lives in Oslo"))
    await facts.save(Fact(id="f", content="Ana lives in Bergen"))

    versions = await facts.versions("f")
    assert [(each.version, each.content, each.retired_at is None) for each in versions] == [
        (1, "Ana lives in Oslo", False),
        (2, "Ana lives in Bergen", True),
    ]
    assert [each.content for each in await facts.search("Ana", limit=5, as_of=before)] == ["Ana lives in Oslo"]
    assert await facts.count() == 1
    await memory.space("alice").forget("fact:f:0")
    assert await facts.versions("f") == []
    await facts.save(Fact(id="f", content="Ana is back"))
    assert (await facts.versions("f"))[0].version == 1


@pytest.mark.spec("S4.40")
async def test_a_quoted_piece_must_occur_just_so_even_inside_a_word(facts: Facts) -> None:
    await facts.save(Fact(id="a", content="prefers dark mode"))
    await facts.save(Fact(id="b", content="the mode is dark"))

    assert [fact.id for fact in await facts.search('"dark mode"', limit=5)] == ["a"]
    assert [fact.id for fact in await facts.search('"ark mo"', limit=5)] == ["a"]
    assert [fact.id for fact in await facts.search('"DARK" mode', limit=5)] == ["a", "b"]
    assert await facts.search('"light"', limit=5) == []
    assert [fact.id for fact in await facts.search('"dark', limit=5)] == ["a", "b"]


@pytest.mark.spec("S4.41")
async def test_deleting_one_fact_leaves_every_other_where_it_was(memory: Memory, facts: Facts) -> None:
    for number in range(5):
        await facts.save(Fact(id=f"f{number}", content=f"tea number {number}"))

    await memory.space("alice").forget("fact:f1:0")

    assert {fact.id for fact in await facts.search("tea", limit=9)} == {"f0", "f2", "f3", "f4"}
