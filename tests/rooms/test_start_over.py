"""Sessions that were only quoted without a model are learned once a model is set."""

import pytest

import bethink
from bethink import Memory, Session
from bethink.errors import ConfigurationError
from bethink.model.calls import ModelCall
from bethink.model.jobs import JobKind, JobStatus, Outcome
from bethink.providers.scripted_model import ScriptedModel
from bethink.store.db import Database
from tests.conftest import Quiet, memory_on, said
from tests.rooms.learn_kit import a_fact, answer, marked, quoting, willing, worker


@pytest.fixture
def memory(database: Database) -> Memory:
    """A Memory with a model, beside workers that may have none."""
    return memory_on(database, redactor=Quiet(), worker=lambda: worker(database, [TEA]))


TEA = answer(a_fact("User likes tea", 1), title="Tea")


def tea(call: ModelCall) -> str:
    return quoting(TEA, call) if call.schema_name == "claims" else willing(call)


async def test_quoted_session_is_learned_from_its_first_message(
    database: Database, memory: Memory, session: Session
) -> None:
    await marked(memory, session, "I like tea.", "I like rain.")
    await worker(database, None).run_once()
    quoted = await session.summary()
    assert quoted is not None
    assert quoted.created_by.is_verbatim
    assert (await worker(database, None).run_once()).leased == 0, "what was quoted is not quoted again"

    report = await worker(database, [TEA]).run_once()

    assert report.outcomes == {Outcome.SUCCEEDED: 1}
    [fact] = await memory.space("alice").facts.list()
    assert fact.text == "User likes tea"
    made = await session.summary()
    assert made is not None
    assert (made.summary, made.created_by.is_verbatim, made.until) == ("Tea\n- User likes tea", False, 2)
    after = (await memory.space("alice").sessions.get(session.id)).info
    assert (after.processed_until, after.invalidated_at) == (2, None)
    assert (await worker(database, [TEA]).run_once()).leased == 0, "what a model made is not made again"


async def test_session_quoted_twice_is_learned_as_a_whole(database: Database, memory: Memory, session: Session) -> None:
    await marked(memory, session, "I like tea.")
    await worker(database, None).run_once()
    await marked(memory, session, "I like rain.")
    await worker(database, None).run_once()
    await marked(memory, session, "And snow.")
    model = ScriptedModel(tea)

    await worker(database, model).run_once()

    [call] = model.calls
    assert all(text in call.prompt for text in ("I like tea.", "I like rain.", "And snow."))
    assert [each.text for each in await memory.space("alice").facts.list()] == ["User likes tea"]


async def test_quoting_does_not_relearn_what_a_model_learned_before(
    database: Database, memory: Memory, session: Session
) -> None:
    await marked(memory, session, "I like tea.")
    await worker(database, [TEA]).run_once()
    await marked(memory, session, "I like rain.")
    await worker(database, None).run_once()
    model = ScriptedModel([answer(a_fact("User likes rain", 2))])

    await worker(database, model).run_once()

    facts = await memory.space("alice").facts.list()
    assert sorted(each.text for each in facts) == ["User likes rain", "User likes tea"]


async def test_a_session_with_nothing_to_quote_is_not_used_up_either(
    database: Database, memory: Memory, session: Session
) -> None:
    await session.append([{"role": "assistant", "content": "The kettle leaks."}])
    await session.end()
    await worker(database, None).run_once()
    assert await session.summary() is None

    await worker(database, [answer(a_fact("The kettle leaks", 1, about="kettle"))]).run_once()

    assert [each.text for each in await memory.space("alice").facts.list()] == ["The kettle leaks"]


async def test_deleted_session_is_not_learned_again(database: Database, memory: Memory, session: Session) -> None:
    await marked(memory, session, "I like tea.")
    await worker(database, None).run_once()
    await memory.space("alice").forget(session_id=session.id)

    report = await worker(database, [TEA]).run_once()

    assert (report.leased, await memory.space("alice").facts.list()) == (0, [])


async def test_retry_takes_up_one_session_at_once(database: Database, memory: Memory, session: Session) -> None:
    await session.append(said("I like tea."))
    assert not await memory.space("alice").sessions.relearn(session.id)
    await session.end()
    await worker(database, None).run_once()

    assert await memory.space("alice").sessions.relearn(session.id)

    [job] = [each for each in await memory.space("alice").admin.jobs.list() if each.kind is JobKind.EXTRACT]
    assert job.status is JobStatus.QUEUED
    await worker(database, [TEA]).run_once()
    assert [each.text for each in await memory.space("alice").facts.list()] == ["User likes tea"]


async def test_the_way_from_a_trial_without_a_key_to_facts(target: str) -> None:
    async with bethink.connect(target, learn_in_background=False) as memory:
        stored = await memory.space("alice").remember("I like tea.")
        await memory.learn()
        session = await memory.space("alice").sessions.get(stored.session.id)
        assert not await memory.space("alice").sessions.relearn(session.id), "quoting again would say the same"
    async with bethink.connect(target, learn_in_background=False, model=ScriptedModel(tea)) as memory:
        await memory.learn()

        assert [each.text for each in await memory.space("alice").facts.list()] == ["User likes tea"]


async def test_worker_without_a_model_leaves_sessions_to_one_with_it(target: str) -> None:
    model = ScriptedModel(tea)
    async with bethink.connect(target, learn_in_background=False, model=model) as memory:
        await memory.learn()
    async with bethink.connect(target, learn_in_background=False) as memory:
        stored = await memory.space("alice").remember("I like tea.")
        with pytest.raises(ConfigurationError, match=f"The model '{model.name}' learns from this database") as refused:
            await memory.learn()
        assert "Set `model` to it" in refused.value.hint
        session = await memory.space("alice").sessions.get(stored.session.id)
        assert (session.info.invalidated_at, await session.summary()) == (1, None)
    async with bethink.connect(target, learn_in_background=False, model=model) as memory:
        await memory.learn()
        assert [each.text for each in await memory.space("alice").facts.list()] == ["User likes tea"]


async def test_model_none_continues_by_quoting(target: str) -> None:
    async with bethink.connect(target, learn_in_background=False, model=ScriptedModel(tea)) as memory:
        await memory.learn()
    async with bethink.connect(target, learn_in_background=False, model="none") as memory:
        await memory.space("alice").remember("I like tea.")
        assert (await memory.learn()).outcomes[Outcome.SUCCEEDED]
    async with bethink.connect(target, learn_in_background=False) as memory:
        await memory.learn()
