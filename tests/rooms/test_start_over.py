"""Whoever tries without a model and names one later learns from what was said before."""

import pytest

import bethink
from bethink import Memory, Session
from bethink.model.jobs import JobKind, JobStatus, Outcome
from bethink.providers.scripted_model import ScriptedModel
from bethink.store.db import Database
from tests.conftest import Quiet, memory_on, said
from tests.rooms.learn_kit import a_fact, answer, marked, quoting, willing, worker


@pytest.fixture
def memory(database: Database) -> Memory:
    """A Memory with a model, beside workers that may have none."""
    return memory_on(database, redactor=Quiet(), worker=lambda: worker(database, [TEA]))


TEA = answer(a_fact("User likes tea", 1), title="A model's words")


async def test_a_session_that_was_only_quoted_is_learnt_from_again_with_a_model(
    database: Database, memory: Memory, session: Session
) -> None:
    await marked(memory, session, "I like tea.", "I like rain.")
    await worker(database, None).run_once()
    quoted = await session.summary()
    assert quoted is not None
    assert quoted.made_by.quotes
    assert (await worker(database, [TEA]).run_once()).claimed == 0

    assert await session.retry()
    report = await worker(database, [TEA]).run_once()

    assert report.outcomes == {Outcome.SUCCEEDED: 1}
    [fact] = await memory.space("alice").facts.all()
    assert fact.content == "User likes tea"
    made = await session.summary()
    assert made is not None
    assert (made.summary, made.made_by.quotes, made.until) == ("A model's words. User likes tea", False, 2)
    after = (await memory.space("alice").get_session(session.id)).info
    assert (after.processed_until, after.invalidated_at) == (2, None)
    assert not await session.retry(), "what a model made is not made again"


async def test_a_session_that_ended_starts_over_too_and_one_never_learnt_from_does_not(
    database: Database, memory: Memory, session: Session
) -> None:
    await session.append(said("I like tea."))
    assert not await session.retry()
    await session.end()
    await worker(database, None).run_once()

    assert await session.retry()
    assert await session.retry(), "it is promised already, and stays so"

    [job] = [each for each in await memory.space("alice").jobs() if each.kind is JobKind.EXTRACT]
    assert job.status is JobStatus.QUEUED
    await worker(database, [TEA]).run_once()
    assert [each.content for each in await memory.space("alice").facts.all()] == ["User likes tea"]


async def test_the_way_from_a_trial_without_a_key_to_facts(target: str) -> None:
    async with bethink.connect(target, learn_at_start=False) as memory:
        stored = await memory.space("alice").remember("I like tea.")
        await memory.learn()
        session = await memory.space("alice").get_session(stored.session.id)
        assert not await session.retry(), "quoting again would say the same"
    model = ScriptedModel(lambda call: quoting(TEA, call) if call.schema_name == "claims" else willing(call))
    async with bethink.connect(target, learn_at_start=False, model=model) as memory:
        await memory.learn()
        assert await memory.space("alice").facts.all() == []

        session = await memory.space("alice").get_session(stored.session.id)
        assert await session.retry()
        await memory.learn()

        assert [each.content for each in await memory.space("alice").facts.all()] == ["User likes tea"]
