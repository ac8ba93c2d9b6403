from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import anyio
import pytest

import bethink
from bethink.errors import InvalidRequestError, NotFoundError, VersionConflictError
from bethink.jobs.worker import Worker
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.documents import DocumentDraft, DocumentSource, Provenance, SourceKind
from bethink.model.jobs import JobKind, Lease
from bethink.model.working import Event, EventType
from bethink.providers.scripted_model import ScriptedModel
from bethink.store import jobs
from bethink.store.db import Database
from tests.conftest import KEY, said, whole_tree
from tests.rooms.learn_kit import DONE, a_fact, a_note, answer, consolidator, worker
from tests.rooms.stored_kit import stored

BIRD = "zebrafinch"
TOWNS = ("Oslo", "Bergen")
MOVES = ("Bergen", "Rome", "Turin")


def clever(call: ModelCall) -> str:
    """Learn what each message says, and nothing about a bird where none is spoken of."""
    if call.schema_name == "document_calls":
        return DONE
    if BIRD not in call.prompt.partition("<messages>")[2]:
        return answer(a_note("likes tea"))
    return answer(a_fact(f"The user keeps a {BIRD}.", 1), a_fact("The user likes tea.", 2))


async def learnt(memory: bethink.Memory, database: Database) -> bethink.Session:
    """A session of two messages, with a thread, a summary, facts, a session summary and a document resting on it."""
    session = await memory.space("alice").session(KEY)
    desk = memory.backend.local().working("alice")
    await desk.open_thread("thread_talk", session_id=session.id)
    await session.append(said(f"I keep a {BIRD}.", "I like tea."))
    await desk.fork("thread_talk", at=1, into="thread_fork")
    await memory.backend.local().history("alice").set_summary(KEY, f"about a {BIRD}")
    await session.checkpoint(force=True)
    await worker(database, clever).run_once()
    source = DocumentSource(kind=SourceKind.SESSION_SUMMARY, id=session.id)
    await memory.space("alice").documents.create(
        DocumentDraft(slug="pets", title="Pets", body=f"There is a {BIRD}."), provenance=Provenance(sources=(source,))
    )
    return session


async def test_a_forgotten_message_leaves_nothing_that_was_made_of_it(
    memory: bethink.Memory, database: Database, target: str, superuser_dsn: str
) -> None:
    session = await learnt(memory, database)
    assert BIRD in stored(target, superuser_dsn)

    gone = await memory.space("alice").forget(f"message:{session.id}:1")

    assert gone == bethink.Deletion(messages=1, facts=1, session_summaries=1, documents=1, threads=2)
    assert BIRD not in stored(target, superuser_dsn)
    assert [each.text for each in await memory.space("alice").facts.list()] == ["The user likes tea."]
    assert [record.message.content for record in await session.messages()] == ["I like tea."]


async def test_session_is_summarized_again_after_a_new_message(memory: bethink.Memory, database: Database) -> None:
    session = await learnt(memory, database)
    await memory.space("alice").forget(f"message:{session.id}:1")
    assert await session.summary() is None

    await session.append(said("Good morning."))
    await session.checkpoint(force=True)
    await worker(database, clever).run_once()

    again = await session.summary()
    assert again is not None
    assert again.raw_memory == "- likes tea"
    assert [each.text for each in await memory.space("alice").facts.list()] == ["The user likes tea."]


async def test_a_forgotten_session_leaves_the_others_of_its_conversation(
    memory: bethink.Memory, database: Database, target: str, superuser_dsn: str
) -> None:
    session = await learnt(memory, database)
    following = await session.restart()
    await following.append(said("Good morning."))

    gone = await memory.space("alice").forget(session_id=session.id)

    assert (gone.messages, gone.facts) == (2, 2)
    assert BIRD not in stored(target, superuser_dsn)
    assert [record.message.content for record in await following.messages()] == ["Good morning."]
    assert await memory.backend.local().marks().find_invalidated() == []


