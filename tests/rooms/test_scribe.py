"""A transcript sent to a memory writer becomes documents, in order and once."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bethink import Memory, Session
from bethink.jobs.worker import LearnReport, Worker, WorkerOptions
from bethink.memory.learning.documents.transcripts import TranscriptWriter, post
from bethink.model.jobs import Job, JobKind, JobStatus, Outcome
from bethink.providers.scripted_model import ScriptedModel
from bethink.store.db import Database, Tx
from bethink.types import AgentKind
from tests.conftest import KEY, FakeClock, said, whole_tree
from tests.rooms.learn_kit import DONE, answer, extractor, runs
from tests.rooms.test_writer import read, turn, write


async def run(database: Database, *answers: str | Exception) -> tuple[LearnReport, ScriptedModel]:
    """Learn from what is marked, then let the writers work as scripted."""
    model = ScriptedModel(list(answers))
    handlers = {
        JobKind.EXTRACT: replace(extractor(database, ScriptedModel(lambda _: answer())), post=post),
        JobKind.WRITE: TranscriptWriter(runs=runs(database, model)),
    }
    return await Worker(database, handlers, WorkerOptions(daily_cap=None)).run_once(), model


async def job(memory: Memory) -> Job:
    [found] = [each for each in await memory.space("alice").admin.jobs.list() if each.kind is JobKind.WRITE]
    return found


@pytest.mark.spec("S1.2", "S1.21", "S1.11")
async def test_memory_writer_turns_a_marked_session_into_documents(
    database: Database, memory: Memory, session: Session
) -> None:
    await session.append(said("I like green tea."))
    await session.checkpoint(force=True)

    report, model = await run(
        database,
        turn(read("~/memory")),
        turn(write("~/memory/tea", "Green.", f"{session.id}:1"), done=True),
    )

    assert report.outcomes == {Outcome.SUCCEEDED: 2}
    assert "## User [1]" in model.calls[0].prompt
    assert "I like green tea." in model.calls[0].prompt
    tea = (await whole_tree(memory.space("alice").documents))["~/memory/tea"]
    assert (tea.body, tea.author.kind, tea.origin) == ("Green.", "agent", "document")
    [source] = await memory.space("alice").documents.sources(tea.id, 1)
    assert (source.kind, source.id, source.number) == ("message", session.id, 1)
    posted = await (await memory.space("alice").sessions.get((await job(memory)).key)).messages()
    assert [(each.message.role, each.message.origin) for each in posted] == [("system", "memory")]
    after = (await memory.space("alice").sessions.get(session.id)).info
    assert (after.processed_until, after.invalidated_at) == (1, None)

    def writer(tx: Tx) -> str:
        row = tx.first("find_agent", space="alice", name=f"/memory-agent/{session.info.agent_id}")
        assert row is not None
        return row["kind"]

    assert await database.transact(writer, space="alice", read_only=True) == AgentKind.MEMORY_WRITER


async def test_transcripts_are_worked_in_one_after_the_other(
    database: Database, memory: Memory, session: Session
) -> None:
    for text in ("one", "two"):
        await session.append(said(text))
        await session.checkpoint(force=True)
        await run(database)  # learnt from and posted; the writer has no answer ready, and fails
    await session.append(said("three"))
    await session.checkpoint(force=True)

    prompts: list[str] = []
    for _ in range(4):
        _, model = await run(database, DONE)
        prompts += [call.prompt for call in model.calls]

    assert [next(word for word in ("one", "two", "three") if f"\n{word}" in each) for each in prompts] == [
        "one",
        "two",
        "three",
    ]
    assert (await job(memory)).status is JobStatus.DONE


async def test_answers_about_another_tree_are_not_used_for_this_one(
    database: Database, memory: Memory, session: Session, clock: FakeClock
) -> None:
    docs = memory.space("alice").documents
    await session.append(said("I like tea."))
    await session.checkpoint(force=True)
    await run(database, turn(read("~/memory")), turn(write("~/memory/tea", "Green.", f"{session.id}:1"), done=True))
    await session.append(said("And black tea."))
    await session.checkpoint(force=True)
    await run(database, turn(read("~/memory"), read("~/memory/tea")))  # and then it is cut off
    tea = await docs.find("~/memory/tea")
    assert tea is not None
    await docs.update(tea.id, replace(tea.draft(), body="A correction."), if_version=tea.version)
    clock.time += timedelta(microseconds=10**11)

    _, model = await run(database, DONE)

    assert len(model.calls) == 1, "it is asked again, about the tree as it is"
    assert (await whole_tree(docs))["~/memory/tea"].body == "A correction."


async def test_deleted_conversation_is_not_written_into_documents(
    database: Database, memory: Memory, session: Session, clock: FakeClock
) -> None:
    await session.append(said("forget me"))
    await session.checkpoint(force=True)
    await run(database)
    await memory.space("alice").forget(conversation=KEY)
    clock.time += timedelta(microseconds=10**11)

    _, model = await run(database)

    assert model.calls == []
    assert (await job(memory)).status is JobStatus.DONE


async def test_writer_does_not_receive_its_own_messages(database: Database, memory: Memory, session: Session) -> None:
    await session.append(said("I like tea."))
    await session.checkpoint(force=True)
    await run(database, DONE)

    assert await memory.backend.local().marks().find_invalidated() == []
