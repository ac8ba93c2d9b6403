"""A committed but unfinished move: the workers of both shards continue with everything else."""

import tempfile
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

import bethink
from bethink.config.settings import Settings
from bethink.features.retention.service import RetentionOptions, RetentionService
from bethink.features.webhooks import queries as webhooks
from bethink.features.webhooks.records import WebhookInfo
from bethink.jobs.tasks import PruneChanges, TaskParts
from bethink.memory.learning.learner import start_over
from bethink.model.jobs import JobKind, JobStatus
from bethink.store import jobs
from bethink.store.db import Database
from bethink.store.engines.postgres import PostgresDatabase
from bethink_shards.moving import SpaceMove
from bethink_shards.operating import move_space
from bethink_shards.steps import MoveStep
from tests.conftest import Quiet, said
from tests.front.shards_kit import Fleet, Killed, killing, other_than
from tests.rooms.learn_kit import worker

pytestmark = pytest.mark.usefixtures("killed")


@pytest.fixture
async def alone(
    fleet: Fleet, dsns: dict[str, str], name: str, request: pytest.FixtureRequest
) -> AsyncIterator[bethink.Memory]:
    """The shard that a space has left, by its own address. The move is not finished; `name`-2 is there to stay.

    The parameter is a statement that changes the jobs of the space just before the move is decided.
    """
    memory, shards = fleet
    for space in (name, f"{name}-2"):
        await (await memory.space(space).session("chat")).append(said("I live in Lisbon."))
    place, new = await shards.directory.find(name), await other_than(shards, name)
    assert place is not None
    await move_space(shards, f"{name}-2", place.shard)

    async def at(step: MoveStep) -> None:
        if step is MoveStep.EQUAL and hasattr(request, "param"):
            with psycopg.connect(dsns[place.shard]) as connection:
                connection.execute(str(request.param).encode(), [name])
        await killing(MoveStep.DECIDED)(step)

    with pytest.raises(Killed):
        await SpaceMove(shards.directory, shards.database, at=at).run(name, new)
    async with bethink.connect(dsns[place.shard], learn=False, redact=False) as connected:
        yield connected
    await move_space(shards, name, new)


def change(alone: bethink.Memory, text: str, *given: object) -> None:
    """Change rows of the queue of a shard, whatever its space."""
    database = alone.backend.local().database
    assert isinstance(database, PostgresDatabase)
    with psycopg.connect(database.options.dsn) as connection:
        connection.execute(text.encode(), given)


async def job(database: Database, space: str) -> tuple[JobStatus, int]:
    """Return how the job that learns from a space stands, and how often it was tried."""
    listed = await database.transact(lambda tx: jobs.list_jobs(tx, space=space, limit=10), read_only=True)
    [found] = [each for each in listed if each.kind is JobKind.EXTRACT]
    return found.status, found.attempts


@pytest.mark.parametrize("alone", ["UPDATE jobs SET due_at = 1 WHERE space_id = %s"], indirect=True)
async def test_the_old_shard_looks_at_the_sessions_of_its_other_spaces(alone: bethink.Memory, name: str) -> None:
    change(alone, "UPDATE jobs SET due_at = 2 WHERE space_id = %s", f"{name}-2")

    assert (await worker(alone.backend.local().database, None).run_once()).scanned == 1


@pytest.mark.parametrize(
    "alone",
    ["UPDATE jobs SET quoted_from = 0, queued_at = 1 WHERE space_id = %s AND kind = 'extract'"],
    indirect=True,
)
async def test_the_old_shard_starts_sweeps_and_prunes_its_other_spaces(alone: bethink.Memory, name: str) -> None:
    database = alone.backend.local().database
    change(alone, "UPDATE jobs SET quoted_from = 0 WHERE space_id = %s AND kind = 'extract'", f"{name}-2")

    assert await start_over(database) == 1
    assert await RetentionService(database, redactor=Quiet(), options=RetentionOptions()).sweep_next() == 0
    parts = TaskParts(database=database, settings=Settings(), redactor=Quiet())
    assert await PruneChanges(parts).prune() == 0
    assert name not in [space.name for space in await alone.spaces.list(limit=1_000)]
    assert f"{name}-2" in [space.name for space in await alone.spaces.list(limit=1_000)]
    assert (await worker(database, None).audit()).violations == 0


# A worker had it when the move was decided, and died; so did those before it.
@pytest.mark.parametrize(
    "alone",
    ["UPDATE jobs SET status = 'running', attempts = 6, due_at = 1 WHERE space_id = %s AND kind = 'extract'"],
    indirect=True,
)
async def test_job_of_a_space_that_left_starts_over_in_the_new_shard(
    fleet: Fleet, alone: bethink.Memory, name: str
) -> None:
    _, shards = fleet
    old = alone.backend.local().database
    await worker(old, None).run_once()
    assert await old.transact(lambda tx: jobs.list_jobs(tx, space=name, limit=10), read_only=True) == []

    new = await other_than(shards, name)
    await move_space(shards, name, new)

    assert await job((await shards.shard(new)).database, name) == (JobStatus.QUEUED, 0)


async def test_job_of_a_moving_space_is_released_untried(alone: bethink.Memory, name: str) -> None:
    other = f"{name}-2"
    change(alone, "UPDATE jobs SET status = 'queued', due_at = 1 WHERE space_id = %s AND kind = 'extract'", other)
    change(  # it may be claimed, not written to
        alone,
        "INSERT INTO moves (space_id, state, token, shard, version, until) VALUES (%s, 'leaving', 'mov_x', 'b', 1, %s)",
        other,
        2**60,
    )

    report = await worker(alone.backend.local().database, None).run_once()

    change(alone, "DELETE FROM moves WHERE space_id = %s", other)
    assert report.leases_lost >= 1
    assert await job(alone.backend.local().database, other) == (JobStatus.QUEUED, 0)


async def test_new_shard_delivers_pending_webhook_changes(fleet: Fleet, name: str) -> None:
    memory, shards = fleet
    await (await memory.space(name).session("chat")).append(said("one"))
    place, new = await shards.directory.find(name), await other_than(shards, name)
    assert place is not None
    at = datetime(2026, 1, 1, tzinfo=UTC)
    databases = [(await shards.shard(each)).database for each in (place.shard, new)]
    for database in databases:
        hook = WebhookInfo(id=f"whk_{name}", url="https://example.com/hook", space=name, created_at=at)
        await database.transact(lambda tx, hook=hook: webhooks.insert(tx, hook))
    await memory.space(name).facts.save(bethink.Fact(id="tea", text="Tea."))
    before = [change.number for change in await memory.space(name).admin.changes.list(after=0)]

    await move_space(shards, name, new)
    await memory.space(name).facts.save(bethink.Fact(id="rice", text="Rice."))

    lease = timedelta(minutes=1)
    old, there = [
        await database.transact(lambda tx: webhooks.lease_queues(tx, webhook_id=f"whk_{name}", lease=lease, limit=100))
        for database in databases
    ]
    assert [queue for queue in old if queue.space == name] == []
    assert [queue.delivered for queue in there if queue.space == name] == [before[0] - 1]


async def test_a_mover_that_is_killed_leaves_no_copy_of_the_space_on_disk(
    fleet: Fleet, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, shards = fleet
    await (await memory.space(name).session("chat")).append(said("one"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left: list[Path] = []

    async def at(step: MoveStep) -> None:
        if step is MoveStep.EXPORTED:
            left.extend(tmp_path.rglob("*"))

    await SpaceMove(shards.directory, shards.database, at=at).run(name, await other_than(shards, name))

    assert left == []
