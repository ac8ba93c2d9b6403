"""Consolidation: from session summaries to documents, selected, changed and undone."""

from datetime import timedelta
from textwrap import wrap

import pytest

from bethink import Fact, Memory, Session
from bethink.errors import ConflictError, NotFoundError
from bethink.jobs.worker import LearnReport, Worker, WorkerOptions
from bethink.memory.learning.documents.consolidate import Consolidator
from bethink.model.consolidation import ChangeStatus
from bethink.model.documents import DocumentDraft
from bethink.model.facts import SessionSummary
from bethink.model.jobs import Job, JobKind, JobStatus, Outcome
from bethink.model.moments import LAST, to_micros
from bethink.model.records import conversation_key
from bethink.model.refs import Ref, RefKind
from bethink.providers.scripted_model import ScriptedModel
from bethink.store import consolidation, jobs
from bethink.store.db import Database
from tests.conftest import FakeClock, said, whole_tree
from tests.rooms.learn_kit import a_fact, a_note, answer, consolidator, extractor

DAY = timedelta(days=1)


class Life:
    """A space that is told things, learns and consolidates."""

    def __init__(self, database: Database, memory: Memory) -> None:
        self.database, self.memory, self.count = database, memory, 0
        self.docs = memory.space("alice").documents

    async def tell(
        self, text: str, *facts: dict[str, object], note: str | None = None, title: str | None = None
    ) -> Session:
        """Say something in a session of its own, and learn from it these facts and a note: the text itself."""
        self.count += 1
        key = conversation_key(channel="c", chat=str(self.count))
        session = await self.memory.space("alice").session(key)
        await session.append(said(text))
        await session.end()
        notes = [a_note(part, 1) for part in wrap(note or text, 900)]
        told = answer(*facts, *notes, title=title or f"Talk {self.count}")
        model = ScriptedModel([told])
        handlers = {JobKind.EXTRACT: extractor(self.database, model)}
        await Worker(self.database, handlers, WorkerOptions(daily_cap=None)).run_once()
        return session

    async def consolidate(self, handler: Consolidator | None = None) -> LearnReport:
        handlers = {JobKind.CONSOLIDATE: handler or consolidator(self.database)}
        return await Worker(self.database, handlers, WorkerOptions(daily_cap=None)).run_once()

    async def job(self) -> Job:
        found = await self.database.transact(
            lambda tx: jobs.find(tx, space="alice", kind=JobKind.CONSOLIDATE, key=jobs.SPACE_KEY), read_only=True
        )
        assert found is not None
        return found

    async def selection(self, **rules: int) -> consolidation.Selection:
        wanted = {"max_unused_days": 30, "limit": 256} | rules
        return await self.database.transact(
            lambda tx: consolidation.select(tx, space="alice", **wanted), space="alice", read_only=True
        )

    async def use(self, *sessions: Session) -> None:
        ids = [each.id for each in sessions]
        await self.database.transact(lambda tx: consolidation.use(tx, space="alice", session_ids=ids), space="alice")


def ids(memories: list[SessionSummary]) -> list[str]:
    return [each.session_id for each in memories]


@pytest.fixture
def life(database: Database, memory: Memory) -> Life:
    return Life(database, memory)


@pytest.mark.spec("S1.1", "S2.55", "S2.42")
async def test_consolidation_writes_documents_with_sources(life: Life) -> None:
    session = await life.tell(
        "I live in Bergen with Kari.",
        a_fact("User lives in Bergen", 1, about="Bergen"),
        a_fact("Kari lives in Bergen", 1, about="Kari"),
    )

    report = await life.consolidate()

    assert report.outcomes == {Outcome.SUCCEEDED: 1}
    tree = await whole_tree(life.docs)
    assert list(tree) == [
        "~/memory",
        "~/memory/bergen",
        "~/memory/consolidated",
        "~/memory/consolidated/MEMORY.md",
        "~/memory/consolidated/memory_summary.md",
        "~/memory/kari",
    ]
    bergen = tree["~/memory/bergen"]
    assert "User lives in Bergen (user;" in bergen.body
    assert bergen.origin == "user"
    assert {each.kind for each in await life.docs.sources(bergen.id, 1)} == {"fact"}
    memory = tree["~/memory/consolidated/MEMORY.md"]
    assert session.id in memory.body
    assert memory.origin == "document"
    assert bergen.author.token == (await life.job()).token
    assert (await life.job()).outcome is Outcome.SUCCEEDED


