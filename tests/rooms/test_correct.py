"""`correct` names the version that was read, and the corrected text is a stated fact."""

import pytest

import bethink
from bethink.errors import InvalidRequestError, NotFoundError, VersionConflictError
from bethink.model.documents import DocumentDraft
from bethink.model.facts import Evidence
from bethink.store.db import Database
from tests.rooms.review_kit import claim, learn


async def learnt(memory: bethink.Memory, database: Database) -> bethink.Fact:
    await memory.space("alice").remember("I live in Oslo.")
    await learn(database, claim("The owner lives in Oslo.", "I live in Oslo", slot="home_town"))
    [fact] = await memory.space("alice").facts.list()
    return fact


async def test_corrected_fact_is_stated_and_deleted_with_its_message(
    memory: bethink.Memory, database: Database
) -> None:
    alice = memory.space("alice")
    fact = await learnt(memory, database)
    assert fact.evidence is Evidence.QUOTED

    done = await alice.correct(f"fact:{fact.id}:1", "The owner lives near Oslo.")

    assert (done.ref, done.previous) == (f"fact:{fact.id}:2", f"fact:{fact.id}:1")
    [new] = await alice.facts.list()
    assert (new.text, new.evidence, new.created_by) == ("The owner lives near Oslo.", Evidence.STATED, None)
    assert (new.origin, new.slot) == ("user", "home_town")
    [source] = await alice.facts.sources(fact.id)
    await alice.forget(f"message:{source.session_id}:{source.number}")
    assert await alice.facts.list() == []


async def test_correcting_to_the_same_text_only_marks_it_stated(memory: bethink.Memory, database: Database) -> None:
    alice = memory.space("alice")
    fact = await learnt(memory, database)
    done = await alice.correct(f"fact:{fact.id}:1", fact.text)

    assert done.ref == done.previous
    assert (await alice.facts.get(fact.id)).evidence is Evidence.STATED
    assert len(await alice.facts.versions(fact.id)) == 1


async def test_a_version_that_was_not_read_is_not_corrected(memory: bethink.Memory, database: Database) -> None:
    alice = memory.space("alice")
    fact = await learnt(memory, database)
    await alice.correct(f"fact:{fact.id}:1", "The owner lives near Oslo.")

    with pytest.raises(VersionConflictError) as caught:
        await alice.correct(f"fact:{fact.id}:1", "The owner lives in Bergen.")
    assert caught.value.current == 2
    with pytest.raises(NotFoundError):
        await memory.space("bob").correct(f"fact:{fact.id}:2", "The owner lives in Bergen.")


async def test_a_document_is_corrected_in_the_version_that_was_read(memory: bethink.Memory) -> None:
    alice = memory.space("alice")
    made = await alice.documents.create(DocumentDraft(slug="trip", title="Trip", body="to Oslo"))
    done = await alice.correct(f"document:{made.id}:1", "to Bergen\n")

    assert (done.ref, done.text) == (f"document:{made.id}:2", "to Bergen")
    assert (await alice.documents.get(made.id)).author.reason == "corrected"
    with pytest.raises(VersionConflictError):
        await alice.correct(f"document:{made.id}:1", "to Turku")


async def test_message_cannot_be_corrected(memory: bethink.Memory) -> None:
    stored = await memory.space("alice").remember("I live in Oslo.")

    with pytest.raises(InvalidRequestError, match="A message cannot be corrected"):
        await memory.space("alice").correct(stored.refs[0], "I live in Bergen.")
    with pytest.raises(InvalidRequestError, match="empty"):
        await memory.space("alice").correct("fact:f:1", "  ")
