"""Job leases: one holder at a time, with growing tokens, on both databases."""

from datetime import timedelta

import pytest

from bethink import Memory, Session
from bethink.model.jobs import Job, JobKind, JobStatus, Lease, Outcome
from bethink.model.records import conversation_key
from bethink.store import jobs
from bethink.store.db import Database
from tests.conftest import KEY, FakeClock, many, said
from tests.rooms.learn_kit import extractor

LEASE = timedelta(minutes=1)


async def claim(database: Database, limit: int = 10, worker: str = "w") -> list[Lease]:
    return await database.transact(
        lambda tx: jobs.lease_jobs(tx, kind=JobKind.EXTRACT, worker=worker, duration=LEASE, limit=limit)
    )


async def finish(database: Database, held: Lease, **how: object) -> bool:
    fields = {"status": JobStatus.DONE, "outcome": Outcome.SUCCEEDED, "watermark": held.input_watermark} | how
    return await database.transact(
        lambda tx: jobs.finish(tx, held, **fields),  # pyright: ignore[reportArgumentType]
        space=held.space,
    )


async def job(database: Database, session: Session) -> Job:
    found = await database.transact(
        lambda tx: jobs.find(tx, space=session.space, kind=JobKind.EXTRACT, key=session.id), read_only=True
    )
    assert found is not None
    return found


@pytest.fixture
async def marked(memory: Memory, session: Session) -> Session:
    await session.append(many(6))
    return session


@pytest.mark.spec("S2.13", "S2.11", "S2.19")
async def test_leased_job_is_not_leased_again_until_expiry(
    database: Database, clock: FakeClock, marked: Session
) -> None:
    [first] = await claim(database)
    assert (first.key, first.attempts) == (marked.id, 1)
    assert await claim(database) == []

    clock.time += LEASE

    [second] = await claim(database, worker="other")
    assert (second.token, second.attempts) == (first.token + 1, 2), "a crash counts as an attempt"


async def test_heartbeat_extends_a_lease_and_reports_its_loss(
    database: Database, clock: FakeClock, marked: Session
) -> None:
    [held] = await claim(database)
    clock.time += LEASE - timedelta(seconds=1)
    assert await database.transact(lambda tx: jobs.renew_lease(tx, held, duration=LEASE))
    clock.time += LEASE - timedelta(seconds=1)
    assert await claim(database) == []
    clock.time += timedelta(seconds=2)
    assert await claim(database)

    assert not await database.transact(lambda tx: jobs.renew_lease(tx, held, duration=LEASE))


async def test_worker_that_lost_a_lease_cannot_finish_the_job(
    database: Database, clock: FakeClock, marked: Session
) -> None:
    [stale] = await claim(database)
    clock.time += LEASE
    [fresh] = await claim(database)

    assert not await finish(database, stale)
    assert (await job(database, marked)).status is JobStatus.RUNNING
    assert await finish(database, fresh)
    assert not await finish(database, fresh), "a claim ends once"


async def test_jobs_are_leased_oldest_first_up_to_the_limit(database: Database, memory: Memory) -> None:

    opened: list[str] = []
    for number in range(5):
        key = conversation_key(channel="c", chat=str(number))
        session = await memory.space(f"space-{number}").session(key)
        await session.append(many(6))
        opened.append(session.id)

    assert [each.key for each in await claim(database, limit=2)] == opened[:2]
    assert [each.key for each in await claim(database, limit=9)] == opened[2:]


async def test_previously_tried_job_is_leased_alone(database: Database, memory: Memory, clock: FakeClock) -> None:
    for number in range(4):
        key = conversation_key(channel="c", chat=str(number))
        session = await memory.space(f"space-{number}").session(key)
        await session.append(many(6))
    assert len(await claim(database, limit=3)) == 3
    clock.time += LEASE

    taken = [len(await claim(database, limit=9)) for _ in range(5)]

    assert taken == [1, 1, 1, 1, 0]


async def test_an_open_session_without_a_mark_is_not_claimed(database: Database, session: Session) -> None:
    assert (await job(database, session)).status is JobStatus.WAITING
    assert await claim(database) == []


async def test_new_message_revives_an_abandoned_job(database: Database, memory: Memory, marked: Session) -> None:
    [held] = await claim(database)
    await _fail(database, held, JobStatus.ABANDONED)
    assert await claim(database) == []
    assert [each.id for each in await memory.backend.local().marks().find_invalidated()] == [marked.id], (
        "it is still marked"
    )

    await marked.append(said("something new"))

    [again] = await claim(database)
    assert (again.attempts, again.token) == (1, held.token + 1)


async def test_new_message_ends_the_backoff_of_a_failed_job(
    database: Database, memory: Memory, marked: Session
) -> None:
    [held] = await claim(database)
    await _fail(database, held, JobStatus.FAILED)
    assert await claim(database) == []

    await marked.append(said("something new"))

    assert len(await claim(database)) == 1


@pytest.mark.parametrize("claimed", [False, True])
async def test_a_job_from_a_clock_that_was_ahead_is_due_with_something_new(
    database: Database, memory: Memory, clock: FakeClock, claimed: bool
) -> None:
    now = clock.time
    clock.time += timedelta(days=400)
    session = await memory.space("alice").session(KEY)
    await session.append(many(6))
    ahead = await claim(database) if claimed else []
    clock.time = now
    assert await claim(database) == []

    await session.append(said("one more"))

    [held] = await claim(database)
    assert held.key == session.id
    assert all(held.token > each.token for each in ahead)


async def test_a_job_that_fails_while_something_new_was_marked_is_tried_at_once(
    database: Database, memory: Memory, session: Session
) -> None:
    await session.append(many(2))
    await session.checkpoint(force=True)
    [held] = await claim(database)
    await session.append(many(1))
    await session.checkpoint(force=True)

    await _fail(database, held, JobStatus.FAILED)

    assert len(await claim(database)) == 1


async def test_processed_mark_revokes_a_lease(database: Database, memory: Memory, marked: Session) -> None:
    [held] = await claim(database)

    assert await memory.backend.local().marks().mark_processed(marked.info, until=6, expected=6)

    assert not await finish(database, held)
    assert await claim(database) == []


async def test_forget_revokes_a_lease(database: Database, memory: Memory, marked: Session) -> None:
    [held] = await claim(database)
    await memory.space("alice").forget(conversation=KEY)

    assert not await finish(database, held)


async def test_abandoned_job_can_be_retried(database: Database, memory: Memory, marked: Session) -> None:
    assert not await memory.space("alice").sessions.relearn(marked.id)
    [held] = await claim(database)
    await _fail(database, held, JobStatus.ABANDONED)

    assert await memory.space("alice").sessions.relearn(marked.id)

    [again] = await claim(database)
    assert again.attempts == 1


async def _fail(database: Database, held: Lease, status: JobStatus) -> None:

    await extractor(database, None).fail(held, status=status, delay=timedelta(days=10), attempts=None, error="Boom")