async def test_a_forgotten_conversation_takes_all_its_sessions_along(
    memory: bethink.Memory, database: Database
) -> None:
    session = await learnt(memory, database)
    following = await session.restart()
    await following.append(said("Good morning."))

    gone = await memory.space("alice").forget(conversation=KEY)

    assert gone.messages == 3
    assert await memory.backend.local().history("alice").length(KEY) == 0
    with pytest.raises(NotFoundError):
        await memory.space("alice").forget(conversation=KEY, agent="nobody")


async def test_deleted_space_leaves_tombstones_and_no_other_is_touched(
    memory: bethink.Memory, database: Database, target: str, superuser_dsn: str
) -> None:
    await learnt(memory, database)
    await memory.space("alice").recall("bird", session_id=(await memory.space("alice").sessions.list())[0].session.id)
    await memory.space("bob").remember("I keep a parrot.")

    gone = await memory.space("alice").forget(everything=True)

    assert gone == bethink.Deletion(messages=2, facts=2, session_summaries=1, documents=1, threads=2)
    assert BIRD not in stored(target, superuser_dsn)
    left = stored(target, superuser_dsn, but="access_log")  # which says who forgot it
    # Its changes keep one row; its erasure one, one for each place that confirmed, and what may not come back.
    receipts = left.replace("'", '"').count('"space": "alice"')
    assert left.count("alice") == left.count("('alice', ") + receipts
    assert receipts == 1
    [told] = await memory.space("alice").admin.changes.list()
    assert (told.kind, told.ref) == ("space.forgotten", "")
    assert (await memory.space("bob").recall("parrot")).items
    with pytest.raises(NotFoundError):
        await memory.space("alice").forget(everything=True)


async def test_a_dry_run_counts_what_would_go_and_removes_nothing(
    memory: bethink.Memory, database: Database, target: str, superuser_dsn: str
) -> None:
    session = await learnt(memory, database)
    before = stored(target, superuser_dsn, but="access_log")

    would = await memory.space("alice").forget(session_id=session.id, dry_run=True)
    after = stored(target, superuser_dsn, but="access_log")
    gone = await memory.space("alice").forget(session_id=session.id)

    assert would == bethink.Deletion(messages=2, facts=2, session_summaries=1, documents=1, threads=2, dry_run=True)
    assert after == before
    assert (gone.messages, gone.facts, gone.documents) == (would.messages, would.facts, would.documents)


async def test_a_forgotten_fact_takes_its_text_out_of_documents(memory: bethink.Memory) -> None:
    await memory.space("alice").facts.save(bethink.Fact(id="bird", text=f"keeps a {BIRD}"))
    source = DocumentSource(kind=SourceKind.FACT, id="bird")
    written = await memory.space("alice").documents.create(
        DocumentDraft(slug="pets", title="Pets", body=f"There is a {BIRD}."), provenance=Provenance(sources=(source,))
    )
    assert written is not None

    gone = await memory.space("alice").forget("fact:bird:1")

    assert (gone.facts, gone.documents) == (1, 1)
    left = await memory.space("alice").documents.get(written.id)
    assert left is not None
    assert left.redacted


async def test_a_forgotten_document_loses_the_text_of_every_version(memory: bethink.Memory) -> None:
    documents = memory.space("alice").documents
    written = await documents.create(DocumentDraft(slug="pets", title="Pets", body=f"A {BIRD}."))
    assert written is not None
    await documents.update(written.id, DocumentDraft(slug="pets", title="Pets", body=f"Two of {BIRD}."), if_version=1)

    gone = await memory.space("alice").forget(f"document:{written.id}:2")

    assert gone.documents == 2
    assert all(BIRD not in version.body for version in await documents.versions(written.id))
    with pytest.raises(NotFoundError):
        await memory.space("alice").forget(f"document:{written.id}:2")


async def test_a_forgotten_session_summary_leaves_the_messages(memory: bethink.Memory, database: Database) -> None:
    session = await learnt(memory, database)

    gone = await memory.space("alice").forget(f"session_summary:{session.id}:0")

    assert (gone.messages, gone.session_summaries, gone.documents) == (0, 1, 1)
    assert await session.summary() is None
    with pytest.raises(NotFoundError):
        await memory.space("alice").forget(f"session_summary:{session.id}:0")