@pytest.mark.spec("S2.53", "S2.24")
async def test_only_a_dirty_space_is_consolidated(life: Life) -> None:
    await life.tell("I like tea.", a_fact("User likes tea", 1))

    assert [(await life.consolidate()).leased for _ in range(2)] == [1, 0]
    await life.tell("I like rain.", a_fact("User likes rain", 1))
    assert (await life.consolidate()).leased == 1


@pytest.mark.spec("S2.50", "S2.51", "S2.52", "S2.54", "S2.30")
async def test_the_watermark_is_the_newest_of_claim_and_input_and_never_falls(life: Life, clock: FakeClock) -> None:
    await life.tell("I like tea.")
    await life.consolidate()
    first = (await life.job()).success_watermark
    [memory] = (await life.selection()).current
    assert first is not None
    assert first >= to_micros(memory.memory.source_updated_at)

    await life.database.transact(
        lambda tx: jobs.queue(tx, space="alice", kind=JobKind.CONSOLIDATE, key=jobs.SPACE_KEY, watermark=5),
        space="alice",
    )
    assert (await life.job()).input_watermark > first, "a promise about something old makes it dirty, too"
    await life.consolidate()

    assert ((await life.job()).success_watermark or 0) > first


@pytest.mark.spec("S2.26", "S2.27", "S2.28", "S2.29", "S2.25")
async def test_selection_prefers_most_used_then_newest(life: Life, clock: FakeClock) -> None:
    old_unused = await life.tell("one")
    old_used = await life.tell("two")
    clock.time += 20 * DAY
    await life.use(old_used)
    newer = await life.tell("three")
    often = await life.tell("four")
    await life.use(often, often)
    await life.use(often)
    clock.time += 15 * DAY

    chosen = [each.memory.session_id for each in (await life.selection()).current]

    assert chosen == [often.id, old_used.id, newer.id]
    assert old_unused.id not in chosen
    assert [each.memory.session_id for each in (await life.selection(limit=2)).current] == [often.id, old_used.id]


@pytest.mark.spec("S2.43", "S2.44", "S2.45", "S2.46", "S2.47")
async def test_consolidation_marks_its_inputs_and_readds_changed_ones(life: Life, memory: Memory) -> None:
    session = await life.tell("one")
    assert ids((await life.selection()).added_summaries) == [session.id]
    await life.consolidate()
    assert ids((await life.selection()).retained_summaries) == [session.id]

    key = conversation_key(channel="c", chat="1")
    again = await memory.space("alice").session(key)
    await again.append(said("more"))
    await again.checkpoint(force=True)
    model = ScriptedModel(lambda _: answer())
    handlers = {JobKind.EXTRACT: extractor(life.database, model)}
    await Worker(life.database, handlers, WorkerOptions()).run_once()
    await life.database.transact(
        lambda tx: tx.script("UPDATE session_summaries SET source_updated_at = source_updated_at + 1"), space="alice"
    )

    now = await life.selection()
    assert set(ids(now.added_summaries)) == {session.id, again.id}
    assert ids(now.retained_summaries) == []
    assert [each.selected for each in now.previous] == [True], "the baseline stays until the next success"


