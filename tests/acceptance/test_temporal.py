"""Fleets on a real Temporal server: the jobs table is authoritative, and Temporal stores only ids."""

import contextlib
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace

import anyio
import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHistory
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment
from temporalio.worker import Replayer

from bethink import Memory, Session
from bethink.config.settings import load_settings
from bethink.errors import ConfigurationError, DatabaseUnavailableError
from bethink.jobs.worker import Worker
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.jobs import Job, JobKind, JobStatus
from bethink.model.records import conversation_key
from bethink.providers.scripted_model import ScriptedModel
from bethink.store import jobs
from bethink.store.db import Database
from bethink_temporal import fleet
from bethink_temporal.activities import Activities
from bethink_temporal.names import JobName, Queues, TemporalOptions, queues_from
from bethink_temporal.relay import Relay
from bethink_temporal.workflows import WORKFLOWS
from faults.temporal import leaks
from tests.conftest import said
from tests.rooms.learn_kit import willing, worker
from tools.temporal import TemporalServer, temporal

CANARY = "zanzibar-nightingale"


@pytest.fixture(scope="module")
def server() -> Iterator[TemporalServer]:
    with temporal() as running:
        yield running


@pytest.fixture
def options(server: TemporalServer) -> TemporalOptions:
    """A task queue of the test's own."""
    return TemporalOptions(address=server.address, task_queue=f"bethink-{uuid.uuid4().hex[:8]}")


@pytest.fixture
async def client(options: TemporalOptions) -> Client:
    return await fleet.connect_client(options)


def queues_of(options: TemporalOptions) -> Queues:
    return queues_from(load_settings(environ={}), options)


async def marked(memory: Memory, count: int) -> list[Session]:
    opened = [
        await memory.space(f"space-{number}").session(conversation_key("cli", str(number))) for number in range(count)
    ]
    for session in opened:
        await session.append(said(f"I keep a {CANARY}."))
        await session.checkpoint(force=True)
    return opened


async def job_of(database: Database, session: Session) -> Job:
    space = session.space
    found = await database.transact(
        lambda tx: jobs.find(tx, space=space, kind=JobKind.EXTRACT, key=session.id), space=space, read_only=True
    )
    assert found is not None
    return found


async def learnt(database: Database, sessions: list[Session]) -> None:
    """Wait until all of them are."""
    with anyio.fail_after(180):
        while {(await job_of(database, each)).status for each in sessions} - {JobStatus.WAITING, JobStatus.DONE}:  # noqa: ASYNC110
            await anyio.sleep(0.05)


async def history(client: Client, options: TemporalOptions, session: Session) -> WorkflowHistory:
    """What Temporal has kept of a session's job, once it is over."""
    name = queues_of(options).job(JobKind.EXTRACT, session.space, session.id)
    handle = client.get_workflow_handle(name)
    await handle.result()
    return await handle.fetch_history()


def written(kept: WorkflowHistory) -> bytes:
    """All of it as it is stored: as JSON, what it carries would be in base64."""
    return b"".join(event.SerializeToString() for event in kept.events)


def runs(kept: WorkflowHistory) -> int:
    return sum(event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED for event in kept.events)


class Slow(ScriptedModel):
    """A model that answers when it may."""

    def __init__(self) -> None:
        super().__init__(willing)
        self.asked, self.may = anyio.Event(), anyio.Event()

    async def answer(self, call: ModelCall) -> ModelAnswer:
        self.asked.set()
        await self.may.wait()
        return await super().answer(call)


def working(
    client: Client, database: Database, work: Worker, options: TemporalOptions
) -> contextlib.AbstractAsyncContextManager[None]:
    return fleet.Fleet(client, database, work, settings=load_settings(environ={}), options=options).running()


async def test_session_is_learned_once_and_temporal_stores_no_content(
    database: Database, memory: Memory, client: Client, options: TemporalOptions, server: TemporalServer
) -> None:
    sessions = await marked(memory, 3)
    before = [(await job_of(database, each)).token for each in sessions]

    async with working(client, database, worker(database, willing), options):
        await learnt(database, sessions)
        kept = [await history(client, options, each) for each in sessions]

    assert [(await job_of(database, each)).token for each in sessions] == [token + 1 for token in before]
    assert [runs(each) for each in kept] == [1, 1, 1]
    assert not any(CANARY.encode() in written(each) for each in kept)
    assert all(session.id.encode() in written(each) for session, each in zip(sessions, kept, strict=True))
    assert leaks(server.folder, CANARY.encode(), named=f"{options.task_queue}/extract/") == []
    for each in kept:  # decided from its history alone, a workflow decides the same
        await Replayer(workflows=WORKFLOWS).replay_workflow(each)


