"""Jobs of all spaces by status, and retries; counts and costs are maintained, not summed."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bethink import Memory, Page
from bethink.errors import InvalidRequestError, NotFoundError
from bethink.model.jobs import Job, JobKind, JobStatus, Lease, SpendingBy, Usage
from bethink.store import jobs, learning
from bethink.store.db import Database, Tx
from tests.conftest import FakeClock
from tests.page_kit import EVERY_CHECK, analyze, cost_of, every

MINUTE = timedelta(minutes=1)


def _queue(tx: Tx, space: str, kind: JobKind, key: str) -> None:
    jobs.ensure_space(tx, space=space)
    jobs.queue(tx, space=space, kind=kind, key=key, watermark=1)


async def _kill(database: Database, space: str, kind: JobKind, key: str, *, errors: tuple[str, ...] = ("no",)) -> None:
    """Let a job fail until it is given up."""

    def fail(tx: Tx, error: str, status: JobStatus) -> None:
        _queue(tx, space, kind, key)
        for claim in jobs.lease_jobs(tx, kind=kind, worker="w", duration=MINUTE, limit=100, space=space):
            if claim.key == key:
                jobs.fail(tx, claim, newer=False, status=status, delay=MINUTE, attempts=None, error=error)

    for error in errors:
        status = JobStatus.ABANDONED if error == errors[-1] else JobStatus.FAILED
        await database.transact(lambda tx, error=error, status=status: fail(tx, error, status), space=space)


@pytest.mark.parametrize("kind", JobKind)
async def test_abandoned_job_of_any_kind_can_be_retried(memory: Memory, database: Database, kind: JobKind) -> None:
    await _kill(database, "mira", kind, "key")
    mira = memory.space("mira")

    [dead] = [job for job in (await memory.admin.jobs.list()).items if job.kind is kind]
    assert (dead.space, dead.key, dead.last_error) == ("mira", "key", "no")
    assert await mira.admin.jobs.retry(kind, "key") is True
    assert (await mira.admin.jobs.get(kind, "key")).job.status is JobStatus.QUEUED
    assert await mira.admin.jobs.retry(kind, "key") is False
    assert (await memory.admin.jobs.list()).items == ()
    with pytest.raises(NotFoundError):
        await memory.space("anna").admin.jobs.retry(kind, "key")


async def test_a_job_shows_its_failed_attempts_and_what_the_model_answered(memory: Memory, database: Database) -> None:
    await _kill(database, "mira", JobKind.WRITE, "agt", errors=("first", "second"))

    def answer(tx: Tx) -> None:
        _queue(tx, "mira", JobKind.WRITE, "agt")
        [claim] = jobs.lease_jobs(tx, kind=JobKind.WRITE, worker="w", duration=MINUTE, limit=1, space="mira")
        learning.record_answer(tx, claim, run="r", content='{"a": 1}', agent_id="agt", model="m", prompt="p")

    await database.transact(answer, space="mira")
    found = await memory.space("mira").admin.jobs.get(JobKind.WRITE, "agt")

    assert [each.error for each in found.failures] == ["second", "first"]
    assert [(each.content, each.model) for each in found.answers] == [('{"a": 1}', "m")]
    assert found.job.status is JobStatus.RUNNING
    with pytest.raises(NotFoundError, match="No write job 'agt'"):
        await memory.space("anna").admin.jobs.get(JobKind.WRITE, "agt")
    await memory.space("mira").forget(everything=True)
    left = await database.transact(lambda tx: tx.all("list_attempts", space="mira", kind="write", key="agt", limit=9))
    assert left == []


async def test_only_the_last_20_failures_of_a_job_are_stored(memory: Memory, database: Database) -> None:
    for number in range(25):
        await _kill(database, "mira", JobKind.INDEX, "key", errors=(str(number),))

    found = await memory.space("mira").admin.jobs.get(JobKind.INDEX, "key")

    assert [each.error for each in found.failures] == [str(number) for number in reversed(range(5, 25))]


async def test_jobs_are_listed_by_status_for_all_spaces_or_one(memory: Memory, database: Database) -> None:
    for space in ("anna", "mira"):
        await _kill(database, space, JobKind.EXTRACT, "ses_1")
        await database.transact(lambda tx, space=space: _queue(tx, space, JobKind.WRITE, "agt"), space=space)

    dead = await every(lambda after: memory.admin.jobs.list(limit=1, after=after))
    assert [(job.space, job.kind) for job in dead] == [("mira", "extract"), ("anna", "extract")]
    queued = await every(lambda after: memory.admin.jobs.list(status=JobStatus.QUEUED, limit=1, after=after))
    assert [(job.space, job.kind.value) for job in queued] == [
        ("mira", "write"), ("mira", "index"), ("anna", "write"), ("anna", "index"),
    ]  # fmt: skip
    writes = await memory.admin.jobs.list(status=JobStatus.QUEUED, kind=JobKind.WRITE)
    assert [job.space for job in writes.items] == ["mira", "anna"]
    own = await every(lambda after: memory.space("anna").admin.jobs.list(limit=1, after=after))
    assert [(job.space, job.kind.value) for job in own] == [("anna", "write"), ("anna", "index"), ("anna", "extract")]
    assert [job.kind for job in (await memory.space("anna").admin.jobs.list(status=JobStatus.ABANDONED)).items] == [
        "extract"
    ]
    with pytest.raises(InvalidRequestError, match="status cannot be 'done'"):
        await memory.admin.jobs.list(status=JobStatus.DONE)


@settings(max_examples=8, suppress_health_check=EVERY_CHECK)
@given(
    before=st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(list(JobKind)), st.integers(0, 3)), max_size=10),
    meanwhile=st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(list(JobKind)), st.integers(4, 6)), max_size=4
    ),
    limit=st.integers(1, 4),
    same_time=st.booleans(),
)
async def test_pages_of_jobs_have_no_gaps_and_no_doubles_while_jobs_are_queued(
    memory: Memory,
    database: Database,
    before: list[tuple[str, JobKind, int]],
    meanwhile: list[tuple[str, JobKind, int]],
    limit: int,
    same_time: bool,
) -> None:
    def queue(tx: Tx, each: tuple[str, JobKind, int]) -> None:
        # Without the space, whose row no other may create: jobs are what is looked at here.
        tx.run("queue_job", space="all", kind=each[1], key=f"{each[0]}{each[2]}", watermark=1, now=tx.now)

    await database.transact(lambda tx: jobs.ensure_space(tx, space="all"), space="all")
    if same_time:
        await database.transact(lambda tx: [queue(tx, each) for each in before], space="all")
    else:
        for each in before:
            await database.transact(lambda tx, each=each: queue(tx, each), space="all")
    first = {(job.kind, job.key) for job in (await memory.admin.jobs.list(status=JobStatus.QUEUED, limit=1_000)).items}
    waiting = iter(meanwhile)

    async def page(after: str) -> Page[Job]:
        for each in waiting:
            await database.transact(lambda tx, each=each: queue(tx, each), space="all")
            break
        return await memory.admin.jobs.list(status=JobStatus.QUEUED, limit=limit, after=after)

    seen = [(job.kind, job.key) for job in await every(page)]
    await memory.space("all").forget(everything=True)

    assert len(seen) == len(set(seen))
    assert first <= set(seen)


_STEP = st.tuples(
    st.sampled_from(["queue", "await", "claim", "succeed", "fail", "die", "retry", "cancel", "forget"]),
    st.sampled_from("ab"),
    st.sampled_from(list(JobKind)),
)


def _act(tx: Tx, what: str, space: str, kind: JobKind) -> None:
    if what == "queue":
        _queue(tx, space, kind, "key")
    elif what == "await":
        jobs.ensure_space(tx, space=space)
        jobs.schedule_idle_check(tx, space=space, session_id="quiet", due=tx.now)
    elif what == "retry":
        jobs.retry(tx, space=space, kind=kind, key="key")
    elif what == "cancel":
        jobs.cancel(tx, space=space, kind=kind, key="key")
    else:
        for claim in jobs.lease_jobs(tx, kind=kind, worker="w", duration=MINUTE, limit=10, space=space):
            _end(tx, claim, what)


def _end(tx: Tx, claim: Lease, what: str) -> None:
    if what == "succeed":
        jobs.finish(tx, claim, status=JobStatus.DONE, outcome=None)
    elif what != "claim":
        status = JobStatus.ABANDONED if what == "die" else JobStatus.FAILED
        jobs.fail(tx, claim, newer=False, status=status, delay=MINUTE, attempts=None, error="no")


def _counted(tx: Tx) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for space in "ab":
        for row in tx.all("list_jobs", space=space, limit=1_000):
            if row["status"] != "done":
                found[row["kind"], row["status"]] = found.get((row["kind"], row["status"]), 0) + 1
    return found


@settings(max_examples=15, suppress_health_check=EVERY_CHECK)
@given(st.lists(_STEP, max_size=25))
async def test_the_counts_of_jobs_are_what_counting_them_would_give(
    memory: Memory, database: Database, steps: list[tuple[str, str, JobKind]]
) -> None:
    for what, space, kind in steps:
        if what == "forget":
            if space in [space.name for space in await memory.spaces.list()]:
                await memory.space(space).forget(everything=True)
        else:
            await database.transact(lambda tx, step=(what, space, kind): _act(tx, *step), space=space)

    kept = await database.transact(jobs.counts, read_only=True)
    expected = await database.transact(_counted, read_only=True)
    for space in [space.name for space in await memory.spaces.list()]:
        await memory.space(space).forget(everything=True)

    assert {(kind.value, status.value): count for kind, by in kept.items() for status, count in by.items()} == expected
    assert await database.transact(jobs.counts, read_only=True) == {}


async def test_job_pages_and_audit_cost_is_independent_of_job_count(
    memory: Memory, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs: list[list[int]] = []
    for first, last in ((0, 100), (100, 1500)):

        def grow(tx: Tx, first: int = first, last: int = last) -> None:
            jobs.ensure_space(tx, space="mira")
            for number in range(first, last):
                kind = list(JobKind)[number % 4]
                _queue(tx, "mira", kind, f"k{number:05}")
            tx.script("UPDATE jobs SET status = 'abandoned' WHERE key LIKE '%0'")
            tx.script("UPDATE jobs SET status = 'done' WHERE key LIKE '%5'")

        await database.transact(grow, space="mira")
        await analyze(database, "jobs", "job_counts")
        pages = (
            lambda: memory.admin.jobs.list(limit=5),
            lambda: memory.admin.jobs.list(status=JobStatus.QUEUED, kind=JobKind.WRITE, limit=5),
            lambda: memory.space("mira").admin.jobs.list(limit=5),
            lambda: database.transact(jobs.counts, read_only=True),
        )
        found = [await cost_of(monkeypatch, page) for page in pages]
        assert [cost.scans for cost in found[:3]] == [[], [], []], "the counts alone are read whole"
        assert [cost.statements for cost in found] == [4, 1, 1, 1]
        costs.append([cost.rows for cost in found])
    for small, large in zip(*costs, strict=True):
        assert large <= small * 1.3 + 10, costs


async def _charge(database: Database, space: str, kind: JobKind, model: str, cost: int) -> None:
    def body(tx: Tx) -> None:
        _queue(tx, space, kind, "key")
        [claim, *_] = jobs.lease_jobs(tx, kind=kind, worker="w", duration=MINUTE, limit=1, space=space)
        jobs.charge(tx, claim, Usage(1, 10, 2, cost), model=model)
        jobs.finish(tx, claim, status=JobStatus.DONE, outcome=None)

    await database.transact(body, space=space)


async def test_spending_is_listed_by_day_kind_model_and_space(
    memory: Memory, database: Database, clock: FakeClock
) -> None:
    clock.time = datetime(2026, 3, 1, 12, tzinfo=UTC)
    await _charge(database, "mira", JobKind.EXTRACT, "small", 5)
    clock.time = datetime(2026, 3, 2, 12, tzinfo=UTC)
    await _charge(database, "mira", JobKind.EXTRACT, "small", 7)
    await _charge(database, "anna", JobKind.CONSOLIDATE, "large", 30)
    await _charge(database, "anna", JobKind.EXTRACT, "small", 1)
    await database.transact(lambda tx: jobs.spend(tx, Usage(1, 1, 1, 2)))

    async def listed(by: SpendingBy, **more: object) -> list[tuple[int, str, int]]:
        found = await memory.admin.costs.list(by=by, **more)  # type: ignore[arg-type]
        return [(each.day.day, each.name, each.usage.cost) for each in found]

    assert await listed(SpendingBy.DAY) == [(2, "", 40), (1, "", 5)]
    assert await listed(SpendingBy.KIND) == [
        (2, "consolidate", 30),
        (2, "extract", 8),
        (2, "other", 2),
        (1, "extract", 5),
    ]
    assert await listed(SpendingBy.MODEL) == [(2, "large", 30), (2, "small", 8), (2, "unnamed", 2), (1, "small", 5)]
    assert await listed(SpendingBy.SPACE) == [(2, "anna", 31), (2, "mira", 7), (1, "mira", 5)]
    assert await listed(SpendingBy.SPACE, limit=1) == [(2, "anna", 31), (1, "mira", 5)]
    assert await listed(SpendingBy.DAY, since=date(2026, 3, 2)) == [(2, "", 40)]
    assert await listed(SpendingBy.DAY, until=date(2026, 3, 1)) == [(1, "", 5)]
    own = await memory.space("mira").admin.costs.list()
    assert [(each.day, each.usage.cost, each.usage.calls) for each in own] == [
        (date(2026, 3, 2), 7, 1), (date(2026, 3, 1), 5, 1),
    ]  # fmt: skip
    with pytest.raises(InvalidRequestError, match="less than 31 days"):
        await memory.admin.costs.list(by=SpendingBy.SPACE, since=date(2026, 1, 1))
    await memory.space("anna").forget(everything=True)
    assert await listed(SpendingBy.SPACE) == [(2, "mira", 7), (1, "mira", 5)]
    assert await listed(SpendingBy.DAY) == [(2, "", 40), (1, "", 5)], "what was paid stays paid"


async def test_lost_lease_is_charged_even_if_its_space_is_deleted(memory: Memory, database: Database) -> None:
    def claim(tx: Tx) -> Lease:
        _queue(tx, "mira", JobKind.EXTRACT, "ses")
        return jobs.lease_jobs(tx, kind=JobKind.EXTRACT, worker="w", duration=MINUTE, limit=1)[0]

    held = await database.transact(claim, space="mira")
    await memory.space("mira").forget(everything=True)

    kept = await database.transact(lambda tx: jobs.charge(tx, held, Usage(1, 1, 1, 9), model="m"), space="mira")

    assert kept is False
    assert (await memory.admin.costs.list())[0].usage.cost == 9
    assert await memory.admin.costs.list(by=SpendingBy.SPACE) == []