@pytest.mark.spec("S2.48")
async def test_consolidation_keeps_current_facts_of_unused_sessions(life: Life, clock: FakeClock) -> None:
    """A session that went unused for long leaves the overviews; its facts stay as long as they are current."""
    gone = await life.tell("I like tea.", a_fact("User likes tea", 1, about="Tea"))
    await life.consolidate()
    clock.time += 20 * DAY
    await life.tell("I like rain.", a_fact("User likes rain", 1, about="Rain"))
    clock.time += 15 * DAY

    assert ids((await life.selection()).removed_summaries) == [gone.id]
    await life.tell("I like snow.", a_fact("User likes snow", 1, about="Snow"))
    await life.consolidate()

    tree = await whole_tree(life.docs)
    assert {"~/memory/tea", "~/memory/rain", "~/memory/snow"} <= tree.keys()
    assert gone.id not in tree["~/memory/consolidated/MEMORY.md"].body
    assert "User likes tea" in tree["~/memory/consolidated/MEMORY.md"].body


@pytest.mark.spec("S2.34")
async def test_expired_input_deletes_derived_data_without_a_model(life: Life, clock: FakeClock, memory: Memory) -> None:
    await life.tell("I like tea.")
    await life.consolidate()
    mine = await memory.space("alice").documents.create(DocumentDraft(slug="mine", title="Mine"))
    clock.time += 40 * DAY
    model = ScriptedModel([])

    report = await life.consolidate(consolidator(life.database, model))

    assert (report.queued, report.leased) == (1, 1), "growing old is noticed by itself"
    assert model.calls == []
    assert list(await whole_tree(life.docs)) == ["~/memory", "~/mine"]
    assert mine is not None
    assert (await life.selection()).previous == ()
    assert (await life.consolidate()).leased == 0


async def test_consolidation_keeps_a_document_last_edited_by_user(life: Life) -> None:
    await life.tell("I like tea.", a_fact("User likes tea", 1, about="Tea"))
    await life.consolidate()
    tea = await life.docs.find("~/memory/tea")
    assert tea is not None
    await life.docs.update(
        tea.id, DocumentDraft(slug="tea", title="Tea", body="Only Darjeeling.", parent=tea.parent), if_version=1
    )
    await life.tell("I love tea.", a_fact("User loves tea", 1, about="Tea"))

    await life.consolidate()

    now = await life.docs.find("~/memory/tea")
    assert now is not None
    assert now.body == "Only Darjeeling."


async def test_forget_redacts_every_document_based_on_the_session(life: Life, memory: Memory) -> None:
    await life.tell("I like tea.", a_fact("User likes tea", 1, about="Tea"))
    await life.tell("I like rain.", a_fact("User likes rain", 1, about="Rain"))
    await life.consolidate()
    tea = await life.docs.find("~/memory/tea")
    assert tea is not None

    await memory.space("alice").forget(conversation=conversation_key(channel="c", chat="1"))

    versions = [
        each for path in await whole_tree(life.docs) for each in await life.docs.versions(await _id(life, path))
    ]
    kept = f"{[(each.title, each.description, each.body) for each in versions]} {await life.docs.changes.list()}"
    assert "likes tea" not in kept
    assert "I like tea" not in kept
    assert "likes rain" in kept
    assert await life.docs.search("tea", limit=9) == []

    await life.consolidate()

    tree = await whole_tree(life.docs)
    assert "~/memory/tea" not in tree
    assert "likes rain" in tree["~/memory/rain"].body


async def _id(life: Life, path: str) -> str:
    found = await life.docs.find(path)
    assert found is not None
    return found.id


