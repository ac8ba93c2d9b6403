"""Extraction: from a marked session to a summary and facts with their sources."""

import pytest

from bethink import Memory, Session
from bethink.jobs.worker import Worker, WorkerOptions
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.facts import Evidence, SourceMessage
from bethink.model.jobs import JobKind, JobStatus, Outcome
from bethink.model.moments import from_micros
from bethink.model.records import conversation_key
from bethink.providers.redaction import SecretRedactor
from bethink.providers.scripted_model import ScriptedModel
from bethink.store import jobs, learning, sessions
from bethink.store.db import Database, Tx
from bethink.types import AgentKind
from tests.conftest import KEY, many, said
from tests.rooms.learn_kit import NOTHING, a_fact, a_note, answer, extractor, marked, reviewed, worker


@pytest.mark.spec("S2.16", "S2.18", "S2.21", "S0.20", "S1.22", "S4.33")
async def test_learned_session_has_a_summary_and_facts_with_sources(
    database: Database, memory: Memory, session: Session
) -> None:
    await marked(memory, session, "Hello!", "I moved to Bergen in May.")
    told = answer(
        a_fact("User moved to Bergen", 2, slot="home_town", since="2026-05"),
        a_note("User said hello.", 1),
        title="Moving to Bergen!",
    )

    report = await worker(database, [told]).run_once()

    assert report.outcomes == {Outcome.SUCCEEDED: 1}
    memory_of = await session.summary()
    assert memory_of is not None
    assert memory_of.raw_memory == "- User said hello.\n- User moved to Bergen"
    assert (memory_of.summary, memory_of.slug) == (
        "Moving to Bergen!\n- User said hello.\n- User moved to Bergen", "moving-to-bergen",
    )  # fmt: skip
    assert (memory_of.until, memory_of.created_by.model, memory_of.created_by.prompt) == (2, "scripted", "extract-4")
    [fact] = await memory.space("alice").facts.list()
    assert (fact.evidence, fact.speaker, fact.subject) == (Evidence.CONFIRMED, "owner", "user")
    assert (fact.text, fact.source, fact.origin) == ("User moved to Bergen", session.id, "user")
    assert fact.valid_from == from_micros(1_777_593_600_000_000)
    assert await memory.space("alice").facts.sources(fact.id) == [SourceMessage(session.id, 2)]
    after = await memory.space("alice").sessions.get(session_id=session.id)
    assert after is not None
    assert (after.info.invalidated_at, after.info.processed_until) == (None, 2)


@pytest.mark.spec("S2.22")
async def test_extraction_without_facts_succeeds(database: Database, memory: Memory, session: Session) -> None:
    await marked(memory, session, "ok", "thanks")

    report = await worker(database, [NOTHING]).run_once()

    assert report.outcomes == {Outcome.SUCCEEDED_NO_OUTPUT: 1}
    assert await session.summary() is None
    [job] = [each for each in await memory.space("alice").admin.jobs.list() if each.kind is JobKind.EXTRACT]
    assert job.outcome is Outcome.SUCCEEDED_NO_OUTPUT


async def test_session_summary_survives_small_talk_and_grows(
    database: Database, memory: Memory, session: Session
) -> None:
    await marked(memory, session, "My cat is called Miez.")
    await worker(database, [answer(a_fact("The cat is Miez.", 1), title="A cat")]).run_once()
    await marked(memory, session, "ok", "thanks from the cat")
    model = ScriptedModel([NOTHING, answer(a_note("The cat was fed."), title="The cat was fed")])

    await worker(database, model).run_once()

    assert "owner said on 2023-11-14:\nf1 detail: The cat is Miez." in model.calls[0].prompt
    kept = await session.summary()
    assert kept is not None
    assert kept.raw_memory == "- The cat is Miez."
    await marked(memory, session, "I fed her.")
    await worker(database, model).run_once()
    grown = await session.summary()
    assert grown is not None
    assert (grown.raw_memory, grown.slug) == ("- The cat is Miez.\n- The cat was fed.", "the-cat-was-fed")


@pytest.mark.spec("S1.19")
async def test_extraction_asks_only_about_new_messages(database: Database, memory: Memory, session: Session) -> None:
    model = ScriptedModel(lambda _: answer(a_fact("User likes tea", 1)))
    work = worker(database, model)
    await marked(memory, session, "I like tea.")
    await work.run_once()
    await marked(memory, session, "And rain.")

    report = await work.run_once()

    read, new = model.calls[1].prompt.split("\nNew:\n")
    assert "Read before:" in read
    assert ("I like tea." in read, "And rain." in read, "And rain." in new) == (True, False, True)
    assert report.refused["not_new"] == 1, "a fact must rest on something new"