async def test_failed_job_keeps_its_reason_out_of_temporal(
    database: Database, memory: Memory, client: Client, options: TemporalOptions
) -> None:
    [session] = await marked(memory, 1)

    def fails(call: ModelCall) -> str:
        raise ValueError(f"cannot read {CANARY}")

    async with working(client, database, worker(database, fails), options):
        kept = await until_told(client, options, session)

    assert (await job_of(database, session)).status is JobStatus.FAILED
    assert b"failed" in written(kept)
    assert CANARY.encode() not in written(kept)


async def until_told(client: Client, options: TemporalOptions, session: Session) -> WorkflowHistory:
    with anyio.fail_after(60):
        while True:
            with contextlib.suppress(Exception):
                return await history(client, options, session)
            await anyio.sleep(0.05)


async def test_an_error_leaves_an_activity_by_its_name_only(
    database: Database, client: Client, options: TemporalOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = worker(database, willing)

    async def broken(**_: object) -> None:
        raise ValueError(CANARY)

    monkeypatch.setattr(work, "run_job", broken)
    own = Activities(work, Relay(client, database, work, queues_of(options)))
    job = JobName(space="alice", kind="extract", key="ses_1", queue="q", lease=60.0)

    with pytest.raises(ApplicationError) as caught:
        await ActivityEnvironment().run(own.run_job, job)

    assert caught.value.message == "ValueError"
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.slow
async def test_two_relays_and_one_that_starts_again_make_one_run_of_each_job(
    database: Database, memory: Memory, client: Client, options: TemporalOptions
) -> None:
    sessions = await marked(memory, 12)
    work, queues = worker(database, willing), queues_of(options)
    relays = [Relay(client, database, work, queues) for _ in range(3)]
    async with anyio.create_task_group() as both:
        both.start_soon(relays[0].relay)
        both.start_soon(relays[1].relay)
    await relays[2].relay()  # it knows nothing of what the others told

    async with working(client, database, work, options):
        await learnt(database, sessions)
        kept = [await history(client, options, each) for each in sessions]

    assert [runs(each) for each in kept] == [1] * len(sessions)
    assert {(await job_of(database, each)).attempts for each in sessions} <= {0, 1}


@pytest.mark.slow
async def test_messages_sent_during_learning_are_learned_next(
    database: Database, memory: Memory, client: Client, options: TemporalOptions
) -> None:
    [session] = await marked(memory, 1)
    model = Slow()

    async with working(client, database, worker(database, model), options):
        await model.asked.wait()
        await session.append(said("And a second one."))
        await session.checkpoint(force=True)
        model.may.set()
        await learnt(database, [session])

    job = await job_of(database, session)
    assert job.success_watermark == job.input_watermark


@pytest.mark.slow
async def test_a_worker_that_drains_takes_nothing_more_and_finishes_what_runs(
    database: Database, memory: Memory, client: Client, options: TemporalOptions
) -> None:
    first, second = await marked(memory, 2)
    model = Slow()

    alone = worker(database, model, concurrency=1)
    async with anyio.create_task_group() as tasks, working(client, database, alone, options):
        await model.asked.wait()
        tasks.start_soon(_after_a_moment, model.may.set)

    states = {(await job_of(database, each)).status for each in (first, second)}
    assert JobStatus.QUEUED in states
    assert states & {JobStatus.WAITING, JobStatus.DONE}
    assert JobStatus.RUNNING not in states


async def _after_a_moment(act: Callable[[], None]) -> None:
    await anyio.sleep(0.5)
    act()


@pytest.mark.slow
async def test_job_longer_than_drain_is_finished_by_another_worker(
    database: Database, memory: Memory, client: Client, options: TemporalOptions
) -> None:
    [session] = await marked(memory, 1)
    hurried = replace(options, drain=0.1)
    stuck = Slow()

    async with working(client, database, worker(database, stuck), hurried):
        await stuck.asked.wait()

    released = await job_of(database, session)
    assert (released.status, released.attempts) == (JobStatus.QUEUED, 0)
    async with working(client, database, worker(database, willing), options):
        await learnt(database, [session])


@pytest.mark.slow
async def test_paused_fleet_receives_no_jobs_until_resumed(
    database: Database, memory: Memory, client: Client, options: TemporalOptions
) -> None:
    relay = client.get_workflow_handle(queues_of(options).relay)
    await fleet.pause(client, queues_of(options))

    async with working(client, database, worker(database, willing), options):
        assert await relay.query("paused")
        sessions = await marked(memory, 2)
        await fleet.pause(client, queues_of(options), resume=True)
        await learnt(database, sessions)
        kept = await relay.fetch_history()

    events = [event.event_type for event in kept.events]
    signals = [at for at, event in enumerate(events) if event == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED]
    assert len(signals) == 2
    assert events.index(EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED) > signals[1]


@pytest.mark.slow
async def test_a_pause_ends_a_relay_that_runs(
    database: Database, memory: Memory, client: Client, options: TemporalOptions
) -> None:
    relay = client.get_workflow_handle(queues_of(options).relay)

    async with working(client, database, worker(database, willing, lease=2.0), options):
        await learnt(database, await marked(memory, 1))
        await fleet.pause(client, queues_of(options))
        ended = EventType.EVENT_TYPE_ACTIVITY_TASK_CANCELED
        with anyio.fail_after(30):
            while ended not in [event.event_type for event in (await relay.fetch_history()).events]:  # noqa: ASYNC110
                await anyio.sleep(0.1)
        late = (await marked(memory, 4))[1:]

    assert {(await job_of(database, each)).status for each in late} == {JobStatus.QUEUED}


@pytest.mark.slow
async def test_provider_is_called_no_faster_than_its_rate(
    database: Database, memory: Memory, client: Client, options: TemporalOptions
) -> None:
    sessions = await marked(memory, 12)
    limited = replace(options, rates="own=2")

    async with working(client, database, worker(database, willing), limited):
        await learnt(database, sessions)

    begun = [
        event.event_time.ToDatetime()
        for each in sessions
        for event in (await history(client, options, each)).events
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED
    ]
    # Twelve jobs, two a second, and what a full second may let through at once.
    assert (max(begun) - min(begun)).total_seconds() >= (12 - 4) / 2 - 1


async def test_sweeps_are_scheduled_and_a_second_worker_finds_the_schedule(
    database: Database, client: Client, options: TemporalOptions
) -> None:
    work = worker(database, willing)
    second = await fleet.connect_client(options)  # as another process has one of its own
    async with working(client, database, work, options), working(second, database, work, options):
        found = await client.get_schedule_handle(queues_of(options).sweep).describe()

    assert found.schedule.spec.intervals[0].every.total_seconds() == work.options.interval


def test_rates_are_per_provider_and_invalid_ones_are_rejected() -> None:
    def queues(rates: str) -> dict[str, float]:
        return queues_of(TemporalOptions(rates=rates)).rates

    assert queues("openai=5, voyage = 0.5") == {"openai": 5.0, "voyage": 0.5}
    for wrong in ("openai", "openai=", "openai=0", "openai=inf", "openai=nan", "openai=-1"):
        with pytest.raises(ConfigurationError):
            queues(wrong)


def test_jobs_run_on_the_queue_of_the_provider_they_ask() -> None:
    queues = queues_from(
        load_settings(environ={}, model="openai:gpt-6", embedder="voyage:v4"), TemporalOptions(rates="openai=5")
    )

    assert queues.queue_for(JobKind.EXTRACT) == queues.queue_for(JobKind.CONSOLIDATE) == "bethink.openai"
    assert queues.queue_for(JobKind.INDEX) == "bethink.voyage"
    assert (queues.rate("bethink.openai"), queues.rate("bethink.voyage")) == (5.0, None)


async def test_a_cluster_that_does_not_answer_is_named() -> None:
    with pytest.raises(DatabaseUnavailableError, match=r"Temporal does not respond at 127\.0\.0\.1:1"):
        await fleet.connect_client(TemporalOptions(address="127.0.0.1:1"))