async def test_a_run_can_be_undone_and_gives_the_tree_before_it(life: Life) -> None:
    await life.tell("I like tea.", a_fact("User likes tea", 1, about="Tea"))
    await life.consolidate()
    before = {path: each.body for path, each in (await whole_tree(life.docs)).items()}
    await life.tell("I like rain and tea.", a_fact("User likes rain", 1, entities=["Rain", "Tea"]))
    await life.consolidate()
    [second, _] = await life.docs.changes.list()

    await life.docs.changes.undo(second.run)

    assert {path: each.body for path, each in (await whole_tree(life.docs)).items()} == before
    assert [each.status for each in await life.docs.changes.list()] == [ChangeStatus.UNDONE, ChangeStatus.APPLIED]
    with pytest.raises(ConflictError):
        await life.docs.changes.undo(second.run)
    with pytest.raises(NotFoundError):
        await life.docs.changes.undo("run_none")


async def test_undone_consolidation_is_updated_and_can_be_undone_again(life: Life, clock: FakeClock) -> None:
    await life.tell("I like tea.", a_fact("User likes tea", 1, about="Tea"))
    await life.consolidate()
    [first] = await life.docs.changes.list()
    await life.docs.changes.undo(first.run)
    await life.tell("I like snow.", a_fact("User likes snow", 1, about="Snow"))

    await life.consolidate()

    [second, _] = await life.docs.changes.list()
    assert second.run != first.run
    assert "likes snow" in (await whole_tree(life.docs))["~/memory/snow"].body
    await life.docs.changes.undo(second.run)
    assert list(await whole_tree(life.docs)) == ["~/memory"]
    clock.time += 40 * DAY
    await life.consolidate()
    assert {"~/memory/tea", "~/memory/snow"} <= (await whole_tree(life.docs)).keys(), "the facts are current"


async def test_rejected_change_set_is_not_proposed_again(life: Life) -> None:
    handler = consolidator(life.database, review=True)
    await life.tell("I like tea.", a_fact("User likes tea", 1, about="Tea"))
    await life.consolidate(handler)
    [held] = await life.docs.changes.list()
    await life.docs.changes.reject(held.run)
    await life.database.transact(
        lambda tx: jobs.queue(tx, space="alice", kind=JobKind.CONSOLIDATE, key=jobs.SPACE_KEY, watermark=0),
        space="alice",
    )

    await life.consolidate(handler)

    assert [each.status for each in await life.docs.changes.list()] == [ChangeStatus.REJECTED]
    await life.tell("I like rain.", a_fact("User likes rain", 1, about="Rain"))
    await life.consolidate(handler)
    await life.tell("I like snow.", a_fact("User likes snow", 1, about="Snow"))
    await life.consolidate(handler)
    assert [each.status for each in await life.docs.changes.list()] == [
        ChangeStatus.PENDING,
        ChangeStatus.SUPERSEDED,
        ChangeStatus.REJECTED,
    ]


async def test_no_fact_however_odd_keeps_a_space_from_being_consolidated(life: Life, memory: Memory) -> None:
    facts = memory.space("alice").facts
    await facts.save(Fact(id="a", text="beyond", valid_to=LAST, entities=(" ", "C++")))
    await facts.save(Fact(id="b", text="sharp", entities=("C#", "東京", "Consolidated")))
    await facts.save(Fact(id="c", text="cold", entities=("Москва",)))
    await life.tell("I like tea.")

    report = await life.consolidate()

    assert report.outcomes == {Outcome.SUCCEEDED: 1}
    titles = {each.title for path, each in (await whole_tree(life.docs)).items() if path.count("/") == 2}
    assert titles == {"C++", "C#", "東京", "Consolidated", "Москва", "Consolidated memory"}


async def test_a_deleted_fact_leaves_the_documents_at_once(life: Life, memory: Memory) -> None:
    await life.tell("I like tea.", a_fact("User likes tea", 1, about="Tea"))
    await life.consolidate()
    [fact] = await memory.space("alice").facts.search("tea", limit=5)

    await memory.space("alice").forget(Ref(RefKind.FACT, fact.id))

    assert "likes tea" not in f"{await whole_tree(life.docs)} {await life.docs.changes.list()}"
    await life.consolidate()
    assert "~/memory/tea" not in await whole_tree(life.docs)


