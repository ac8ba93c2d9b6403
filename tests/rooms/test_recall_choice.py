"""Recall selection: each statement once, within a limit and a budget, with reasons for omissions."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import given, settings
from hypothesis import strategies as st

from bethink import Fact, Memory, Message
from bethink.model.facts import SourceMessage
from bethink.model.recall import Fate, RecallResult
from bethink.model.records import conversation_key
from bethink.model.refs import Ref, RefKind
from bethink.providers.estimated_tokens import EstimatedTokens
from bethink.store.db import Database
from tests.conftest import DATABASES, FakeClock, database_at, memory_on
from tests.rooms.recall_kit import (
    assistant,
    fates,
    learnt,
    message,
    replace_fact,
    tell,
    texts,
    with_vectors,
    written,
)
from tests.rooms.vector_kit import index_all

FACT = RefKind.FACT
tokens = EstimatedTokens()


async def test_fact_and_its_messages_are_one_item_with_all_sources(memory: Memory, database: Database) -> None:
    first = await tell(memory, "So we moved to Bergen, my dear friend, and it was raining all the time we unpacked.")
    again = await tell(memory, "As I said: Bergen.")
    await learnt(database, "f", "Bergen is home", SourceMessage(first.id, 1), SourceMessage(again.id, 1))

    found = await memory.space("alice").recall("Where is home in Bergen?", explain=True)

    [item] = found.items
    assert item.ref == Ref(FACT, "f", 1)
    assert set(item.sources) == {SourceMessage(first.id, 1), SourceMessage(again.id, 1)}
    assert set(item.duplicates) == {message(first, 1), message(again, 1)}
    behind = {each.ref: (each.fate, each.because_of) for each in found.candidates}
    assert behind[message(first, 1)] == behind[message(again, 1)] == (Fate.DUPLICATE, item.ref)


async def test_fact_represents_its_better_matching_message(memory: Memory, database: Database) -> None:
    first = await tell(memory, "Bergen is where our home is.")
    again = await tell(memory, "It is so windy here.")
    await learnt(database, "f", "User has a home in Bergen", SourceMessage(first.id, 1), SourceMessage(again.id, 1))

    found = await memory.space("alice").recall("Where in Bergen is our home?", explain=True)

    assert [item.ref for item in found.items] == [Ref(FACT, "f", 1)]
    assert found.items[0].duplicates == (message(first, 1),)
    assert found.items[0].score == max(each.score for each in found.candidates)
    assert set(found.items[0].sources) == {SourceMessage(first.id, 1), SourceMessage(again.id, 1)}
    assert fates(found)[message(first, 1)] is Fate.DUPLICATE
    only = await memory.space("alice").recall("Where in Bergen is our home?", kinds=[RefKind.MESSAGE])
    assert [item.ref for item in only.items] == [message(first, 1)]


async def test_two_messages_that_say_the_same_are_one_item(memory: Memory) -> None:
    first = await tell(memory, "The gate code is 4711.")
    again = await tell(memory, "the gate code is 4711!")
    other = await tell(memory, "The gate code is not 4711.")

    found = await memory.space("alice").recall("What is the gate code?")

    refs = {item.ref: item for item in found.items}
    assert len(refs) == 2
    assert message(other, 1) in refs
    [kept] = [item for ref, item in refs.items() if ref != message(other, 1)]
    assert {kept.ref, *kept.duplicates} == {message(first, 1), message(again, 1)}
    assert set(kept.sources) == {SourceMessage(ref.id, ref.number) for ref in kept.duplicates}


async def test_replaced_fact_is_hidden_and_names_its_replacement(memory: Memory, database: Database) -> None:
    facts = memory.space("alice").facts
    await facts.save(Fact(id="home", text="Ana lives in Oslo"))
    await facts.save(Fact(id="home", text="Ana lives in Bergen"))
    await learnt(database, "old", "Ana lives by the sea")
    await learnt(database, "new", "Ana lives by the lake")
    await replace_fact(database, "old", by="new")

    assert set(texts(await memory.space("alice").recall("Where does Ana live?"))) == {
        "Ana lives in Bergen",
        "Ana lives by the lake",
    }
    found = await memory.space("alice").recall("Where does Ana live?", explain=True)
    gone = {each.ref: each for each in found.candidates if each.fate is Fate.SUPERSEDED}
    assert {ref: each.because_of for ref, each in gone.items()} == {
        Ref(FACT, "home", 1): Ref(FACT, "home", 2),
        Ref(FACT, "old", 1): Ref(FACT, "new", 1),
    }
    assert gone[Ref(FACT, "home", 1)].text == "Ana lives in Oslo"
    for each in gone.values():
        assert each.because_of is not None
        assert (await memory.space("alice").explain(each.because_of)).text is not None


async def test_each_version_of_a_fact_names_the_one_that_followed_it(memory: Memory, database: Database) -> None:
    facts = memory.space("alice").facts
    for town in ("Oslo", "Bergen", "Narvik"):
        await facts.save(Fact(id="home", text=f"Ana lives in {town}"))
    await learnt(database, "other", "Ana moves about")
    await replace_fact(database, "home", by="other")

    found = await memory.space("alice").recall("Where does Ana live?", explain=True)

    assert {each.ref.number: each.because_of for each in found.candidates if each.ref.id == "home"} == {
        1: Ref(FACT, "home", 2),
        2: Ref(FACT, "home", 3),
        3: Ref(FACT, "other", 1),
    }


async def test_a_fact_whose_time_is_over_is_not_shown(memory: Memory, clock: FakeClock) -> None:
    over, ahead = clock.time - timedelta(microseconds=1), clock.time + timedelta(minutes=15)
    await memory.space("alice").facts.save(Fact(id="past", text="The lift is broken", valid_to=over))
    await memory.space("alice").facts.save(Fact(id="now", text="The lift is slow", valid_to=ahead))

    found = await memory.space("alice").recall("lift", explain=True)

    assert texts(found) == texts(await memory.space("alice").recall("lift")) == ["The lift is slow"]
    assert fates(found)[Ref(FACT, "past", 1)] is Fate.ENDED


async def test_every_other_reason_not_to_show_something_is_named(memory: Memory) -> None:
    filler = [f"Something on harbours and number {place}, that is all." for place in range(40)]
    session = await tell(
        memory,
        "The quarantine of 1720 closed the harbours.",
        assistant("A quarantine it was."),
        "Nothing else.",
        "It is settled.",
        *filler,
    )
    twin = await tell(memory, "the quarantine of 1720 closed the harbours")

    found = await memory.space("alice").recall(
        "What did the quarantine of 1720 do to the harbours?", limit=1, origin=["user"], explain=True
    )

    by_ref = fates(found)
    assert by_ref[found.items[0].ref] is Fate.SHOWN
    assert {by_ref[message(session, 1)], by_ref[message(twin, 1)]} == {Fate.SHOWN, Fate.DUPLICATE}
    assert message(session, 2) not in by_ref  # it comes from the assistant, so it was never a candidate
    assert Fate.BEYOND_LIMIT in by_ref.values()
    assert by_ref[message(session, 3)] is not Fate.UNRELATED  # the speaker of the best match goes on
    assert by_ref[message(session, 4)] is Fate.UNRELATED
    small = await memory.space("alice").recall("quarantine harbours", budget=12, explain=True)
    assert Fate.OVER_BUDGET in fates(small).values()


async def test_question_does_not_answer_its_own_session(memory: Memory) -> None:
    question = "Where does the heron nest?"
    before = await tell(memory, question, assistant("The heron nests by the weir."))
    session = await tell(memory, "Tell me of a heron, please.", f"{question} ")

    asked = await memory.space("alice").recall(question, session_id=session.id, explain=True)
    block = await memory.space("alice").context(question=question, session_id=session.id)

    assert fates(asked)[message(session, 2)] is fates(asked)[message(before, 1)] is Fate.QUESTION
    assert fates(asked)[message(session, 1)] is fates(asked)[message(before, 2)] is Fate.SHOWN
    assert message(session, 2) not in {item.ref for item in block.items}
    assert message(before, 2) in {item.ref for item in block.items}


async def test_candidates_are_existing_items_only(memory: Memory) -> None:
    session = await tell(memory, "A lonely lighthouse.")

    found = await memory.space("alice").recall("lighthouse", explain=True)

    assert fates(found) == {message(session, 1): Fate.SHOWN}


async def test_every_candidate_carries_its_signals_and_its_places(memory: Memory) -> None:
    await tell(memory, "The owl hunts at night.", assistant("At night the owl hunts mice."), "An owl, a mouse.")
    await memory.space("alice").facts.save(Fact(id="f", text="Owls see well at night"))

    found = await memory.space("alice").recall("When does the owl hunt at night?", explain=True)

    assert len(found.candidates) == 4
    assert [each.ranks["fused"] for each in found.candidates] == [1, 2, 3, 4]
    for name in ("words", "session"):
        assert len({each.ranks[name] for each in found.candidates}) == 4
        for each in found.candidates:
            signal = each.signals[name]
            assert signal.raw >= 0
            assert 0 <= signal.normalized <= 1
            assert signal.added >= 0
    by_words = sorted(found.candidates, key=lambda each: each.ranks["words"])
    assert [each.signals["words"].raw for each in by_words] == sorted(
        (each.signals["words"].raw for each in found.candidates), reverse=True
    )
    totals = [sum(signal.added for signal in each.signals.values()) for each in found.candidates]
    assert totals == sorted(totals, reverse=True)
    assert [each.score for each in found.candidates] == pytest.approx(totals)
    assert (await memory.space("alice").recall("owl")).candidates == ()


async def test_explaining_an_answer_does_not_change_it(memory: Memory, database: Database) -> None:
    facts = memory.space("alice").facts
    for place in range(30):
        await facts.save(Fact(id="owl", text=f"owl owl owl night hunt {place}"))
    await facts.save(Fact(id="owl", text="An owl has two eyes"))
    await written(memory, "birds", "An owl sleeps by day.")
    await tell(memory, "We hunt at night.", "The owl is a bird.", assistant("And an owl can fly at night, of course."))
    question = "When does the owl hunt at night?"
    remembering = with_vectors(database)
    await index_all(database)

    for each in (memory, remembering):
        plain = await each.space("alice").recall(question)
        explained = await each.space("alice").recall(question, explain=True)

        assert [(item.ref, item.sources) for item in plain.items] == [
            (item.ref, item.sources) for item in explained.items
        ]
        assert [item.score for item in plain.items] == pytest.approx([item.score for item in explained.items])
        assert Fate.SUPERSEDED in fates(explained).values()


async def test_a_long_message_is_cut_to_the_part_that_has_the_words(memory: Memory) -> None:
    padding = "This sentence is about nothing in particular. " * 200
    await tell(memory, f"{padding}The wombat escaped on Tuesday. {padding}")

    found = await memory.space("alice").recall("When did the wombat escape?", budget=400)

    [item] = found.items
    assert "The wombat escaped on Tuesday." in item.text
    assert item.text.startswith("… ")
    assert item.text.endswith(" …")
    assert item.tokens <= 110
    assert texts(await memory.space("alice").recall("wombat"))[0].startswith("This sentence"), "whole without a budget"


@pytest.mark.parametrize("place", ["front", "middle", "end"])
@pytest.mark.parametrize(("said", "asked"), [("wombats", "wombat"), ("went", "go")])
async def test_a_long_line_without_a_full_stop_is_cut_around_the_word(
    memory: Memory, place: str, said: str, asked: str
) -> None:
    noise = " ".join(f"x{number}" for number in range(3_000))
    front, end = {"front": ("", noise), "middle": (noise, noise), "end": (noise, "")}[place]
    await tell(memory, f"{front} {said} {end}".strip())

    [item] = (await memory.space("alice").recall(f"{asked}?", budget=400)).items

    assert said in item.text
    assert item.tokens <= 110
    assert item.text.startswith("… ") == (place != "front")
    assert item.text.endswith(" …") == (place != "end")


async def test_a_cheaper_item_still_fits_where_a_better_one_did_not(memory: Memory) -> None:
    long = await tell(memory, "The heron, the heron, the heron: " + "it waits " * 15)
    short = await tell(memory, "A heron.")

    found = await memory.space("alice").recall("heron", budget=20, explain=True)

    assert [item.ref for item in found.items] == [message(short, 1)]
    assert fates(found)[message(long, 1)] is Fate.OVER_BUDGET


TEXTS = st.lists(
    st.text(st.sampled_from("ab .!?\n…\u4e2d\U0001f600"), max_size=120).map(lambda text: f"{text} marmot {text}"),
    min_size=1,
    max_size=8,
)


@pytest.fixture(params=DATABASES)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[BlockingPortal, Memory]]:
    target = str(tmp_path / "budget.db") if request.param == "sqlite" else request.getfixturevalue("clean_dsn")
    database = database_at(target)
    with start_blocking_portal() as portal:
        portal.call(database.open)
        yield portal, memory_on(database)
        portal.call(database.close)


def test_a_budget_is_never_exceeded_and_the_tokens_add_up(world: tuple[BlockingPortal, Memory]) -> None:
    portal, memory = world
    runs = iter(range(10_000))

    @settings(max_examples=60)
    @given(TEXTS, TEXTS, st.integers(1, 300), st.integers(1, 12))
    def holds(said: list[str], known: list[str], budget: int, limit: int) -> None:
        space = f"run{next(runs)}"

        async def ask() -> RecallResult:
            key = conversation_key(channel="budget", chat=space)
            session = await memory.space(space).session(key)
            await session.append([Message(role="user", content=text) for text in said])
            for number, text in enumerate(known):
                await memory.space(space).facts.save(Fact(id=str(number), text=text))
            return await memory.space(space).recall("Where is the marmot?", budget=budget, limit=limit)

        found = portal.call(ask)
        assert len(found.items) <= limit
        assert found.tokens == sum(item.tokens for item in found.items) <= budget
        for item in found.items:
            assert item.tokens == tokens.count(item.text) + sum(tokens.count(each.text) for each in item.excerpts)
            assert "marmot" in item.text
        assert found.items or found.note

    holds()
