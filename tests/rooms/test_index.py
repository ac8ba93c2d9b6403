"""Background indexing: what is embedded when, how texts are split, and how failures are handled."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial

import anyio
import pytest
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from bethink import Fact, Memory, Message, Session
from bethink.errors import BethinkError, DatabaseUnavailableError, LeaseLostError, ModelUnavailableError
from bethink.extend import TextKind
from bethink.jobs.worker import Worker, WorkerOptions
from bethink.memory.recall import index as indexing
from bethink.memory.recall.index import Indexer
from bethink.memory.recall.passages import parts_of
from bethink.memory.recall.reindex import Vectors, switch_when_full
from bethink.model.documents import DocumentDraft
from bethink.model.jobs import Job, JobKind, JobStatus, Lease, Outcome
from bethink.model.records import conversation_key
from bethink.model.refs import Ref, RefKind
from bethink.store import jobs, vectors
from bethink.store.db import Database
from bethink.store.sql import Dialect
from bethink.store.vectors import IndexStatus
from tests.conftest import KEY, FakeClock, said
from tests.rooms.recall_kit import with_vectors
from tests.rooms.vector_kit import DIMENSION, Hashed, index_all, index_of, left_out, nearest, refs

pytestmark = pytest.mark.pgvector

HOUR = timedelta(hours=1)


async def job_of(memory: Memory, space: str = "alice") -> Job:
    [job] = [each for each in await memory.space(space).admin.jobs.list() if each.kind is JobKind.INDEX]
    return job


async def claim_of(database: Database) -> Lease:
    [claim] = await database.transact(
        lambda tx: jobs.lease_jobs(tx, kind=JobKind.INDEX, worker="another", duration=HOUR, limit=1)
    )
    return claim


class Down:
    """An embedder that is away."""

    name = "hashed"
    dimension = DIMENSION

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "message") -> list[Sequence[float]]:
        raise ModelUnavailableError("nobody answers")


@given(st.text(alphabet="aä. \n東。?!", max_size=40_000))
def test_the_parts_of_a_text_are_the_text_from_its_beginning(text: str) -> None:
    parts = parts_of(text)

    assert 1 <= len(parts) <= 8
    assert all(0 < len(part) <= 1_200 for part in parts) or not text.strip()
    whole, kept = "".join(text.split()), "".join("".join(parts).split())
    assert whole.startswith(kept)
    assert kept == whole or len(parts) == 8


def test_a_text_is_cut_where_a_paragraph_ends_or_a_sentence_or_a_word() -> None:
    sentence = "The rain in Bergen falls for days. "
    paragraph = sentence * 25

    assert parts_of(f"  {sentence}") == [sentence.strip()]
    assert parts_of(f"{paragraph}\n\n{paragraph}") == [paragraph.strip()] * 2
    assert all(part.endswith("days.") for part in parts_of(sentence * 100))
    assert all(part.endswith("tea") for part in parts_of("tea " * 1_000))
    assert [len(part) for part in parts_of("x" * 2_500)] == [1_000, 1_000, 500]
    assert [len(part) for part in parts_of("x" * 20_000)] == [1_000] * 8
    assert parts_of(" ") == [""]


async def test_every_item_of_a_space_is_embedded_and_found(
    database: Database, memory: Memory, session: Session
) -> None:
    await session.append([Message(role="user", content="green tea", name="Ana")])
    await memory.space("alice").facts.save(Fact(id="f", text="Ana likes tea"))
    document = await memory.space("alice").documents.create(DocumentDraft(slug="tea", title="Tea", body="Green."))
    embedder = Hashed()

    report = await index_all(database, embedder)

    assert (report.leased, report.outcomes) == (1, {Outcome.SUCCEEDED: 1})
    assert report.settled == {"embedded": 3}
    assert embedder.asked == [["Tea\n\nGreen.", "Ana likes tea", "green tea"]]
    assert document is not None
    assert (await nearest(database, "tea green."))[0].ref == Ref(RefKind.DOCUMENT, document.id, 1)
    assert await left_out(database) == []


async def test_embedder_is_told_which_texts_are_questions(database: Database, memory: Memory) -> None:
    await memory.space("alice").facts.save(Fact(id="f", text="Ana likes tea"))
    embedder = Hashed()

    await index_all(database, embedder)
    await with_vectors(database, embedder).space("alice").recall("What does Ana like?")

    assert embedder.kinds == ["message", "question"]


async def test_index_job_is_queued_by_additions_not_by_each_message(
    database: Database, memory: Memory, session: Session
) -> None:
    async def promised() -> bool:
        due = (await job_of(memory)).status is JobStatus.QUEUED
        await index_all(database)
        return due

    assert await promised(), "a session was opened"
    await session.append(said("one"))
    assert not await promised()
    await memory.space("alice").facts.save(Fact(id="f", text="tea"))
    assert await promised()
    await memory.space("alice").facts.save(Fact(id="f", text="tea"))
    assert not await promised(), "nothing new"
    await memory.space("alice").documents.create(DocumentDraft(slug="a", title="A"))
    assert await promised()
    await session.append(said("two"))
    await session.checkpoint(force=True)
    assert await promised()
    ended = await memory.space("alice").session(KEY)
    await ended.end()
    assert await promised()


async def test_messages_within_an_open_session_are_indexed_by_scans(
    database: Database, memory: Memory, session: Session, clock: FakeClock
) -> None:
    await index_all(database)
    await session.append(said("green tea"))
    assert (await index_all(database)).leased == 0

    clock.time += HOUR
    report = await index_all(database)

    assert (report.scanned, report.queued, report.leased) == (1, 1, 1)
    assert await left_out(database) == []
    clock.time += HOUR
    assert (await index_all(database)).queued == 0
    due = (await job_of(memory)).due_at
    assert due is not None
    assert due > clock.time + 20 * HOUR, "nothing came, so it is looked at more rarely"
    await session.end()
    await index_all(database)
    assert (await job_of(memory)).status is JobStatus.DONE


async def test_long_text_is_found_by_any_part(database: Database, memory: Memory) -> None:
    body = "\n\n".join(("rain " * 180, "tea " * 200, "snow " * 180))
    await memory.space("alice").facts.save(Fact(id="long", text=body))
    await memory.space("alice").facts.save(Fact(id="short", text="tea for two"))

    await index_all(database)

    assert [(each.ref.id, each.part) for each in (await nearest(database, "tea"))[:2]] == [("long", 1), ("short", 0)]


async def test_texts_are_embedded_in_batches_with_parts_together(
    database: Database, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "_MAX_TEXTS", 4)
    for number in range(5):
        await memory.space("alice").facts.save(Fact(id=str(number), text="x" * 2_200))
    embedder = Hashed()
    handler = Indexer(database=database, embedder=embedder, batch=5)

    await Worker(database, {JobKind.INDEX: handler}, WorkerOptions(daily_cap=None)).run_once()

    assert [len(texts) for texts in embedder.asked] == [4, 4, 2]
    assert len(await refs(database)) == 5


async def test_unavailable_embedder_delays_indexing_without_loss(
    database: Database, memory: Memory, clock: FakeClock
) -> None:
    await memory.space("alice").facts.save(Fact(id="f", text="tea"))

    report = await index_all(database, Down())

    job = await job_of(memory)
    assert report.outcomes == {"failed": 1}
    assert (job.status, job.attempts) == (JobStatus.FAILED, 0)
    assert job.last_error is not None
    assert job.last_error.startswith("ModelUnavailableError: nobody answers")
    clock.time += HOUR
    assert (await index_all(database)).outcomes == {Outcome.SUCCEEDED: 1}


@pytest.mark.parametrize("answer", [[], [[1.0]]])
async def test_embedder_with_invalid_answers_abandons_the_job(
    database: Database, memory: Memory, clock: FakeClock, answer: list[list[float]]
) -> None:
    class Odd(Hashed):
        async def embed(self, texts: Sequence[str], *, kind: TextKind = "message") -> list[Sequence[float]]:
            return list(answer)

    await memory.space("alice").facts.save(Fact(id="f", text="tea"))

    for _ in range(5):
        await index_all(database, Odd())
        clock.time += 24 * HOUR

    assert (await job_of(memory)).status is JobStatus.ABANDONED
    await memory.space("alice").facts.save(Fact(id="g", text="rain"))
    await index_all(database)
    assert len(await refs(database)) == 2


async def test_item_added_during_indexing_is_indexed_next(database: Database, memory: Memory) -> None:
    facts = memory.space("alice").facts
    await facts.save(Fact(id="f", text="tea"))
    slow = Hashed(during=lambda: facts.save(Fact(id="g", text="rain")))

    await index_all(database, slow)

    assert (await job_of(memory)).status is JobStatus.QUEUED
    assert len(await refs(database)) == 1
    await index_all(database)
    assert len(await refs(database)) == 2


async def test_failed_indexing_keeps_newly_queued_work(database: Database, memory: Memory) -> None:
    facts = memory.space("alice").facts

    async def fail() -> None:
        await facts.save(Fact(id="g", text="rain"))
        raise ModelUnavailableError("gone")

    await facts.save(Fact(id="f", text="tea"))
    await index_all(database, Hashed(during=fail))

    job = await job_of(memory)
    assert (job.status, job.attempts) == (JobStatus.QUEUED, 0)


async def test_item_deleted_during_indexing_gets_no_vector(
    database: Database, memory: Memory, session: Session
) -> None:
    await session.append(said("secret"))
    await memory.space("alice").facts.save(Fact(id="f", text="tea"))
    purging = Hashed(during=lambda: memory.space("alice").forget(conversation=KEY))

    report = await index_all(database, purging)

    assert report.leases_lost == 1
    assert await refs(database) == set()
    await index_all(database)
    assert await refs(database) == {Ref(RefKind.FACT, "f", 1)}


async def test_indexer_that_lost_its_lease_stores_nothing(database: Database, memory: Memory, clock: FakeClock) -> None:
    await memory.space("alice").facts.save(Fact(id="f", text="tea"))
    zombie = await claim_of(database)
    clock.time += 2 * HOUR
    stolen = await claim_of(database)
    embedder = Hashed()

    with pytest.raises(LeaseLostError):
        await Indexer(database=database, embedder=embedder).process(zombie)

    assert await refs(database) == set()
    await Indexer(database=database, embedder=embedder).process(stolen)
    assert len(await refs(database)) == 1


async def test_two_workers_fill_many_spaces_and_every_text_is_embedded_once(database: Database, memory: Memory) -> None:
    for number in range(8):
        await memory.space(f"space{number}").facts.save(Fact(id="f", text="tea"))
    embedder = Hashed()

    async with anyio.create_task_group() as tasks:
        for _ in range(2):
            tasks.start_soon(partial(index_all, database, embedder, batch=4))
    await index_all(database, embedder)

    assert sum(len(texts) for texts in embedder.asked) == 8
    assert not await database.transact(vectors.has_pending)


async def test_index_is_live_once_every_space_is_done(database: Database, memory: Memory) -> None:
    async def status(name: str) -> IndexStatus | None:
        known = {each.embedder: each.status for each in await database.transact(vectors.indexes)}
        return known.get(name)

    for space in ("alice", "bob"):
        await memory.space(space).facts.save(Fact(id="f", text="tea"))
    await index_all(database, Hashed("old"))
    assert await status("old") is IndexStatus.LIVE

    index = await Vectors(database, Hashed("new")).reindex()
    assert (await status("old"), await status("new")) == (IndexStatus.LIVE, IndexStatus.FILLING)
    await index_all(database, Hashed("new"), batch=1, scan_claims=0)
    assert not await switch_when_full(database, index)
    assert (await status("old"), await status("new")) == (IndexStatus.LIVE, IndexStatus.FILLING)
    await index_all(database, Hashed("new"))

    assert (await status("old"), await status("new")) == (IndexStatus.RETIRED, IndexStatus.LIVE)
    assert await switch_when_full(database, index)
    old = next(each for each in await database.transact(vectors.indexes) if each.embedder == "old")
    assert not await switch_when_full(database, old)
    assert await Vectors(database, Hashed("new")).drop_retired() == ["old"]
    assert await Vectors(database, Hashed("new")).drop_retired() == []
    await memory.space("alice").facts.save(Fact(id="g", text="cats"))
    await index_all(database, Hashed("old"))
    assert (await status("old"), await status("new")) == (IndexStatus.RETIRED, IndexStatus.LIVE), "not revived"


async def test_reindex_reports_progress(database: Database, memory: Memory) -> None:
    await memory.space("alice").facts.save(Fact(id="f", text="tea"))
    seen: list[int] = []

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(Vectors(database, Hashed()).reindex, progress=seen.append))
        while not seen:
            await checkpoint()
        await index_all(database)

    assert (seen[0], seen[-1]) == (1, 0)
    assert len(await refs(database)) == 1


async def test_a_worker_with_an_older_embedder_leaves_the_work_to_the_newer(
    database: Database, memory: Memory, clock: FakeClock
) -> None:
    await memory.space("alice").facts.save(Fact(id="f", text="tea"))
    await index_all(database, Hashed("old"))
    await Vectors(database, Hashed("new")).reindex()

    await index_all(database, Hashed("old"))
    assert (await job_of(memory)).status is JobStatus.QUEUED, "it is not done for the new one"
    clock.time += HOUR
    await index_all(database, Hashed("new"))
    assert await database.transact(vectors.has_pending) is False

    await memory.space("alice").facts.save(Fact(id="g", text="rain"))
    retired = Hashed("old")
    await index_all(database, retired)
    assert retired.asked == []
    assert (await job_of(memory)).status is JobStatus.QUEUED
    clock.time += HOUR
    await index_all(database, Hashed("new"))
    assert await left_out_of(database, "new") == 0


async def test_automatic_embedder_leaves_chosen_vectors_in_use(
    database: Database, memory: Memory, clock: FakeClock
) -> None:
    class Automatic(Hashed):
        automatic = True

    await memory.space("alice").facts.save(Fact(id="f", text="tea"))
    await index_all(database, Hashed("chosen"))
    await memory.space("alice").facts.save(Fact(id="g", text="rain"))
    automatic = Automatic("automatic")

    await index_all(database, automatic)
    assert automatic.asked == []
    assert [each.embedder for each in await database.transact(vectors.indexes)] == ["chosen"]
    assert (await job_of(memory)).status is JobStatus.QUEUED, "a worker with the other embedder finds it"
    clock.time += HOUR
    await index_all(database, Hashed("chosen"))
    assert await left_out_of(database, "chosen") == 0

    await Vectors(database, automatic).reindex()
    await index_all(database, automatic)
    assert await left_out_of(database, "automatic") == 0


async def left_out_of(database: Database, name: str) -> int:
    index = await index_of(database, name)
    counts = await database.transact(
        lambda tx: vectors.counts(tx, space="alice", index=index), space="alice", read_only=True
    )
    return counts[1]


async def test_returning_to_an_embedder_fills_only_what_came_since(database: Database, memory: Memory) -> None:
    facts = memory.space("alice").facts
    for name, fact in (("old", "f"), ("new", "g")):
        await facts.save(Fact(id=fact, text="tea"))
        await Vectors(database, Hashed(name)).reindex()
        await index_all(database, Hashed(name))

    again = Hashed("old")
    await Vectors(database, again).reindex()
    await index_all(database, again)

    assert again.asked == [["tea"]]
    assert await left_out_of(database, "old") == 0


async def test_only_a_server_builds_an_index_for_a_space_that_has_grown(database: Database, memory: Memory) -> None:
    await memory.space("alice").facts.save(Fact(id="f", text="tea"))
    await index_all(database)

    grown = await Vectors(database, Hashed()).grow(space="alice", above=0)

    assert grown is (database.dialect is Dialect.POSTGRES)
    assert not await Vectors(database, Hashed()).grow(space="alice")
    if database.dialect is Dialect.SQLITE:
        with pytest.raises(BethinkError, match="cannot run statements outside of transactions"):
            await database.run_alone("VACUUM")


async def test_a_worker_builds_an_index_for_a_space_that_has_grown_once(
    database: Database, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements: list[str] = []
    run_alone = database.run_alone

    async def watched(statement: str) -> None:
        statements.append(statement)
        await run_alone(statement)

    monkeypatch.setattr(database, "run_alone", watched)
    facts = memory.space("alice").facts
    handler = Indexer(database=database, embedder=Hashed(), index_above=2)
    worker = Worker(database, {JobKind.INDEX: handler}, WorkerOptions(daily_cap=None))

    built: list[int] = []
    for number in range(5):
        await facts.save(Fact(id=str(number), text=f"tea {number}"))
        await worker.run_once()
        built.append(len(statements))
    await worker.run_once()

    postgres = database.dialect is Dialect.POSTGRES
    assert built == ([0, 0, 0, 1, 1] if postgres else [0] * 5), "with the job after the third vector was stored"
    assert all("USING hnsw" in statement and "'alice'" in statement for statement in statements)
    assert len(await nearest(database, "tea 4")) == 5


async def test_a_space_is_embedded_although_its_large_index_cannot_be_built(
    database: Database, memory: Memory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def refuse(statement: str) -> None:
        raise DatabaseUnavailableError("the disk is full")

    monkeypatch.setattr(database, "run_alone", refuse)
    facts = memory.space("alice").facts
    handler = Indexer(database=database, embedder=Hashed(), index_above=0)
    for number in range(2):
        await facts.save(Fact(id=str(number), text="tea"))
        await Worker(database, {JobKind.INDEX: handler}, WorkerOptions(daily_cap=None)).run_once()

    assert len(await refs(database)) == 2
    assert ("the disk is full" in caplog.text) is (database.dialect is Dialect.POSTGRES)


async def test_worker_without_an_embedder_has_no_overdue_index_jobs(
    database: Database, memory: Memory, clock: FakeClock
) -> None:
    await memory.space("alice").facts.save(Fact(id="f", text="tea"))
    clock.time += 24 * HOUR

    audit = await Worker(database, {}, WorkerOptions()).audit()

    assert (audit.overdue, audit.counts[JobKind.INDEX][JobStatus.QUEUED]) == (0, 1)


async def test_sessions_without_learning_are_embedded(database: Database, memory: Memory) -> None:
    session = await memory.space("alice").session(conversation_key(channel="c", chat="x"), ephemeral=True)
    await session.append(said("tea"))
    await session.end()

    await index_all(database)

    assert await refs(database) == {Ref(RefKind.MESSAGE, session.id, 1)}
