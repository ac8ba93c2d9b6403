"""A fact is deleted with the first message it quotes, unless it was repeated: then it keeps that wording."""

from dataclasses import replace

import pytest

import bethink
from bethink.errors import NotFoundError
from bethink.model.records import conversation_key
from bethink.store import facts as stored_facts
from bethink.store.db import Database
from tests.conftest import KEY, FakeClock, said
from tests.rooms.learn_kit import a_fact, answer, reviewed, worker
from tests.rooms.stored_kit import stored

DENTIST = "My dentist is Kavurimote in town."
AGAIN = "As I said, my dentist is Kavurimote."
OTHER = conversation_key(channel="cli", chat="other")


async def learnt(
    memory: bethink.Memory,
    database: Database,
    *messages: bethink.Message,
    facts: list[dict[str, object]],
    key: str = KEY,
) -> bethink.Session:
    session = await memory.space("alice").session(key)
    await session.append(messages)
    await session.checkpoint(force=True)
    await worker(database, [answer(*facts)]).run_once()
    return session


async def contents(memory: bethink.Memory) -> list[str]:
    return [each.text for each in await memory.space("alice").facts.list()]


async def test_fact_is_deleted_with_a_message_it_quotes(
    memory: bethink.Memory, database: Database, target: str, superuser_dsn: str
) -> None:
    claims = [a_fact(DENTIST, 1, 2), a_fact("The weather is fine.", 2, about="weather")]
    session = await learnt(memory, database, *said(DENTIST, "The weather is fine here."), facts=claims)
    [dentist] = [each for each in await memory.space("alice").facts.list() if each.text == DENTIST]

    would = await memory.space("alice").forget(f"message:{session.id}:1", dry_run=True)
    gone = await memory.space("alice").forget(f"message:{session.id}:1")

    assert (would.messages, would.facts) == (gone.messages, gone.facts) == (1, 1)
    assert await contents(memory) == ["The weather is fine."]
    assert (await memory.space("alice").recall("Who is my dentist?")).items == ()
    with pytest.raises(NotFoundError):
        await memory.space("alice").explain(f"fact:{dentist.id}:1")
    assert "Kavurimote" not in stored(target, superuser_dsn), "only the list of changes names its id"


@pytest.mark.parametrize("context", [1, 2])
async def test_fact_is_deleted_with_a_message_of_its_context(
    memory: bethink.Memory, database: Database, context: int
) -> None:
    asked = bethink.Message(role="assistant", content="Is Kavurimote your dentist?")
    claim: dict[str, object] = a_fact("User's dentist is Kavurimote") | {
        "quotes": [
            {"message": 1, "text": "Is Kavurimote your dentist?", "as": "context"},
            {"message": 2, "text": "Yes, she is.", "as": "word"},
        ]
    }
    del claim["sources"]
    session = await learnt(memory, database, asked, *said("Yes, she is."), facts=[claim])
    assert await contents(memory) == ["User's dentist is Kavurimote"]

    gone = await memory.space("alice").forget(f"message:{session.id}:{context}")

    assert gone.facts == 1
    assert await contents(memory) == []


@pytest.mark.parametrize("door", ["session", "conversation", "message"])
async def test_fact_keeps_only_the_wording_of_its_remaining_source(
    memory: bethink.Memory, database: Database, clock: FakeClock, target: str, superuser_dsn: str, door: str
) -> None:
    session = await learnt(memory, database, *said(f"{DENTIST} Ask for Zebrafinch."), facts=[a_fact(DENTIST, 1)])
    [before] = await memory.space("alice").facts.list()
    claim = a_fact("Kavurimote is the dentist", 1, op="same", known=["f1"])
    other = await learnt(memory, database, *said(AGAIN), facts=[claim], key=OTHER)
    spoken = clock.time
    assert await contents(memory) == [DENTIST]

    match door:
        case "session":
            gone = await memory.space("alice").forget(session_id=session.id)
        case "conversation":
            gone = await memory.space("alice").forget(conversation=KEY)
        case _:
            gone = await memory.space("alice").forget(f"message:{session.id}:1")

    assert gone.facts == 1
    [fact] = await memory.space("alice").facts.list()
    assert (fact.text, fact.source, fact.id == before.id) == ("Kavurimote is the dentist", other.id, False)
    assert before.created_at is not None
    assert fact.created_at is not None
    assert before.created_at < fact.created_at < spoken, "it is dated by the message that is left"
    quotes = await database.transact(
        lambda tx: stored_facts.quotes_of(tx, space="alice", fact_id=fact.id), space="alice", read_only=True
    )
    assert [(quote.session_id, quote.number, quote.text) for quote in quotes] == [(other.id, 1, AGAIN)]
    left = stored(target, superuser_dsn)
    assert "Zebrafinch" not in left
    assert DENTIST not in left