@pytest.mark.spec("S0.21", "S0.14")
async def test_messages_arriving_during_extraction_are_learned_next(
    database: Database, memory: Memory, session: Session
) -> None:
    class Slow(ScriptedModel):
        async def answer(self, call: ModelCall) -> ModelAnswer:
            if not self.calls:
                await session.append(said("late"))
                await session.checkpoint(force=True)
            return await super().answer(call)

    model = Slow(lambda _: answer())
    work = worker(database, model, batch=1)  # otherwise one run learns both
    await marked(memory, session, "early")

    await work.run_once()
    between = await memory.space("alice").sessions.get(session_id=session.id)
    await work.run_once()
    after = await memory.space("alice").sessions.get(session_id=session.id)

    assert between is not None
    assert after is not None
    assert (between.info.processed_until, between.info.invalidated_at) == (1, 2)
    assert "late" not in model.calls[0].prompt
    assert "late" in model.calls[1].prompt
    assert (after.info.processed_until, after.info.invalidated_at) == (2, None)


async def test_session_over_the_window_is_learned_in_pieces(
    database: Database, memory: Memory, session: Session
) -> None:
    model = ScriptedModel(lambda _: answer(), window=4_000)
    await marked(memory, session, *(f"part {number} " + "word " * 400 for number in range(8)))
    work = worker(database, model)

    for _ in range(8):
        await work.run_once()

    after = await memory.space("alice").sessions.get(session_id=session.id)
    assert after is not None
    assert (after.info.processed_until, after.info.invalidated_at) == (8, None)
    assert len(model.calls) > 1
    for number in range(8):
        assert any(f"[{number + 1}]" in call.prompt and f"part {number} " in call.prompt for call in model.calls)
    assert all(len(call.system + call.prompt) / 4 < 4_000 for call in model.calls)


@pytest.mark.spec("S1.18")
async def test_session_of_memory_writer_is_processed_without_reading(database: Database, memory: Memory) -> None:
    inner = await memory.space("alice").session(KEY, agent="w", kind=AgentKind.MEMORY_WRITER)
    await inner.append(many(7))

    def force(tx: Tx) -> None:
        tx.script(f"UPDATE sessions SET invalidated_at = 7 WHERE id = '{inner.id}'")
        jobs.queue(tx, space="alice", kind=JobKind.EXTRACT, key=inner.id, watermark=7)

    await database.transact(force, space="alice")
    model = ScriptedModel(lambda _: answer())

    await worker(database, model).run_once()

    assert model.calls == []
    after = await memory.space("alice").sessions.get(session_id=inner.id)
    assert after is not None
    assert (after.info.processed_until, after.info.invalidated_at) == (7, None)


@pytest.mark.spec("S1.5", "S1.6", "S1.7")
async def test_every_agent_has_one_memory_writer_created_on_first_use(
    database: Database, memory: Memory, session: Session
) -> None:
    def writers(tx: Tx) -> list[str]:
        name = f"/memory-agent/{session.info.agent_id}"
        row = tx.first("find_agent", space="alice", name=name)
        return [] if row is None else [row["kind"], row["id"]]

    assert await database.transact(writers, space="alice", read_only=True) == []
    work = worker(database, lambda _: answer())
    await marked(memory, session, "I like tea.")
    await work.run_once()
    [kind, first] = await database.transact(writers, space="alice", read_only=True)
    await marked(memory, session, "And coffee.")
    await work.run_once()

    assert kind == AgentKind.MEMORY_WRITER
    assert await database.transact(writers, space="alice", read_only=True) == [kind, first]
    answers = await database.transact(
        lambda tx: learning.answers(tx, space="alice", kind=JobKind.EXTRACT, key=session.id),
        space="alice",
        read_only=True,
    )
    assert {each.agent_id for each in answers} == {first}
    assert sorted(each.prompt for each in answers) == ["extract-4", "extract-4", "second-3", "second-3"]


