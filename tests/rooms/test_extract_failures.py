"""Model and worker failures during extraction, and the resulting state of the session."""

from contextlib import suppress
from datetime import timedelta

import anyio
import pytest

from bethink import Memory, Session
from bethink.errors import ModelTimeoutError, ModelUnavailableError
from bethink.jobs.worker import Worker, WorkerOptions
from bethink.model.calls import ModelAnswer, ModelCall, Stop
from bethink.model.jobs import JobKind, JobStatus, Outcome
from bethink.model.records import conversation_key
from bethink.providers.redaction import SecretRedactor
from bethink.providers.scripted_model import ScriptedModel
from bethink.store import jobs, learning
from bethink.store.db import Database
from tests.conftest import FakeClock, many, said
from tests.rooms.learn_kit import NOTHING, a_fact, answer, extractor, marked, worker


class Killed(BaseException):
    """What no handler catches."""


async def test_recorded_model_answer_is_applied_after_a_crash(
    database: Database, memory: Memory, session: Session, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel(lambda _: answer(a_fact("User plays the cello", 1)))
    await marked(memory, session, "I play the cello.")

    async def die(*_: object) -> None:
        raise Killed

    async def nothing(*_: object) -> None:
        """It is dead, not stopped: nothing is handed back."""

    with monkeypatch.context() as patch:
        patch.setattr("bethink.memory.learning.extraction.extract.Extractor._apply", die)
        patch.setattr("bethink.jobs.worker.Worker._release", nothing)
        with pytest.raises(BaseExceptionGroup):
            await worker(database, model).run_once()
    await session.append(said("said meanwhile"))
    clock.time += timedelta(hours=1)

    await worker(database, model).run_once()

    assert len(model.calls) == 1
    [fact] = await memory.space("alice").facts.search("cello", limit=5)
    assert fact.created_by is not None
    after = await memory.space("alice").sessions.get(session_id=session.id)
    assert after is not None
    assert after.info.processed_until == 1, "the recorded answer was about one record"


async def test_invalid_model_answer_is_requested_once_more(
    database: Database, memory: Memory, session: Session
) -> None:
    model = ScriptedModel(["Sure! Here is your JSON.", answer()])
    await marked(memory, session, "I like tea.")

    report = await worker(database, model).run_once()

    assert report.outcomes == {Outcome.SUCCEEDED: 1}
    assert "could not be used: The answer is not valid JSON." in model.calls[1].prompt
    [job] = [each for each in await memory.space("alice").admin.jobs.list() if each.kind is JobKind.EXTRACT]
    assert job.usage.calls == 3, "two for the claims, and one for the second reading"


@pytest.mark.parametrize(
    "bad",
    [
        "no json",
        '{"claims": [',
        "[1, 2]",
        '{"claims": 1, "suspicious": [], "title": null}',
        '{"claims": {}, "suspicious": [], "title": null}',
        '{"claims": [], "suspicious": 1, "title": null}',
        '{"claims": [], "suspicious": [], "title": 7}',
        '{"suspicious": [], "title": null}',
        '{"claims": [], "suspicious": [], "title": NaN}',
        "[" * 100_000,
        '{"claims": ["' + "x" * 1_000_001 + '"], "suspicious": [], "title": null}',
        ModelAnswer(text=answer(), model="m", stop=Stop.LENGTH),
        ModelAnswer(text="", model="m", stop=Stop.REFUSED),
    ],
)
@pytest.mark.spec("S2.23")
async def test_a_useless_answer_fails_the_job_and_leaves_nothing_behind(
    database: Database, memory: Memory, session: Session, bad: str | ModelAnswer
) -> None:
    await marked(memory, session, "I like tea.")

    report = await worker(database, lambda _: bad).run_once()

    assert report.outcomes == {"failed": 1}
    assert await session.summary() is None
    assert await memory.space("alice").facts.count() == 0
    [job] = [each for each in await memory.space("alice").admin.jobs.list() if each.kind is JobKind.EXTRACT]
    assert (job.status, job.outcome, job.attempts) == (JobStatus.FAILED, Outcome.FAILED, 1)
    assert job.last_error is not None
    assert job.last_error.startswith("ModelResponseError")
    assert job.usage.calls == 2, "it was paid for all the same"
    after = await memory.space("alice").sessions.get(session_id=session.id)
    assert after is not None
    assert (after.info.processed_until, after.info.invalidated_at) == (None, 1)


@pytest.mark.spec("S2.20")
async def test_failed_job_backs_off_and_is_abandoned(
    database: Database, memory: Memory, session: Session, clock: FakeClock
) -> None:
    await marked(memory, session, "I like tea.")
    work = worker(database, lambda _: "no json", max_attempts=3)
    waits: list[float] = []
    for _ in range(2):
        await work.run_once()
        assert (await work.run_once()).leased == 0, "no hot loop"
        [job] = [each for each in await memory.space("alice").admin.jobs.list() if each.kind is JobKind.EXTRACT]
        assert job.due_at is not None
        waits.append((job.due_at - clock.time).total_seconds())
        clock.time = job.due_at
    await work.run_once()

    [job] = [each for each in await memory.space("alice").admin.jobs.list() if each.kind is JobKind.EXTRACT]
    assert (job.status, job.attempts, job.due_at) == (JobStatus.ABANDONED, 3, None)
    assert 45 < waits[0] < 75
    assert 90 < waits[1] < 150
    assert (await work.audit()).abandoned == 1


async def test_job_that_crashes_workers_is_abandoned(
    database: Database, memory: Memory, session: Session, clock: FakeClock
) -> None:
    await marked(memory, session, "poison")
    for _ in range(3):
        await database.transact(
            lambda tx: jobs.lease_jobs(
                tx, kind=JobKind.EXTRACT, worker="doomed", duration=timedelta(milliseconds=1), limit=1
            )
        )
        clock.time += timedelta(microseconds=2_000)
    model = ScriptedModel(lambda _: answer())

    await worker(database, model, max_attempts=3).run_once()

    assert model.calls == []
    [job] = [each for each in await memory.space("alice").admin.jobs.list() if each.kind is JobKind.EXTRACT]
    assert (job.status, job.last_error) == (JobStatus.ABANDONED, "crashed")


async def test_message_during_the_last_attempt_queues_another(
    database: Database, memory: Memory, session: Session
) -> None:
    class Failing(ScriptedModel):
        async def answer(self, call: ModelCall) -> ModelAnswer:
            await session.append(said("something new"))
            raise ZeroDivisionError

    await session.append(many(6))

    await worker(database, Failing([]), max_attempts=1).run_once()

    [job] = [each for each in await memory.space("alice").admin.jobs.list() if each.kind is JobKind.EXTRACT]
    assert (job.status, job.attempts) == (JobStatus.QUEUED, 0)


async def test_one_session_that_kills_its_worker_takes_no_other_down_with_it(
    database: Database, memory: Memory, clock: FakeClock
) -> None:
    key = conversation_key(channel="c", chat="1")
    sessions_ = [await memory.space(f"space-{number}").session(key) for number in range(6)]
    for each in sessions_:
        await marked(memory, each, "poison" if each is sessions_[2] else "tea")

    def deadly(call: ModelCall) -> str:
        if "poison" in call.prompt:
            raise Killed
        return answer()

    async def nothing(*_: object) -> None:
        """It is dead: nothing is handed back."""

    for _ in range(40):
        mortal = worker(database, deadly, max_attempts=3, concurrency=1)
        mortal._release = nothing  # pyright: ignore[reportAttributeAccessIssue]
        with suppress(BaseExceptionGroup):
            await mortal.run_once()
        clock.time += timedelta(seconds=61)

    statuses = {
        job.key: job.status
        for number in range(6)
        for job in await memory.space(f"space-{number}").admin.jobs.list()
        if job.kind is JobKind.EXTRACT
    }
    assert [statuses[each.id] for each in sessions_] == [
        JobStatus.ABANDONED if each is sessions_[2] else JobStatus.WAITING for each in sessions_
    ]


async def test_only_a_model_that_always_times_out_is_unavailable(
    database: Database, memory: Memory, session: Session
) -> None:
    other = await memory.space("bob").session(conversation_key(channel="c", chat="other"))
    await marked(memory, session, "slow")
    await worker(database, lambda _: ModelTimeoutError("slow")).run_once()
    [job] = [each for each in await memory.space("alice").admin.jobs.list() if each.key == session.id]
    assert job.attempts == 0

    await memory.space("alice").sessions.relearn(session.id)
    await marked(memory, other, "quick")
    answered = anyio.Event()

    class Choosy(ScriptedModel):
        async def answer(self, call: ModelCall) -> ModelAnswer:
            if "slow" in call.prompt:
                await answered.wait()
                while await other.summary() is None:  # noqa: ASYNC110
                    await anyio.sleep(0.01)
                await anyio.sleep(0.05)
                raise ModelTimeoutError("slow")
            answered.set()
            return await super().answer(call)

    await worker(database, Choosy([answer()])).run_once()
    [job] = [each for each in await memory.space("alice").admin.jobs.list() if each.key == session.id]
    assert job.attempts == 1


@pytest.mark.parametrize("wait", [float("inf"), float("nan"), 1e15, -5.0])
async def test_any_retry_after_keeps_the_delay_bounded(
    database: Database, memory: Memory, session: Session, clock: FakeClock, wait: float
) -> None:
    await marked(memory, session, "I like tea.")

    await worker(database, lambda _: ModelUnavailableError("later", retry_after=wait)).run_once()

    [job] = [each for each in await memory.space("alice").admin.jobs.list() if each.kind is JobKind.EXTRACT]
    assert job.due_at is not None
    assert job.due_at - clock.time < timedelta(days=1.5)


async def test_model_name_and_error_are_sanitized(database: Database, memory: Memory, session: Session) -> None:
    secret = "ghp_" + "a1B2" * 9
    odd = ModelAnswer(text=NOTHING, model=f"m\0\ud800 {secret} " + "x" * 999, input_tokens=-5, output_tokens=10**30)
    extract = extractor(database, ScriptedModel([odd]), SecretRedactor(b"k"))
    await marked(memory, session, "I like tea.")
    await Worker(database, {JobKind.EXTRACT: extract}, WorkerOptions()).run_once()
    [kept] = await database.transact(
        lambda tx: learning.answers(tx, space="alice", kind=JobKind.EXTRACT, key=session.id),
        space="alice",
        read_only=True,
    )
    [job] = [each for each in await memory.space("alice").admin.jobs.list() if each.kind is JobKind.EXTRACT]
    assert secret not in kept.model
    assert 0 < len(kept.model) <= 200
    assert (job.usage.input_tokens, job.usage.output_tokens) == (0, 10**9)

    await marked(memory, session, "And coffee.")
    broken = extractor(database, ScriptedModel([ModelUnavailableError(f"no\ud800\0 {secret}")]), SecretRedactor(b"k"))
    await Worker(database, {JobKind.EXTRACT: broken}, WorkerOptions(daily_cap=None)).run_once()
    [job] = [each for each in await memory.space("alice").admin.jobs.list() if each.kind is JobKind.EXTRACT]
    assert job.last_error is not None
    assert job.last_error.startswith("ModelUnavailableError: no")
    assert secret not in job.last_error


async def test_failed_model_call_is_charged_with_estimated_tokens(
    database: Database, memory: Memory, session: Session
) -> None:
    await marked(memory, session, "I like tea.")
    script = [ModelAnswer(text="no json", model="m"), ConnectionResetError()]

    report = await worker(database, script).run_once()  # pyright: ignore[reportArgumentType]

    assert report.outcomes == {"failed": 1}
    spent = (await worker(database, None).audit()).spent_today
    assert spent.calls == 1
    assert spent.input_tokens > 300
    assert spent.cost > 0


async def test_unavailable_model_costs_no_attempt_and_gets_a_cooldown(
    database: Database, memory: Memory, session: Session, clock: FakeClock
) -> None:
    await marked(memory, session, "I like tea.")
    work = worker(database, lambda _: ModelUnavailableError("429", retry_after=200.0), max_attempts=2)

    await work.run_once()
    report = await work.run_once()

    assert report.blocked == "model_unavailable"
    [job] = [each for each in await memory.space("alice").admin.jobs.list() if each.kind is JobKind.EXTRACT]
    assert (job.status, job.attempts) == (JobStatus.FAILED, 0)
    assert job.due_at is not None
    assert job.due_at - clock.time >= timedelta(seconds=150)