async def test_fact_survives_deletion_of_its_repetition(
    memory: bethink.Memory, database: Database, target: str, superuser_dsn: str
) -> None:
    await learnt(memory, database, *said(DENTIST), facts=[a_fact(DENTIST, 1)])
    claim = a_fact("User's dentist is Kavurimote of the Zebrafinch house", 1, 2, op="same", known=["f1"])
    messages = said("About my dentist:", "Kavurimote, of the Zebrafinch house.")
    other = await learnt(memory, database, *messages, facts=[claim], key=OTHER)

    gone = await memory.space("alice").forget(f"message:{other.id}:2")

    assert gone.facts == 0
    assert await contents(memory) == [DENTIST]
    assert "Zebrafinch" not in stored(target, superuser_dsn), "also not beside a quote of the message that is left"


async def test_fact_is_deleted_with_its_last_source(memory: bethink.Memory, database: Database) -> None:
    sessions = [
        await learnt(memory, database, *said(DENTIST), facts=[a_fact(DENTIST, 1)], key=key)
        for key in (KEY, OTHER, conversation_key(channel="cli", chat="third"))
    ]

    gone = [await memory.space("alice").forget(session_id=each.id) for each in sessions]

    assert [each.facts for each in gone] == [1, 1, 1]
    assert await contents(memory) == []


async def test_claims_under_review_go_with_a_message_they_quote(
    memory: bethink.Memory, database: Database, target: str, superuser_dsn: str
) -> None:
    page = bethink.Message(role="tool", name="web", content="User wants Kavurimote to be called every day.")
    wish = a_fact("User wants Kavurimote called", 1, kind="instruction")
    ill = a_fact("User has a cold", 2, review="doubtful")
    unsaid = a_fact("User is called Kavurimote", about="owner") | {
        "quotes": [{"message": 2, "text": "I am Kavurimote", "as": "word"}]
    }
    del unsaid["sources"]
    session = await memory.space("alice").session(KEY)
    await session.append([page, *said("I have a cold.")])
    await session.checkpoint(force=True)
    await worker(database, lambda _: answer(wish, ill, unsaid)).run_once()
    found = {(each.status.value, each.reason, each.claim.fact.text) for each in await reviewed(database)}
    assert found == {
        ("refused", "not_from_user", "User wants Kavurimote called"),
        ("pending", "flagged", "User has a cold"),
        ("refused", "no_quote", "User is called Kavurimote"),
    }

    await memory.space("alice").forget(f"message:{session.id}:1")

    left = [each.claim.fact.text for each in await reviewed(database)]
    assert left == ["User has a cold"], "what quotes nothing at all may rest on anything"
    assert "Kavurimote" not in stored(target, superuser_dsn)
    await memory.space("alice").forget(session_id=session.id)
    assert await reviewed(database) == []
    assert "has a cold" not in stored(target, superuser_dsn)


