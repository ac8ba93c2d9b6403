"""Single jobs run by name, as a fleet does, and the sweep that finds due jobs."""

from datetime import timedelta

from bethink import Memory
from bethink.model.jobs import JobKind
from bethink.store import jobs
from bethink.store.db import Database
from tests.conftest import FakeClock, said
from tests.front.test_worker import chat, crowd
from tests.rooms.learn_kit import answer, worker

HOUR = timedelta(hours=1)


async def test_named_job_runs_once(database: Database, memory: Memory) -> None:
    first, second = await crowd(memory, 2)
    work = worker(database, None)

    report, token = await work.run_job(space="space-0", kind=JobKind.EXTRACT, key=first.id)
    again, none = await work.run_job(space="space-0", kind=JobKind.EXTRACT, key=first.id)

    assert (report.leased, again.leased, again.blocked, none) == (1, 0, None, 0)
    assert token > 0
    assert [each.id for each in await memory.backend.local().marks().find_invalidated()] == [second.id]


async def test_a_job_that_another_worker_holds_is_not_run_by_its_name(database: Database, memory: Memory) -> None:
    [session] = await crowd(memory, 1)
    held = await database.transact(
        lambda tx: jobs.lease_jobs(tx, kind=JobKind.EXTRACT, worker="other", duration=HOUR, limit=1)
    )  # fmt: skip

    report, token = await worker(database, None).run_job(space="space-0", kind=JobKind.EXTRACT, key=session.id)

    assert [claim.key for claim in held] == [session.id]
    assert (report.leased, token) == (0, 0)


async def test_a_job_is_not_run_by_its_name_where_something_prevents_it(database: Database, memory: Memory) -> None:
    [session] = await crowd(memory, 1)
    capped = worker(database, lambda _: answer(), daily_cap=0)

    spent, _ = await capped.run_job(space="space-0", kind=JobKind.EXTRACT, key=session.id)
    unfit, _ = await capped.run_job(space="space-0", kind=JobKind.INDEX, key=jobs.SPACE_KEY)

    assert (spent.leased, spent.blocked) == (0, "daily_budget")
    assert (unfit.leased, unfit.blocked) == (0, "unfit")


async def test_sweep_marks_idle_sessions_and_runs_none(database: Database, memory: Memory, clock: FakeClock) -> None:
    for number in range(5):
        await (await memory.space(f"space-{number}").session(chat(number))).append(said("I like tea."))
    clock.time += 7 * HOUR
    work = worker(database, None, scan_claims=2)

    assert await work.sweep() == 5
    assert await work.sweep() == 0

    found = await database.transact(lambda tx: jobs.due(tx, kind=JobKind.EXTRACT, limit=10), read_only=True)
    assert len(found) == 5