async def test_undoing_brings_back_what_a_run_deleted(life: Life, clock: FakeClock) -> None:
    for number in range(6):  # enough that ids of one moment sort in any order
        await life.tell(f"I like tea {number}.", a_fact(f"User likes tea {number}", 1, about=f"tea {number}"))
    await life.consolidate()
    before = {path: each.body for path, each in (await whole_tree(life.docs)).items()}
    clock.time += 40 * DAY
    await life.consolidate()
    [last, *_] = await life.docs.changes.list()

    await life.docs.changes.undo(last.run)

    assert {path: each.body for path, each in (await whole_tree(life.docs)).items()} == before


async def test_a_document_that_was_changed_since_keeps_a_run_from_being_undone(life: Life) -> None:
    await life.tell("I like tea.", a_fact("User likes tea", 1, about="Tea"))
    await life.consolidate()
    tea = await life.docs.find("~/memory/tea")
    assert tea is not None
    await life.docs.update(tea.id, DocumentDraft(slug="tea", title="Tea", body="mine", parent=tea.parent), if_version=1)
    [first] = await life.docs.changes.list()

    with pytest.raises(ConflictError, match="was changed after"):
        await life.docs.changes.undo(first.run)

    assert [each.status for each in await life.docs.changes.list()] == [ChangeStatus.APPLIED]


async def test_pending_change_set_can_be_approved_or_rejected(life: Life) -> None:
    handler = consolidator(life.database, review=True)
    await life.tell("I like tea.", a_fact("User likes tea", 1, about="Tea"))
    await life.consolidate(handler)
    [held] = await life.docs.changes.list()

    assert await whole_tree(life.docs) == {}
    assert held.status is ChangeStatus.PENDING
    assert held.changes[0].path == "~/memory/tea"
    assert ids((await life.selection()).added_summaries), "nothing counts as seen before it is approved"

    await life.docs.changes.approve(held.run)

    assert "~/memory/tea" in await whole_tree(life.docs)
    assert ids((await life.selection()).added_summaries) == []
    await life.tell("I like rain.", a_fact("User likes rain", 1, about="Rain"))
    await life.consolidate(handler)
    [second, _] = await life.docs.changes.list()
    await life.docs.changes.reject(second.run)
    assert "~/memory/rain" not in await whole_tree(life.docs)
    with pytest.raises(ConflictError):
        await life.docs.changes.approve(second.run)


@pytest.mark.spec("S2.24", "S2.41")
async def test_run_that_lost_its_lease_changes_nothing(life: Life, clock: FakeClock) -> None:
    await life.tell("I like tea.", a_fact("User likes tea", 1))
    handler = consolidator(life.database)

    [claim] = await life.database.transact(
        lambda tx: jobs.lease_jobs(
            tx, kind=JobKind.CONSOLIDATE, worker="zombie", duration=timedelta(milliseconds=1), limit=1
        )
    )
    clock.time += timedelta(microseconds=10_000)
    assert (await life.consolidate(handler)).outcomes == {Outcome.SUCCEEDED: 1}
    before = await whole_tree(life.docs)

    with pytest.raises(ConflictError):
        await handler.process(claim)

    assert await whole_tree(life.docs) == before
    assert (await life.job()).token == claim.token + 1


@pytest.mark.spec("S2.56")
async def test_sessions_are_learned_in_parallel_and_consolidated_once(life: Life, memory: Memory) -> None:
    for number in range(6):
        session = await memory.space("alice").session(conversation_key(channel="c", chat=f"x{number}"))
        await session.append(said("tea"))
        await session.checkpoint(force=True)
    handlers = {JobKind.EXTRACT: extractor(life.database, None), JobKind.CONSOLIDATE: consolidator(life.database)}

    report = await Worker(life.database, handlers, WorkerOptions()).run_once()

    assert report.leased == 7
    assert (await life.job()).status is JobStatus.WAITING
