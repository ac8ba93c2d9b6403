"""The worker: which jobs it takes and when, and that no failure stops it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import pytest
from anyio.from_thread import BlockingPortal

from bethink import Memory, Session
from bethink.config.settings import Settings
from bethink.errors import DatabaseBusyError, DatabaseUnavailableError
from bethink.jobs.worker import Handler, Worker, WorkerOptions
from bethink.memory.learning.extraction.idle import IdleRules
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.jobs import JobKind, JobResult, JobStatus, Lease, Outcome
from bethink.model.records import conversation_key
from bethink.providers.scripted_model import ScriptedModel
from bethink.store import jobs
from bethink.store.db import Database, Tx
from bethink.types import AgentKind
from tests.conftest import KEY, FakeClock, many, said
from tests.rooms.learn_kit import a_fact, answer, extractor, worker

HOUR = timedelta(hours=1)


def chat(number: int) -> str:
    return conversation_key(channel="cli", chat=str(number))


async def crowd(memory: Memory, count: int, **where: str) -> list[Session]:
    """So many marked sessions, each in a space of its own."""
    opened = [await memory.space(f"space-{number}").session(chat(number)) for number in range(count)]
    for session in opened:
        await session.append(many(6))
    return opened


class Recording:
    """A handler that notes what it is given."""

    def __init__(self, inner: Handler, noted: list[str], word: str) -> None:
        self.inner, self.noted, self.word = inner, noted, word

    async def process(self, lease: Lease) -> JobResult:
        self.noted.append(self.word)
        return await self.inner.process(lease)

    async def fail(
        self, lease: Lease, *, status: JobStatus, delay: timedelta, attempts: int | None, error: str
    ) -> None:
        await self.inner.fail(lease, status=status, delay=delay, attempts=attempts, error=error)

    def look(self, tx: Tx, *, space: str, key: str) -> bool:
        return self.inner.look(tx, space=space, key=key)


@pytest.mark.spec("S0.18", "S0.19", "S1.3", "S1.4")
def test_worker_defaults_are_those_of_the_specification() -> None:
    options, settings = WorkerOptions(), Settings()

    assert (options.interval, options.batch, options.concurrency) == (30.0, 10, 8)
    assert (settings.worker.interval, settings.worker.batch, settings.worker.concurrency) == (30.0, 10, 8)
    assert (options.scan_limit, options.scan_claims) == (settings.scan.limit, settings.scan.claims) == (5000, 16)
    assert (IdleRules().idle_hours, IdleRules().age_days) == (6, 30)
    assert (settings.scan.idle_hours, settings.scan.age_days) == (6, 30)
    assert options.daily_cap == settings.learning.daily_budget * 1_000_000


@pytest.mark.spec("S0.19", "S1.4", "S2.12")
async def test_worker_run_takes_ten_sessions_at_a_time(database: Database, memory: Memory) -> None:
    await crowd(memory, 12)
    work = worker(database, None)

    assert [(await work.run_once()).leased for _ in range(3)] == [10, 2, 0]
    assert await memory.backend.local().marks().find_invalidated() == []


@pytest.mark.spec("S2.15")
async def test_no_more_than_the_cap_are_worked_on_at_once(database: Database, memory: Memory) -> None:
    await crowd(memory, 10)
    running = most = 0
    full = anyio.Event()

    class Crowded(ScriptedModel):
        async def answer(self, call: ModelCall) -> ModelAnswer:
            nonlocal running, most
            running += 1
            most = max(most, running)
            if most == 3:
                full.set()
            with anyio.fail_after(10):
                await full.wait()
            running -= 1
            return await super().answer(call)

    report = await worker(database, Crowded(lambda _: answer()), concurrency=3).run_once()

    assert report.outcomes == {Outcome.SUCCEEDED: 10}
    assert most == 3


@pytest.mark.spec("S0.23")
async def test_worker_uses_a_custom_handler(database: Database, memory: Memory) -> None:
    await crowd(memory, 2)
    noted: list[str] = []
    handler = Recording(extractor(database, None), noted, "mine")

    await Worker(database, {JobKind.EXTRACT: handler}, WorkerOptions()).run_once()

    assert noted == ["mine", "mine"]


@pytest.mark.spec("S2.7")
async def test_sessions_are_learned_before_spaces_are_consolidated(database: Database, memory: Memory) -> None:
    await crowd(memory, 3)
    noted: list[str] = []

    class Settling(Recording):
        async def process(self, lease: Lease) -> JobResult:
            self.noted.append(f"{self.word} {lease.key}")
            await database.transact(lambda tx: jobs.finish(tx, lease, status=JobStatus.DONE, outcome=Outcome.SUCCEEDED))
            return JobResult(outcome=Outcome.SUCCEEDED)

    inner = extractor(database, None)
    handlers = {
        JobKind.CONSOLIDATE: Settling(inner, noted, "settle"),
        JobKind.EXTRACT: Recording(inner, noted, "learn"),
    }
    await Worker(database, handlers, WorkerOptions()).run_once()

    assert noted == ["learn"] * 3 + ["settle space"] * 3


async def test_one_session_that_fails_does_not_hold_up_the_others(database: Database, memory: Memory) -> None:
    sessions = await crowd(memory, 4)
    await sessions[1].append(said("explode"))

    def moody(call: ModelCall) -> str:
        if "explode" in call.prompt:
            raise ZeroDivisionError("a bug in a plugin")
        return answer()

    report = await worker(database, moody).run_once()

    assert report.outcomes == {Outcome.SUCCEEDED: 3, "failed": 1}
    [failed] = [job for job in await memory.space("space-1").admin.jobs.list() if job.kind is JobKind.EXTRACT]
    assert (failed.status, failed.last_error) == (JobStatus.FAILED, "ZeroDivisionError")


@pytest.mark.spec("S2.8", "S2.9", "S2.10")
async def test_worker_learns_idle_sessions_without_a_mark(database: Database, memory: Memory, clock: FakeClock) -> None:
    quiet = await memory.space("alice").session(chat(1))
    await quiet.append(said("I like tea."))
    helper = await memory.space("alice").session(chat(2), agent="h", kind=AgentKind.SUBAGENT)
    await helper.append(said("internal"))
    secret = await memory.space("alice").session(chat(3), ephemeral=True)
    await secret.append(said("off the record"))
    clock.time += 5 * HOUR
    fresh = await memory.space("alice").session(chat(4))
    await fresh.append(said("just now"))
    clock.time += 1.5 * HOUR

    report = await worker(database, None).run_once()

    assert (report.queued, report.leased) == (1, 1)
    assert await quiet.summary() is not None
    for other in (helper, secret, fresh):
        assert await other.summary() is None
    clock.time += 6 * HOUR
    await worker(database, None).run_once()
    assert await fresh.summary() is not None, "it is looked at again when its time has come"


@pytest.mark.spec("S2.9")
async def test_session_idle_for_too_long_is_not_learned(database: Database, memory: Memory, clock: FakeClock) -> None:
    session = await memory.space("alice").session(KEY)
    await session.append(said("long ago"))
    clock.time += 31 * 24 * HOUR

    assert (await worker(database, None).run_once()).queued == 0
    [job] = [each for each in await memory.space("alice").admin.jobs.list() if each.kind is JobKind.EXTRACT]
    assert (job.status, job.due_at) == (JobStatus.DONE, None)
    assert (await worker(database, None).audit()).violations == 0


async def test_session_resumed_after_a_month_is_learned_again(
    database: Database, memory: Memory, clock: FakeClock
) -> None:
    session = await memory.space("alice").session(KEY)
    await session.append(said("long ago"))
    clock.time += 31 * 24 * HOUR
    await worker(database, None).run_once()

    await session.append(said("I am back."))
    for _ in range(3):
        await worker(database, None).run_once()
        clock.time += 7 * HOUR
    await worker(database, None).run_once()

    kept = await session.summary()
    assert kept is not None
    assert "I am back." in kept.raw_memory


@pytest.mark.spec("S2.12")
async def test_scan_respects_its_limits(database: Database, memory: Memory, clock: FakeClock) -> None:
    for number in range(6):
        session = await memory.space("alice").session(chat(number))
        await session.append(said("tea"))
    clock.time += 7 * HOUR

    first = await worker(database, None, scan_claims=2).run_once()
    second = await worker(database, None, scan_limit=3).run_once()

    assert (first.queued, first.leased) == (2, 2)
    assert (second.scanned, second.queued) == (3, 3)


@pytest.mark.spec("S2.8")
async def test_scan_can_be_limited_to_channels(database: Database, memory: Memory, clock: FakeClock) -> None:
    keys = [conversation_key(channel=channel, chat="x") for channel in ("cli", "cron")]
    for key in (*keys, "cli:y", "hello"):
        session = await memory.space("alice").session(key)
        await session.append(said("tea"))
    clock.time += 7 * HOUR

    picky = replace(extractor(database, None), quiet=IdleRules(channels=("cli",)))
    report = await Worker(database, {JobKind.EXTRACT: picky}, WorkerOptions()).run_once()

    assert (report.scanned, report.queued) == (4, 2)


async def test_daily_budget_pauses_learning_until_midnight(
    database: Database, memory: Memory, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    await crowd(memory, 3)
    work = worker(database, lambda _: answer(), batch=1, daily_cap=1)

    first, second = await work.run_once(), await work.run_once()
    await work.run_once()

    assert (first.leased, second.leased, second.blocked) == (1, 0, "daily_budget")
    assert caplog.text.count("daily budget of $0.00 is spent") == 1
    assert not await work._any_due(), "nothing wakes a worker that may not spend"
    audit = await work.audit()
    assert audit.is_capped
    assert audit.spent_today.calls == 2, "the claims, and the second reading of them"
    assert audit.spent_today.cost > 0
    clock.time += 24 * HOUR
    assert (await work.run_once()).leased == 1


async def test_two_workers_never_do_the_same_job(database: Database, memory: Memory) -> None:
    await crowd(memory, 16)
    model = ScriptedModel(lambda _: answer())
    workers = [worker(database, model) for _ in range(4)]

    async with anyio.create_task_group() as tasks:
        for each in workers:
            tasks.start_soon(each.run_once)

    assert len(model.calls) == 16
    assert await memory.backend.local().marks().find_invalidated() == []


async def test_worker_that_lost_its_lease_stops_the_job(
    database: Database, memory: Memory, session: Session, clock: FakeClock
) -> None:
    await session.append(many(6))

    class Sleepy(ScriptedModel):
        async def answer(self, call: ModelCall) -> ModelAnswer:
            taken = False
            while not taken:  # a heartbeat may come between the end of the lease and the other worker
                clock.time += HOUR
                taken = await database.transact(
                    lambda tx: jobs.lease_jobs(tx, kind=JobKind.EXTRACT, worker="other", duration=HOUR, limit=1)
                )
            await anyio.sleep_forever()
            raise AssertionError

    with anyio.fail_after(30):
        report = await worker(database, Sleepy([]), lease=0.05).run_once()

    assert report.leases_lost == 1
    [job] = [each for each in await memory.space("alice").admin.jobs.list() if each.kind is JobKind.EXTRACT]
    assert (job.status, job.worker) == (JobStatus.RUNNING, "other")


@pytest.mark.spec("S0.22")
async def test_a_stopped_worker_claims_nothing_more(database: Database, memory: Memory) -> None:
    await crowd(memory, 2)
    work = worker(database, None)
    work.stop()

    with anyio.fail_after(5):
        await work.run()

    assert (await work.run_once()).leased == 0
    assert len(await memory.backend.local().marks().find_invalidated()) == 2


@pytest.mark.spec("S0.22")
async def test_canceled_worker_releases_its_jobs(database: Database, memory: Memory, session: Session) -> None:
    await session.append(many(6))
    started = anyio.Event()

    class Endless(ScriptedModel):
        async def answer(self, call: ModelCall) -> ModelAnswer:
            started.set()
            await anyio.sleep_forever()
            raise AssertionError

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(worker(database, Endless([])).run)
        await started.wait()
        tasks.cancel_scope.cancel()

    [job] = [each for each in await memory.space("alice").admin.jobs.list() if each.kind is JobKind.EXTRACT]
    assert (job.status, job.attempts, job.worker) == (JobStatus.QUEUED, 0, None)
    assert (await worker(database, None).run_once()).leased == 1


async def test_worker_canceled_while_leasing_releases_its_jobs(
    database: Database, memory: Memory, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    await session.append(many(6))
    claim = jobs.lease_jobs

    def interrupted(tx: Tx, **given: Any) -> list[Lease]:
        claims = claim(tx, **given)
        portal.call(tasks.cancel_scope.cancel)
        return claims

    monkeypatch.setattr(jobs, "lease_jobs", interrupted)
    async with BlockingPortal() as portal, anyio.create_task_group() as tasks:
        await worker(database, None).run_once()

    [job] = [each for each in await memory.space("alice").admin.jobs.list() if each.kind is JobKind.EXTRACT]
    assert (job.status, job.attempts, job.worker) == (JobStatus.QUEUED, 0, None)


@pytest.mark.spec("S0.22", "S2.6")
async def test_idle_worker_starts_when_a_job_is_queued(database: Database, memory: Memory) -> None:
    session = await memory.space("alice").session(KEY)
    learnt = anyio.Event()

    def quick(_: ModelCall) -> str:
        learnt.set()
        return answer()

    work = worker(database, quick, interval=600.0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(work.run)
        await anyio.wait_all_tasks_blocked()
        await session.append(many(6))
        with anyio.fail_after(10):
            await learnt.wait()
        work.stop()


async def test_busy_worker_takes_new_jobs_without_waiting_for_a_poll(database: Database, memory: Memory) -> None:
    sessions = [await memory.space("alice").session(chat(number)) for number in range(2)]
    both = anyio.Event()

    class Watching(ScriptedModel):
        async def answer(self, call: ModelCall) -> ModelAnswer:
            if self.calls:
                both.set()
            else:
                await sessions[1].append(many(6))
            return await super().answer(call)

    await sessions[0].append(many(6))
    work = worker(database, Watching(lambda _: answer()), interval=600.0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(work.run)
        with anyio.fail_after(10):
            await both.wait()
        work.stop()


async def test_busy_store_costs_the_session_no_attempt(database: Database, memory: Memory, session: Session) -> None:
    await session.append(many(6))

    def busy(_: ModelCall) -> Exception:
        return DatabaseBusyError("locked")

    await worker(database, busy, max_attempts=1).run_once()

    [job] = [each for each in await memory.space("alice").admin.jobs.list() if each.kind is JobKind.EXTRACT]
    assert (job.status, job.attempts) == (JobStatus.FAILED, 0)


async def test_audit_counts_overdue_jobs_and_violations(
    database: Database, memory: Memory, session: Session, clock: FakeClock
) -> None:
    await session.append(said("I play the cello."))
    await session.checkpoint(force=True)
    work = worker(database, [answer(a_fact("User plays the cello", 1))])
    await work.run_once()
    await session.append(many(6))
    assert (await work.audit()).overdue == 0
    clock.time += HOUR

    late = await work.audit()
    await database.transact(
        lambda tx: tx.script("DELETE FROM fact_sources; UPDATE sessions SET processed_until = 99"), space="alice"
    )
    broken = await work.audit()

    assert (late.overdue, late.expired_leases, late.violations, late.spaces_checked) == (1, 0, 0, 1)
    assert (broken.facts_without_source, broken.broken_sessions, broken.violations) == (1, 1, 2)


async def test_worker_survives_a_lost_database(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    work = worker(database, None, interval=0.01)
    calls = 0

    async def flaky() -> object:
        nonlocal calls
        calls += 1
        if calls == 2:
            work.stop()
        raise DatabaseUnavailableError("gone")

    monkeypatch.setattr(work, "run_once", flaky)
    with anyio.fail_after(5):
        await work.run()

    assert calls == 2
    assert "the database is unavailable: DatabaseUnavailableError" in caplog.text


def test_days_are_counted_in_utc() -> None:
    assert jobs.day_of(datetime(1970, 1, 3, 23, 59, 59, 999_999, tzinfo=UTC)) == 2
