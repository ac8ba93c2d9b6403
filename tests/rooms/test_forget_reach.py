"""The reach of deletion: change sets, running jobs, and files, through every interface."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import anyio
import pytest

import bethink
import bethink.types
from bethink.memory.deletion import forget
from bethink.memory.learning.documents.consolidate import Consolidator
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.jobs import JobKind, JobStatus, Lease
from bethink.providers.scripted_model import ScriptedModel
from bethink.store import jobs
from bethink.store.db import Database
from tests.conftest import KEY, many
from tests.rooms.learn_kit import DONE, a_fact, consolidator, worker
from tests.rooms.test_consolidate import Life

BIRD = "zebrafinch"


@pytest.fixture
def life(database: Database, memory: bethink.Memory) -> Life:
    return Life(database, memory)


async def test_change_set_stays_if_it_only_mentions_the_fact_id(life: Life) -> None:
    await life.tell("I like tea.", a_fact("User likes tea", 1))
    await life.consolidate()
    facts = life.memory.space("alice").facts
    await facts.save(bethink.Fact(id="e", text="unrelated"))
    assert len(await life.docs.changes.list()) == 1

    await life.memory.space("alice").forget("fact:e:0")

    assert len(await life.docs.changes.list()) == 1


@pytest.mark.parametrize("review", [True, False])
@pytest.mark.parametrize("name", ['say "hi"', "back\\slash"])
async def test_change_set_omits_deleted_fact_whatever_its_id(life: Life, name: str, review: bool) -> None:
    facts = life.memory.space("alice").facts
    await facts.save(bethink.Fact(id=name, text=f"keeps a {BIRD}"))
    await life.tell("I like tea.")
    await life.consolidate(consolidator(life.database, review=review))
    assert BIRD in str(await life.docs.changes.list())

    await life.memory.space("alice").forget(bethink.Ref(bethink.types.RefKind.FACT, name))

    assert BIRD not in str(await life.docs.changes.list())


async def test_repeated_forget_does_not_fail_the_learning_job(
    memory: bethink.Memory, database: Database, session: bethink.Session
) -> None:
    await session.append(many(10))

    async def claim(kind: JobKind) -> Lease:
        [held] = await database.transact(
            lambda tx: jobs.lease_jobs(tx, kind=kind, worker="somebody", duration=timedelta(minutes=1), limit=1)
        )
        return held

    await memory.space("alice").documents.refresh()
    for number in range(1, 7):
        held = [await claim(JobKind.EXTRACT), await claim(JobKind.CONSOLIDATE)]
        assert [each.attempts for each in held] == [1, 1]
        await memory.space("alice").forget(f"message:{session.id}:{number}")

    await worker(database, None).run_once()
    [job] = [each for each in await memory.space("alice").admin.jobs.list() if each.kind is JobKind.EXTRACT]
    assert (job.status, job.last_error) == (JobStatus.WAITING, None)
    assert await session.summary() is not None


def told(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*.md") if BIRD in path.read_text()]


@asynccontextmanager
async def with_files(tmp_path: Path) -> AsyncGenerator[bethink.Memory]:
    folder = str(tmp_path / "files")
    async with bethink.connect(tmp_path / "m.db", artifacts_dir=folder, learn_in_background=False) as memory:
        await memory.space("alice").facts.save(bethink.Fact(id="bird", text=f"keeps a {BIRD}"))
        await memory.space("alice").remember(f"I keep a {BIRD}.", conversation=KEY)
        await memory.learn()
        assert len(told(tmp_path / "files")) >= 3
        yield memory


async def _forget_conversation(memory: bethink.Memory) -> None:
    await memory.space("alice").forget(conversation=KEY)


async def _forget_everything(memory: bethink.Memory) -> None:
    await memory.space("alice").forget(everything=True)


async def _forget_fact(memory: bethink.Memory) -> None:
    await memory.space("alice").forget("fact:bird:0")


@pytest.mark.parametrize("door", [_forget_conversation, _forget_everything, _forget_fact])
async def test_every_deletion_clears_the_files_of_its_space(
    tmp_path: Path, door: Callable[[bethink.Memory], Awaitable[None]]
) -> None:
    async with with_files(tmp_path) as memory:
        await door(memory)

        assert told(tmp_path / "files") == []


async def test_the_files_are_cleared_even_for_one_who_no_longer_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with with_files(tmp_path) as memory:
        clear = forget.clear_files
        with anyio.CancelScope() as scope:

            async def cancelled(folder: str, space: str) -> None:
                scope.cancel()
                await clear(folder, space)

            monkeypatch.setattr(forget, "clear_files", cancelled)
            await memory.space("alice").forget("fact:bird:0")

        assert scope.cancel_called
        assert told(tmp_path / "files") == []


async def test_canceled_consolidation_leaves_no_files_of_deleted_data(life: Life, tmp_path: Path) -> None:
    await life.tell(f"I keep a {BIRD}.")
    asked = anyio.Event()

    class Slow(ScriptedModel):
        async def answer(self, call: ModelCall) -> ModelAnswer:
            asked.set()
            await anyio.sleep_forever()
            return await super().answer(call)

    async with anyio.create_task_group() as tasks:
        handler = consolidator(life.database, Slow([DONE]), folder=str(tmp_path))
        tasks.start_soon(life.consolidate, handler)
        await asked.wait()
        assert told(tmp_path)
        # As if they were written just after that: this Memory knows of no folder.
        await life.memory.space("alice").forget(everything=True)
        tasks.cancel_scope.cancel()

    assert told(tmp_path) == []


async def test_files_written_during_forget_contain_no_deleted_data(
    life: Life, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await life.tell(f"I keep a {BIRD}.")
    handler = consolidator(life.database, folder=str(tmp_path))
    await life.consolidate(handler)
    write, left = Consolidator._write_files, [session]

    async def late(self: Consolidator, space: str, files: dict[str, str]) -> None:
        while left:
            await life.memory.space("alice").forget(session_id=left.pop().id)
        await write(self, space, files)

    monkeypatch.setattr(Consolidator, "_write_files", late)
    assert told(tmp_path)
    await handler.refresh("alice")

    assert told(tmp_path) == []
