"""A fact that loses a message is proven again by those that are left, and goes if they do not say it."""

from dataclasses import replace

import pytest

import bethink
from bethink.errors import NotFound
from bethink.store.db import Database
from tests.conftest import KEY, said
from tests.rooms.learn_kit import a_fact, answer, worker
from tests.rooms.test_forget import stored

DENTIST = "My dentist is Kavurimote in town."
OTHER = bethink.conversation_key(channel="cli", chat="other")


async def learnt(
    memory: bethink.Memory,
    database: Database,
    *messages: bethink.Message,
    facts: list[dict[str, object]],
    key: str = KEY,
) -> bethink.Session:
    session = await memory.space("alice").session(key)
    await session.append(messages)
    await session.idle()
    await worker(database, [answer(*facts)]).run_once()
    return session


async def contents(memory: bethink.Memory) -> list[str]:
    return [each.content for each in await memory.space("alice").facts.all()]


async def test_a_fact_goes_when_no_message_left_says_it(
    memory: bethink.Memory, database: Database, target: str, superuser_dsn: str
) -> None:
    claims = [a_fact(DENTIST, 1, 2), a_fact("The weather is fine.", 2)]
    session = await learnt(memory, database, *said(DENTIST, "The weather is fine here."), facts=claims)
    [dentist] = [each for each in await memory.space("alice").facts.all() if each.content == DENTIST]

    would = await memory.space("alice").forget(f"message:{session.id}:1", dry_run=True)
    gone = await memory.space("alice").forget(f"message:{session.id}:1")

    assert (would.messages, would.facts) == (gone.messages, gone.facts) == (1, 1)
    assert await contents(memory) == ["The weather is fine."]
    assert (await memory.space("alice").recall("Who is my dentist?")).items == ()
    with pytest.raises(NotFound):
        await memory.space("alice").explain(f"fact:{dentist.id}:1")
    left = stored(target, superuser_dsn)
    assert "Kavurimote" not in left
    assert dentist.id not in left


async def test_a_fact_stays_while_a_message_says_it(memory: bethink.Memory, database: Database) -> None:
    again = "As I said, my dentist is Kavurimote, in town."
    session = await learnt(memory, database, *said(DENTIST, again, "Fine."), facts=[a_fact(DENTIST, 1, 2, 3)])

    gone = [await memory.space("alice").forget(f"message:{session.id}:{number}") for number in (1, 3, 2)]

    assert [each.facts for each in gone] == [0, 0, 1]


@pytest.mark.parametrize("door", ["session", "conversation", "message"])
@pytest.mark.parametrize(("other", "stays"), [(DENTIST, True), ("In town there is a dentist called Dopalix.", False)])
async def test_a_fact_of_two_sessions_is_proven_by_the_one_that_is_left(
    memory: bethink.Memory, database: Database, door: str, other: str, *, stays: bool
) -> None:
    session = await learnt(memory, database, *said(DENTIST), facts=[a_fact(DENTIST, 1)])
    second = await learnt(memory, database, *said(other), facts=[a_fact(DENTIST, 1)], key=OTHER)
    [fact] = await memory.space("alice").facts.all()
    if not stays:  # as it was learnt when names were not compared whole
        await database.transact(
            lambda tx: tx.run("insert_fact_source", space="alice", fact=fact.id, session=second.id, number=1),
            space="alice",
        )

    match door:
        case "session":
            await memory.space("alice").forget(session_id=session.id)
        case "conversation":
            await memory.space("alice").forget(conversation=KEY)
        case _:
            await memory.space("alice").forget(f"message:{session.id}:1")

    assert await contents(memory) == ([DENTIST] if stays else [])


async def test_what_is_left_of_a_wish_must_be_the_users_word(memory: bethink.Memory, database: Database) -> None:
    wish = a_fact("User wants metric units", 1, 2, kind="preference")
    repeated = bethink.Message(role="assistant", content="You want metric units.")
    session = await learnt(memory, database, *said("I want metric units."), repeated, facts=[wish])
    assert await contents(memory) == ["User wants metric units"]

    await memory.space("alice").forget(f"message:{session.id}:1")

    assert await contents(memory) == []


async def test_what_was_stated_or_corrected_by_hand_is_not_lost(memory: bethink.Memory, database: Database) -> None:
    claims = [a_fact("User likes tea", 1, 2)]
    session = await learnt(memory, database, *said("I like tea.", "Tea is what I like."), facts=claims)
    facts = memory.space("alice").facts
    [tea] = await facts.all()
    await facts.save(replace(tea, content="User drinks nothing but oolong"))
    await facts.save(bethink.Fact(id="hand", content="User collects stamps", source=session.id))

    gone = await memory.space("alice").forget(f"message:{session.id}:1")

    assert gone.facts == 0
    assert sorted(await contents(memory)) == ["User collects stamps", "User drinks nothing but oolong"]


async def test_what_a_fact_had_retired_holds_again_when_it_is_said_no_more(
    memory: bethink.Memory, database: Database
) -> None:
    claims = [
        a_fact("User lives in Oslo", 1, slot="home"),
        a_fact("User lives in Bergen", 2, 3, slot="home"),
    ]
    session = await learnt(memory, database, *said("I live in Oslo.", "Now in Bergen.", "I live well."), facts=claims)
    assert await contents(memory) == ["User lives in Bergen"]

    await memory.space("alice").forget(f"message:{session.id}:2")

    assert await contents(memory) == ["User lives in Oslo"]


async def test_a_corrected_fact_that_is_learnt_again_keeps_no_name_of_the_forgotten_message(
    memory: bethink.Memory, database: Database, target: str, superuser_dsn: str
) -> None:
    first = await learnt(
        memory, database, *said(DENTIST), facts=[a_fact("User's dentist is Kavurimote", 1, entities=["Kavurimote"])]
    )
    [fact] = await memory.space("alice").facts.all()
    await memory.space("alice").facts.save(replace(fact, content="User's dentist is Brynhild"))
    await learnt(
        memory,
        database,
        *said("My dentist is Brynhild."),
        facts=[a_fact("User's dentist is Brynhild", 1, entities=["Brynhild"])],
        key=OTHER,
    )

    await memory.space("alice").forget(f"message:{first.id}:1")

    [left] = await memory.space("alice").facts.all()
    assert (left.content, left.entities) == ("User's dentist is Brynhild", ())
    assert "Kavurimote" not in stored(target, superuser_dsn)
