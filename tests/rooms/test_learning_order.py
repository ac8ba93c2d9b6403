"""Sessions of one space are learned one at a time, in the order they were said; spaces do not wait for each other."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta

import anyio
import pytest

from bethink import Memory, Message, Session
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.jobs import JobKind, JobStatus, Lease, Outcome
from bethink.model.records import conversation_key
from bethink.providers.scripted_model import ScriptedModel
from bethink.store import jobs
from bethink.store.db import Database
from tests.conftest import FakeClock, said
from tests.rooms.learn_kit import answer, marked, worker

DAY, LEASE = timedelta(days=1), timedelta(minutes=1)
Reply = Callable[[ModelCall], str]


async def imported(memory: Memory, clock: FakeClock, space: str, *ages: int, texts: int = 1) -> list[Session]:
    """One marked session for each age in days, stored in this order."""
    sessions: list[Session] = []
    for age in ages:
        session = await memory.space(space).session(conversation_key(channel="c", chat=str(age)))
        await session.append([from_the_past(clock, age, f"Story {age} of {space}.") for _ in range(texts)])
        await session.checkpoint(force=True)
        sessions.append(session)
    return sessions


def from_the_past(clock: FakeClock, age: int, text: str) -> Message:
    return Message(role="user", content=text, said_at=clock.time - age * DAY)


def recording(stories: list[str]) -> Reply:
    """A model that notes which story is new to it."""

    def reply(call: ModelCall) -> str:
        new = re.search(r"Story (\d+) of (\w+)", call.prompt.partition("New:")[2])
        stories.append(f"{new[2]}{new[1]}" if new else "")
        return answer()

    return reply


async def lease(database: Database, limit: int = 10, space: str | None = None) -> list[Lease]:
    return await database.transact(
        lambda tx: jobs.lease_jobs(
            tx, kind=JobKind.EXTRACT, worker="w", duration=LEASE, limit=limit, space=space
        )
    )  # fmt: skip


async def end(database: Database, held: Lease, status: JobStatus, due: datetime | None = None) -> bool:
    outcome = Outcome.SUCCEEDED if status is JobStatus.DONE else Outcome.FAILED
    return await database.transact(
        lambda tx: jobs.finish(tx, held, status=status, outcome=outcome, due=due), space=held.space
    )


@pytest.mark.parametrize("space", [None, "alice"])
async def test_imported_sessions_are_learned_in_said_order(
    database: Database, memory: Memory, clock: FakeClock, space: str | None
) -> None:
    await imported(memory, clock, "alice", 2, 3, 1)
    stories: list[str] = []

    report = await worker(database, recording(stories)).run_once(space=space)

    assert stories == ["alice3", "alice2", "alice1"]
    assert report.leased == 3


async def test_order_within_a_space_leaves_others_parallel(
    database: Database, memory: Memory, clock: FakeClock
) -> None:
    await imported(memory, clock, "alice", 1, 2, 3)
    await imported(memory, clock, "bob", 1, 2)
    leases = await lease(database)

    assert sorted(held.space for held in leases) == ["alice", "bob"]
    assert await lease(database) == []
    assert await lease(database, space="alice") == []
    assert await end(database, next(held for held in leases if held.space == "bob"), JobStatus.DONE)
    assert [held.space for held in await lease(database)] == ["bob"]


async def test_long_backlog_of_a_space_does_not_block_others(
    database: Database, memory: Memory, clock: FakeClock
) -> None:
    await imported(memory, clock, "alice", *range(20))
    await imported(memory, clock, "bob", 1)

    assert {held.space for held in await lease(database, limit=2)} == {"alice", "bob"}


@pytest.mark.parametrize("status", [JobStatus.FAILED, JobStatus.ABANDONED])
async def test_failed_session_does_not_block_its_space(
    database: Database, memory: Memory, clock: FakeClock, status: JobStatus
) -> None:
    first, second = await imported(memory, clock, "alice", 2, 1)
    [held] = await lease(database)
    assert held.key == first.id
    assert await end(database, held, status, None if status is JobStatus.ABANDONED else clock.time + DAY)

    [held] = await lease(database)

    assert held.key == second.id
    assert await end(database, held, JobStatus.DONE)
    assert await lease(database) == []
    clock.time += 2 * DAY
    assert [held.key for held in await lease(database)] == ([first.id] if status is JobStatus.FAILED else [])


async def test_due_retry_goes_before_sessions_said_later(database: Database, memory: Memory, clock: FakeClock) -> None:
    first, second = await imported(memory, clock, "alice", 2, 1)
    [held] = await lease(database)
    assert await end(database, held, JobStatus.FAILED, clock.time + LEASE / 2)
    clock.time += LEASE

    assert [held.key for held in await lease(database)] == [first.id]
    assert await lease(database) == []
    assert second.id != first.id


async def test_due_retries_of_a_space_are_leased_in_said_order(
    database: Database, memory: Memory, clock: FakeClock
) -> None:
    late, early = await imported(memory, clock, "alice", 1, 2)
    for session in (early, late):
        [held] = await lease(database)
        assert held.key == session.id
        assert await end(database, held, JobStatus.FAILED, clock.time + LEASE / 2)
    clock.time += LEASE

    [held] = await lease(database)

    assert held.key == early.id


async def test_expired_lease_is_taken_over_before_any_other(
    database: Database, memory: Memory, clock: FakeClock
) -> None:
    """Its worker may still be busy with it: another session would be learned next to it."""
    [late] = await imported(memory, clock, "alice", 1)
    [first] = await lease(database)
    await imported(memory, clock, "alice", 5)
    clock.time += LEASE

    [second] = await lease(database)

    assert (second.key, second.token) == (late.id, first.token + 1)
    assert not await end(database, first, JobStatus.DONE)


async def test_named_job_is_leased_only_at_its_turn(database: Database, memory: Memory, clock: FakeClock) -> None:
    late, early = await imported(memory, clock, "alice", 1, 2)

    async def named(session: Session) -> list[Lease]:
        return await database.transact(
            lambda tx: jobs.lease_job(
                tx, space="alice", kind=JobKind.EXTRACT, key=session.id, worker="w", duration=LEASE
            )
        )

    due = await database.transact(lambda tx: jobs.due(tx, kind=JobKind.EXTRACT, limit=10), read_only=True)
    assert [key for _, key, _ in due] == [early.id]
    assert await named(late) == []
    [held] = await named(early)
    assert await named(late) == []
    assert await end(database, held, JobStatus.DONE)
    assert [held.key for held in await named(late)] == [late.id]


async def test_nothing_is_due_while_a_session_of_the_space_is_learned(
    database: Database, memory: Memory, clock: FakeClock
) -> None:
    """Otherwise workers that wait would ask again and again."""
    await imported(memory, clock, "alice", 1, 2)

    async def any_due() -> bool:
        return await database.transact(lambda tx: jobs.any_due(tx, kind=JobKind.EXTRACT), read_only=True)

    assert await any_due()
    [held] = await lease(database)
    assert not await any_due()
    assert await end(database, held, JobStatus.DONE)
    assert await any_due()


async def test_session_is_ordered_by_its_first_unlearned_message(
    database: Database, memory: Memory, clock: FakeClock
) -> None:
    [old] = await imported(memory, clock, "alice", 9)
    await worker(database, recording([])).run_once()
    await imported(memory, clock, "alice", 5)
    await old.append([from_the_past(clock, 1, "Story 1 of alice.")])
    await old.checkpoint(force=True)
    stories: list[str] = []

    await worker(database, recording(stories)).run_once()

    assert stories == ["alice5", "alice1"]


async def test_messages_beyond_the_threshold_are_ordered_by_said_time(
    database: Database, memory: Memory, clock: FakeClock
) -> None:
    """The append itself queues the job: its messages are already stored by then."""
    await imported(memory, clock, "alice", 5)
    session = await memory.space("alice").session(conversation_key(channel="c", chat="long"))
    await session.append([from_the_past(clock, 7, "Story 7 of alice.") for _ in range(6)])

    [held] = await lease(database)

    assert held.key == session.id


async def test_session_that_went_on_is_learned_in_said_order(
    database: Database, memory: Memory, clock: FakeClock
) -> None:
    """What was said in it during its extraction comes after another session that was said before."""
    [long] = await imported(memory, clock, "alice", 9)
    await imported(memory, clock, "alice", 5)
    stories: list[str] = []

    class Slow(ScriptedModel):
        async def answer(self, call: ModelCall) -> ModelAnswer:
            if not stories:
                await long.append([from_the_past(clock, 1, "Story 1 of alice.")])
                await long.checkpoint(force=True)
            return await super().answer(call)

    await worker(database, Slow(recording(stories))).run_once()

    assert stories == ["alice9", "alice5", "alice1"]


async def test_many_workers_learn_each_space_in_said_order(
    database: Database, memory: Memory, clock: FakeClock
) -> None:
    spaces = ("alice", "bob", "carla")
    for space in spaces:
        await imported(memory, clock, space, 4, 2, 5, 1, 3)
    stories: list[str] = []

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(worker(database, recording(stories)).run_once)
    await worker(database, recording(stories)).run_once()

    for space in spaces:
        assert [story for story in stories if story.startswith(space)] == [f"{space}{age}" for age in (5, 4, 3, 2, 1)]


async def test_new_message_of_a_learned_session_is_due_again(database: Database, memory: Memory) -> None:
    session = await memory.space("alice").session(conversation_key(channel="c", chat="1"))
    await marked(memory, session, "I like tea.")
    await worker(database, [answer()]).run_once()
    await session.append(said("And rain."))
    assert await lease(database) == []
    await session.checkpoint(force=True)
    assert [held.key for held in await lease(database)] == [session.id]