async def test_forget_cannot_reach_another_space(memory: bethink.Memory, database: Database) -> None:
    session = await learnt(memory, database)

    for ref in (f"message:{session.id}:1", f"session_summary:{session.id}:0", "fact:nothing:1", "document:nothing:1"):
        with pytest.raises(NotFoundError):
            await memory.space("bob").forget(ref)
    with pytest.raises(NotFoundError):
        await memory.space("bob").forget(session_id=session.id)
    with pytest.raises(NotFoundError):
        await memory.space("bob").forget(conversation=KEY)
    assert len(await session.messages()) == 2


async def test_exactly_one_thing_is_forgotten_at_a_time(memory: bethink.Memory, session: bethink.Session) -> None:
    for wrong in ({}, {"session_id": session.id, "everything": True}, {"ref": "fact:a:1", "conversation": KEY}):
        with pytest.raises(InvalidRequestError):
            await memory.space("alice").forget(**wrong)  # pyright: ignore[reportArgumentType]


async def test_a_thread_of_no_forgotten_session_stays(memory: bethink.Memory, database: Database) -> None:
    session = await learnt(memory, database)
    desk = memory.backend.local().working("alice")
    await desk.open_thread("thread_other")
    await desk.dispatch("thread_other", Event(type=EventType.USER_MESSAGE, payload={"text": "Hello."}))

    await memory.space("alice").forget(session_id=session.id)

    assert [each.id for each in await desk.threads()] == ["thread_other"]


async def test_corrected_fact_is_deleted_with_its_source_message(memory: bethink.Memory, database: Database) -> None:
    session = await learnt(memory, database)
    facts = memory.space("alice").facts
    [bird] = [each for each in await facts.list() if BIRD in each.text]
    await facts.save(replace(bird, text=f"The user keeps two of the kind {BIRD}."))

    gone = await memory.space("alice").forget(f"message:{session.id}:1")

    assert gone.facts == 1
    assert [each.text for each in await facts.list()] == ["The user likes tea."]


async def test_forgetting_a_message_restores_facts_it_replaced(memory: bethink.Memory, database: Database) -> None:
    session = await memory.space("alice").session(KEY)
    await session.append(said("I live in Oslo.", "I live in Bergen."))
    await session.checkpoint(force=True)
    lives = [a_fact(f"The user lives in {town}.", number, slot="home") for number, town in enumerate(TOWNS, 1)]
    await worker(database, [answer(*lives)]).run_once()
    facts = memory.space("alice").facts
    [now] = await facts.list()
    assert now.text == "The user lives in Bergen."

    await memory.space("alice").forget(f"message:{session.id}:2")

    assert [each.text for each in await facts.list()] == ["The user lives in Oslo."]


async def test_forget_relinks_replaced_fact_to_the_later_replacement(
    memory: bethink.Memory, database: Database
) -> None:
    first = await memory.space("alice").session(KEY)
    await first.append(said("I live in Oslo."))
    await first.checkpoint(force=True)
    await worker(database, [answer(a_fact("The user lives in Oslo.", 1, slot="home"))]).run_once()
    facts = memory.space("alice").facts
    [oslo] = await facts.list()
    second = await first.restart()
    await second.append(said("I live in Bergen.", "I live in Rome.", "I live in Turin."))
    await second.checkpoint(force=True)
    towns = [a_fact(f"The user lives in {town}.", place, slot="home") for place, town in enumerate(MOVES, 1)]
    await worker(database, [answer(*towns)]).run_once()
    third = await second.restart()
    await third.append(said("I live in Paris."))
    await third.checkpoint(force=True)
    await worker(database, [answer(a_fact("The user lives in Paris.", 1, slot="home"))]).run_once()

    gone = await memory.space("alice").forget(session_id=second.id)

    assert gone.facts == 3
    [paris] = await facts.list()
    assert paris.text == "The user lives in Paris."
    assert [each.replaced_by for each in await facts.versions(oslo.id)] == [paris.id]