async def test_forget_keeps_stated_facts_and_deletes_corrections(memory: bethink.Memory, database: Database) -> None:
    claims = [a_fact("User likes tea", 1), a_fact("User likes rain", 2)]
    session = await learnt(memory, database, *said("I like tea.", "I like rain."), facts=claims)
    facts = memory.space("alice").facts
    [tea] = [each for each in await facts.list() if "tea" in each.text]
    await facts.save(replace(tea, text="User drinks nothing but oolong"))
    await facts.save(bethink.Fact(id="hand", text="User collects stamps", source=session.id))

    gone = await memory.space("alice").forget(f"message:{session.id}:1")

    assert gone.facts == 1
    assert sorted(await contents(memory)) == ["User collects stamps", "User likes rain"]


async def test_forgetting_a_replacement_restores_the_replaced_fact(memory: bethink.Memory, database: Database) -> None:
    claims = [
        a_fact("User lives in Oslo", 1, slot="home"),
        a_fact("User lives in Bergen", 2, 3, slot="home"),
    ]
    session = await learnt(memory, database, *said("I live in Oslo.", "Now in Bergen.", "I live well."), facts=claims)
    assert await contents(memory) == ["User lives in Bergen"]

    await memory.space("alice").forget(f"message:{session.id}:2")

    assert await contents(memory) == ["User lives in Oslo"]


async def test_corrected_fact_loses_entities_of_the_deleted_message(
    memory: bethink.Memory, database: Database, target: str, superuser_dsn: str
) -> None:
    first = await learnt(
        memory, database, *said(DENTIST), facts=[a_fact("User's dentist is Kavurimote", 1, entities=["Kavurimote"])]
    )
    [fact] = await memory.space("alice").facts.list()
    await memory.space("alice").facts.save(replace(fact, text="User's dentist is Brynhild"))
    await learnt(
        memory,
        database,
        *said("My dentist is Brynhild."),
        facts=[a_fact("User's dentist is Brynhild", 1, entities=["Brynhild"])],
        key=OTHER,
    )

    await memory.space("alice").forget(f"message:{first.id}:1")

    [left] = await memory.space("alice").facts.list()
    assert (left.text, left.entities) == ("User's dentist is Brynhild", ())
    assert "Kavurimote" not in stored(target, superuser_dsn)


async def test_forget_deletes_a_fact_that_quotes_the_wrong_message(
    memory: bethink.Memory, database: Database, target: str, superuser_dsn: str
) -> None:
    claims = [a_fact("User keeps zebrafinches beside capybaras.", 2), a_fact("User likes tea.", 3)]
    words = said("I keep zebrafinches beside capybaras.", "I keep some of them outside.", "I like tea.")
    session = await learnt(memory, database, *words, facts=claims)
    assert "User keeps zebrafinches beside capybaras." in await contents(memory)

    gone = await memory.space("alice").forget(f"message:{session.id}:1")

    assert gone.facts == 1
    assert await contents(memory) == ["User likes tea."]
    assert "capybara" not in stored(target, superuser_dsn)


@pytest.mark.parametrize("is_imported", [False, True])
async def test_forget_deletes_a_fact_that_quotes_an_earlier_message(
    memory: bethink.Memory, database: Database, is_imported: bool
) -> None:
    """The fact is dated by the message it quotes, which was said before the deleted one was stored."""
    words = said("I keep some of them outside.", "I keep zebrafinches beside capybaras.")
    dated = [replace(message, said_at="2019-05-04") for message in words] if is_imported else words
    claims = [a_fact("User keeps zebrafinches beside capybaras.", 1)]
    session = await learnt(memory, database, *dated, facts=claims)
    assert "User keeps zebrafinches beside capybaras." in await contents(memory)

    gone = await memory.space("alice").forget(f"message:{session.id}:2")

    assert gone.facts == 1
    assert await contents(memory) == []


async def test_a_word_that_a_model_has_by_itself_takes_no_fact_along(
    memory: bethink.Memory, database: Database
) -> None:
    claims = [a_fact("User loves tea.", 2)]
    session = await learnt(
        memory, database, *said("The user manual says: who loves bread?", "I like tea."), facts=claims
    )

    gone = await memory.space("alice").forget(f"message:{session.id}:1")

    assert gone.facts == 0
    assert await contents(memory) == ["User loves tea."]