@pytest.mark.spec("S2.17")
async def test_secrets_in_a_model_answer_are_redacted_everywhere(
    database: Database, memory: Memory, session: Session
) -> None:
    secret = "ghp_" + "a1B2" * 9
    await marked(memory, session, "My deploy script lives in the tools repository.")
    told = answer(
        a_fact(f"User keeps the deploy script in the tools repository, key {secret}", 1, scope=secret),
        a_fact(f"A word of the key {secret} was said", 1, kind="instruction", about=secret),
        a_note(f"notes {secret}"),
        title=secret,
    )
    model = ScriptedModel([told])
    extract = extractor(database, model, SecretRedactor(b"key"))

    await Worker(database, {JobKind.EXTRACT: extract}, WorkerOptions()).run_once()

    kept = await session.summary()
    answers = await database.transact(
        lambda tx: learning.answers(tx, space="alice", kind=JobKind.EXTRACT, key=session.id),
        space="alice",
        read_only=True,
    )
    facts = await memory.space("alice").facts.search("deploy script", limit=5)
    everything = f"{kept} {answers} {facts} {await reviewed(database)}"
    assert secret not in everything
    assert secret.lower() not in everything.lower()
    assert "REDACTED" in everything


async def test_without_a_model_a_session_is_remembered_in_the_users_own_words(
    database: Database, memory: Memory, session: Session
) -> None:
    await marked(memory, session, "Please mend the roof.", "And the gutter.")

    report = await worker(database, None).run_once()

    kept = await session.summary()
    assert kept is not None
    assert kept.raw_memory == "- Please mend the roof.\n- And the gutter."
    assert kept.summary == "The user wrote 2 messages. First: Please mend the roof. Last: And the gutter."
    assert (kept.slug, kept.created_by.model) == ("please-mend-the-roof", "none")
    assert report.outcomes == {Outcome.SUCCEEDED: 1}
    assert await memory.space("alice").facts.count() == 0
    assert (await worker(database, None).audit()).spent_today.calls == 0


async def test_forget_deletes_derived_data_of_a_conversation(
    database: Database, memory: Memory, session: Session
) -> None:
    await marked(memory, session, "I play the cello.")
    await worker(database, [answer(a_fact("User plays the cello", 1))]).run_once()

    await memory.space("alice").forget(conversation=KEY)

    assert await session.summary() is None
    assert await memory.space("alice").facts.search("cello", limit=5) == []
    answers = await database.transact(
        lambda tx: learning.answers(tx, space="alice", kind=JobKind.EXTRACT, key=session.id),
        space="alice",
        read_only=True,
    )
    assert answers == []


async def test_forget_during_extraction_leaves_nothing_of_the_answer(
    database: Database, memory: Memory, session: Session
) -> None:
    class Purging(ScriptedModel):
        async def answer(self, call: ModelCall) -> ModelAnswer:
            await memory.space("alice").forget(conversation=KEY)
            return await super().answer(call)

    await marked(memory, session, "I play the cello.")

    report = await worker(database, Purging([answer(a_fact("User plays the cello", 1))])).run_once()

    assert report.leases_lost == 1
    assert await memory.space("alice").facts.count() == 0
    assert await session.summary() is None
    answers = await database.transact(
        lambda tx: learning.answers(tx, space="alice", kind=JobKind.EXTRACT, key=session.id),
        space="alice",
        read_only=True,
    )
    assert answers == []


async def test_job_of_a_deleted_session_is_done(database: Database, memory: Memory) -> None:
    session = await memory.space("alice").session(conversation_key(channel="c", chat="gone"))
    await database.transact(
        lambda tx: jobs.queue(tx, space="alice", kind=JobKind.EXTRACT, key="ses_never", watermark=1), space="alice"
    )

    report = await worker(database, None).run_once()

    assert report.outcomes == {Outcome.SUCCEEDED_NO_OUTPUT: 1}
    statuses = {
        each.key: each.status for each in await memory.space("alice").admin.jobs.list() if each.kind is JobKind.EXTRACT
    }
    assert statuses == {"ses_never": JobStatus.DONE, session.id: JobStatus.WAITING}


async def test_a_transcript_of_nothing_but_memory_costs_no_call(
    database: Database, memory: Memory, session: Session
) -> None:
    await marked(memory, session, "<bethink-memory>\n- User likes tea\n</bethink-memory>")
    model = ScriptedModel(lambda _: answer())

    report = await worker(database, model).run_once()

    assert model.calls == []
    assert report.outcomes == {Outcome.SUCCEEDED_NO_OUTPUT: 1}


async def test_job_of_an_ended_session_is_done_after_learning(
    database: Database, memory: Memory, session: Session
) -> None:
    await session.append(said("bye"))
    await session.end()

    await worker(database, None).run_once()

    [job] = [each for each in await memory.space("alice").admin.jobs.list() if each.kind is JobKind.EXTRACT]
    assert (job.status, job.due_at) == (JobStatus.DONE, None)
    found = await database.transact(
        lambda tx: sessions.find(tx, space="alice", session_id=session.id), space="alice", read_only=True
    )
    assert found is not None
    assert found.processed_until == 1