async def test_forgetting_a_fact_does_not_restore_its_old_version(memory: bethink.Memory) -> None:
    facts = memory.space("alice").facts
    await facts.save(bethink.Fact(id="home", text="Oslo"))
    await facts.save(bethink.Fact(id="home", text="Bergen"))

    await memory.space("alice").forget("fact:home:2")

    assert await facts.list() == []


async def test_running_extraction_writes_nothing_from_deleted_message(
    memory: bethink.Memory, database: Database, target: str, superuser_dsn: str
) -> None:
    session = await memory.space("alice").session(KEY)
    await session.append(said(f"I keep a {BIRD}.", "I like tea."))
    await session.checkpoint(force=True)
    asked, forgotten = anyio.Event(), anyio.Event()

    class Slow(ScriptedModel):
        async def answer(self, call: ModelCall) -> ModelAnswer:
            answered = await super().answer(call)
            asked.set()
            await forgotten.wait()
            return answered

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(worker(database, Slow(clever)).run_once)
        await asked.wait()
        await memory.space("alice").forget(f"message:{session.id}:1")
        forgotten.set()

    assert BIRD not in stored(target, superuser_dsn)
    await worker(database, clever).run_once()
    again = await session.summary()
    assert again is not None
    assert again.raw_memory == "- likes tea"


async def test_a_claim_on_a_forgotten_space_is_never_good_again(memory: bethink.Memory, database: Database) -> None:
    async def claim() -> Lease:
        await memory.space("alice").remember("Hello.")
        [held] = await database.transact(
            lambda tx: jobs.lease_jobs(
                tx, kind=JobKind.EXTRACT, worker="somebody", duration=timedelta(minutes=1), limit=1
            )
        )
        return held

    before = await claim()
    await memory.space("alice").forget(everything=True)
    after = await claim()

    assert after.token > before.token


async def test_deleted_fact_leaves_no_change_set(
    memory: bethink.Memory, database: Database, target: str, superuser_dsn: str
) -> None:
    await learnt(memory, database)
    handler = consolidator(database, review=True)
    await Worker(database, {JobKind.CONSOLIDATE: handler}, name="reviewer").run_once()
    [held] = await memory.space("alice").documents.changes.list()
    assert BIRD in str(held.changes)
    [bird] = [each for each in await memory.space("alice").facts.list() if BIRD in each.text]

    await memory.space("alice").forget(f"fact:{bird.id}:1")

    assert await memory.space("alice").documents.changes.list() == []


async def test_a_forgotten_document_takes_along_the_change_set_that_made_it(
    memory: bethink.Memory, database: Database
) -> None:
    await learnt(memory, database)
    await Worker(database, {JobKind.CONSOLIDATE: consolidator(database)}, name="writer").run_once()
    documents = memory.space("alice").documents
    assert BIRD in str(await documents.changes.list())
    made = [each for each in (await whole_tree(documents)).values() if BIRD in each.body and each.author.kind == "job"]

    for each in made:
        await memory.space("alice").forget(f"document:{each.id}:{each.version}")

    assert BIRD not in str(await documents.changes.list())


async def test_the_files_of_a_space_go_with_what_is_forgotten(tmp_path: Path) -> None:
    async with bethink.connect(
        tmp_path / "memory.db", artifacts_dir=str(tmp_path / "files"), learn_in_background=False
    ) as memory:
        await memory.space("alice").remember(f"I keep a {BIRD}.")
        for _ in range(3):
            await memory.learn()
        written = [path.read_text() for path in (tmp_path / "files").rglob("*.md")]
        assert any(BIRD in text for text in written)

        await memory.space("alice").forget(everything=True)

        assert not any(BIRD in path.read_text() for path in (tmp_path / "files").rglob("*.md"))


async def test_a_stale_correction_of_a_fact_is_refused(memory: bethink.Memory) -> None:
    facts = memory.space("alice").facts
    await facts.save(bethink.Fact(id="home", text="Oslo"))
    await facts.save(bethink.Fact(id="home", text="Bergen"), if_version=1)

    with pytest.raises(VersionConflictError):
        await facts.save(bethink.Fact(id="home", text="Rome"), if_version=1)
