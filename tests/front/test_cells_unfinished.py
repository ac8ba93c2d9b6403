"""A move that was decided and not finished: the workers of both cells go on with everything else."""

import tempfile
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

import bethink
from bethink.cells.moving import SpaceMove
from bethink.cells.operating import move_space
from bethink.cells.steps import MoveStep
from bethink.features.retention.service import RetentionOptions, RetentionService
from bethink.features.webhooks import queries as webhooks
from bethink.features.webhooks.deliver import Deliverer
from bethink.features.webhooks.notifier import Teller
from bethink.features.webhooks.records import WebhookInfo
from bethink.memory.learning.learner import start_over
from bethink.model.jobs import JobKind, JobStatus
from bethink.store import jobs
from bethink.store.db import Database
from bethink.store.engines.postgres import PostgresDatabase
from tests.conftest import Quiet, said
from tests.front.cells_kit import Fleet, Killed, killing, other_than
from tests.rooms.learn_kit import worker

pytestmark = pytest.mark.usefixtures("killed")


@pytest.fixture
async def alone(fleet: Fleet, dsns: dict[str, str], name: str) -> AsyncIterator[bethink.Memory]:
    """The cell that a space has left, by its own address. The move is not finished; `name`-2 is there to stay."""
    memory, cells = fleet
    for space in (name, f"{name}-2"):
        await (await memory.space(space).session("chat")).append(said("I live in Lisbon."))
    place, new = await cells.directory.find(name), await other_than(cells, name)
    assert place is not None
    await move_space(cells, f"{name}-2", place.cell)
    with pytest.raises(Killed):
        await SpaceMove(cells.directory, cells.database, at=killing(MoveStep.DECIDED)).run(name, new)
    async with bethink.connect(dsns[place.cell], learn=False, redact=False) as connected:
        yield connected
    await move_space(cells, name, new)


def change(alone: bethink.Memory, text: str, *given: object) -> None:
    """Change rows of the queue of a cell, whatever its space."""
    database = alone.local().database
    assert isinstance(database, PostgresDatabase)
    with psycopg.connect(database.options.dsn) as connection:
        connection.execute(text.encode(), given)


async def job(database: Database, space: str) -> tuple[JobStatus, int]:
    """Return how the job that learns from a space stands, and how often it was tried."""
    listed = await database.transact(lambda tx: jobs.listed(tx, space=space, limit=10), read=True)
    [found] = [each for each in listed if each.kind is JobKind.EXTRACT]
    return found.status, found.attempts


async def test_the_old_cell_looks_at_the_sessions_of_its_other_spaces(alone: bethink.Memory, name: str) -> None:
    change(alone, "UPDATE jobs SET due_at = 1 WHERE space_id = %s", name)
    change(alone, "UPDATE jobs SET due_at = 2 WHERE space_id = %s", f"{name}-2")

    assert (await worker(alone.local().database, None).run_once()).scanned == 1


async def test_the_old_cell_starts_sweeps_and_prunes_its_other_spaces(alone: bethink.Memory, name: str) -> None:
    database = alone.local().database
    change(alone, "UPDATE jobs SET quoted_from = 0, queued_at = 1 WHERE space_id = %s AND kind = 'extract'", name)
    change(alone, "UPDATE jobs SET quoted_from = 0 WHERE space_id = %s AND kind = 'extract'", f"{name}-2")

    assert await start_over(database) == 1
    assert await RetentionService(database, redactor=Quiet(), options=RetentionOptions()).sweep_next() == 0
    assert await Teller(database, Deliverer(database)).prune() == 0
    assert name not in await alone.list_spaces(limit=1_000)
    assert f"{name}-2" in await alone.list_spaces(limit=1_000)
    assert (await worker(database, None).audit()).violations == 0


async def test_a_job_of_a_space_that_left_is_not_claimed_and_starts_over_in_the_new_cell(
    fleet: Fleet, alone: bethink.Memory, name: str
) -> None:
    _, cells = fleet
    for _ in range(3):
        change(alone, "UPDATE jobs SET status = 'queued', due_at = 1 WHERE space_id = %s", name)
        await worker(alone.local().database, None).run_once()
    assert await job(alone.local().database, name) == (JobStatus.QUEUED, 0)
    # A worker had it when the move was decided, and died; so did those before it.
    change(alone, "UPDATE jobs SET status = 'running', attempts = 6 WHERE space_id = %s AND kind = 'extract'", name)

    new = await other_than(cells, name)
    await move_space(cells, name, new)

    assert await job((await cells.cell(new)).database, name) == (JobStatus.QUEUED, 0)


async def test_a_job_whose_space_leaves_meanwhile_is_given_back_untried(alone: bethink.Memory, name: str) -> None:
    change(alone, "UPDATE jobs SET status = 'queued', due_at = 1 WHERE space_id = %s AND kind = 'extract'", name)
    change(alone, "UPDATE moves SET state = 'leaving' WHERE space_id = %s", name)  # it may be claimed, not written to

    report = await worker(alone.local().database, None).run_once()

    change(alone, "UPDATE moves SET state = 'gone' WHERE space_id = %s", name)
    assert report.lost >= 1
    assert await job(alone.local().database, name) == (JobStatus.QUEUED, 0)


async def test_changes_that_no_webhook_was_told_of_are_told_by_those_of_the_new_cell(fleet: Fleet, name: str) -> None:
    memory, cells = fleet
    await (await memory.space(name).session("chat")).append(said("one"))
    place, new = await cells.directory.find(name), await other_than(cells, name)
    assert place is not None
    at = datetime(2026, 1, 1, tzinfo=UTC)
    databases = [(await cells.cell(each)).database for each in (place.cell, new)]
    for database in databases:
        hook = WebhookInfo(id=f"whk_{name}", url="https://example.com/hook", space=name, created_at=at)
        await database.transact(lambda tx, hook=hook: webhooks.insert(tx, hook))
    await memory.space(name).facts.save(bethink.Fact(id="tea", content="Tea."))
    before = [change.number for change in await memory.space(name).changes(after=0)]

    await move_space(cells, name, new)
    await memory.space(name).facts.save(bethink.Fact(id="rice", content="Rice."))

    lease = timedelta(minutes=1)
    old, there = [
        await database.transact(lambda tx: webhooks.claim(tx, webhook_id=f"whk_{name}", lease=lease, limit=100))
        for database in databases
    ]
    assert old == []
    assert [queue.delivered for queue in there] == [before[0] - 1]


async def test_a_mover_that_is_killed_leaves_no_copy_of_the_space_on_disk(
    fleet: Fleet, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, cells = fleet
    await (await memory.space(name).session("chat")).append(said("one"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left: list[Path] = []

    async def at(step: MoveStep) -> None:
        if step is MoveStep.EXPORTED:
            left.extend(tmp_path.rglob("*"))

    await SpaceMove(cells.directory, cells.database, at=at).run(name, await other_than(cells, name))

    assert left == []
