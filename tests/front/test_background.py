"""With a model, learning runs in the background of the process that stores: no call is needed."""

import threading
import time
from collections.abc import Awaitable, Callable

import anyio
import pytest

import bethink
import bethink.sync
from bethink import Memory, Session
from bethink.errors import ModelResponseError
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.jobs import JobKind, JobStatus, Outcome
from bethink.model.records import Trigger
from bethink.providers.scripted_model import ScriptedModel
from tests.conftest import KEY, Quiet, many
from tests.rooms.learn_kit import a_fact, answer, quoting, until, willing

LIKES = answer(a_fact("User sent message 1", 1))


def likes(call: ModelCall) -> str:
    return quoting(LIKES, call) if call.schema_name == "claims" else willing(call)


def model_memory(target: str, model: ScriptedModel | None = None, **settings: object) -> Memory:
    chosen = model or ScriptedModel(likes)
    return bethink.connect(target, model=chosen, redactor=Quiet(), **settings)  # pyright: ignore[reportArgumentType]


def waiting() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "bethink-background"]


def learnt(session: Session) -> Callable[[], Awaitable[bool]]:
    async def done() -> bool:
        return await session.summary() is not None

    return done


async def test_messages_over_threshold_become_facts_without_learn(
    target: str,
) -> None:
    async with model_memory(target) as memory:
        session = await memory.space("alice").session(KEY)
        for message in many(6):
            await session.append([message])

        await until(learnt(session))

        assert [fact.text for fact in await memory.space("alice").facts.list()] == ["User sent message 1"]


ENDINGS: dict[str, Callable[[Session], Awaitable[object]]] = {
    "end": lambda session: session.end(),
    "restart": lambda session: session.restart(),
    "compaction": lambda session: session.restart("compaction"),
    "checkpoint": lambda session: session.checkpoint(force=True),
}


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
async def test_ended_or_idle_session_is_learned_at_once(
    target: str, ending: Callable[[Session], Awaitable[object]]
) -> None:
    async with model_memory(target) as memory:
        session = await memory.space("alice").session(KEY)
        await session.append(many(1))
        await ending(session)

        await until(learnt(session))


async def test_remembered_message_is_learned_in_the_background(target: str) -> None:
    async with model_memory(target) as memory:
        stored = await memory.space("alice").remember("I like tea.")

        await until(learnt(await memory.space("alice").sessions.get(stored.session.id)))


async def test_live_history_is_learned(target: str) -> None:
    async with model_memory(target) as memory:
        async with memory.space("alice").sessions.live(KEY) as live:
            for message in many(6):
                await live.append(message)
        [entry] = await memory.space("alice").sessions.list()

        await until(learnt(await memory.space("alice").sessions.get(entry.session.id)))


async def test_quiet_session_is_learned_after_the_delay(target: str) -> None:
    async with model_memory(target, learn_after_seconds=0.02) as memory:
        session = await memory.space("alice").session(KEY)
        await session.append(many(1))

        await until(learnt(session))


async def test_a_session_is_not_quiet_before_its_time(target: str) -> None:
    model = ScriptedModel(likes)
    async with model_memory(target, model, learn_after_seconds=3600) as memory:
        session = await memory.space("alice").session(KEY)
        await session.append(many(1))
        await memory.learn()

        assert (model.calls, await session.summary()) == ([], None)
        assert all(thread.daemon for thread in waiting()), "it never keeps the process alive"


async def test_closing_marks_unlearned_sessions_for_the_next_process(target: str) -> None:
    async with model_memory(target) as memory:
        session = await memory.space("alice").session(KEY)
        await session.append(many(1))
    async with model_memory(target, learn_in_background=False) as memory:
        session = await memory.space("alice").session(KEY)
        assert (session.info.invalidated_at, session.info.marked_by) == (1, Trigger.IDLE)
    async with model_memory(target) as memory:
        session = await memory.space("alice").session(KEY)
        await session.append(many(1))

        await until(learnt(session))


async def test_reopened_session_also_learns_other_unlearned_sessions(target: str) -> None:
    async with model_memory(target, learn_in_background=False) as memory:
        await memory.space("alice").remember("I like tea.", conversation="other")
        session = await memory.space("alice").session(KEY)
        await session.append(many(1))
        other = (await memory.space("alice").sessions.list())[-1].session.id
    async with model_memory(target) as memory:
        session = await memory.space("alice").session(KEY)
        await session.append(many(1))

        await until(learnt(await memory.space("alice").sessions.get(other)))


async def test_no_thread_starts_without_a_model_or_work(target: str) -> None:
    async with bethink.connect(target, redactor=Quiet()) as memory:
        session = await memory.space("alice").session(KEY)
        await session.append(many(8))
        assert waiting() == []
    async with model_memory(target, learn_in_background=False) as memory:
        await memory.learn()
    async with model_memory(target) as memory:
        await memory.space("alice").session("another")
        assert waiting() == []


async def test_the_thread_ends_when_everything_is_done(target: str) -> None:
    async with model_memory(target) as memory:
        await memory.space("alice").remember("I like tea.")

        async def learnt_all() -> bool:
            return not await memory.backend.local().marks().find_invalidated()

        await until(learnt_all)
        [thread] = waiting()  # the session is open: more may be said in it
        assert thread.daemon
    assert waiting() == []


async def test_learn_reports_background_work_since_the_last_call(target: str) -> None:
    async with model_memory(target) as memory:
        for name in ("alice", "bob"):
            session = await memory.space(name).session(KEY)
            await session.append(many(6))
            await until(learnt(session))

        report = await memory.learn()

        assert report.outcomes == {Outcome.SUCCEEDED: 4}, "two sessions, and the documents of two spaces"
        assert report.settled == {"added": 2}
        assert (await memory.learn()).leased == 0


async def test_background_failure_is_reported_and_retried_later(target: str) -> None:
    model = ScriptedModel([ModelResponseError("no")] * 9)
    async with model_memory(target, model) as memory:
        await memory.space("alice").remember("I like tea.")

        report = await memory.learn()

        assert report.outcomes == {"failed": 1}
        [job] = [each for each in await memory.space("alice").admin.jobs.list() if each.kind is JobKind.EXTRACT]
        assert job.status is JobStatus.FAILED


async def test_closing_does_not_wait_for_a_slow_model_and_gives_the_claim_back(target: str) -> None:
    class Slow(ScriptedModel):
        async def answer(self, call: ModelCall) -> ModelAnswer:
            self.calls.append(call)
            await anyio.sleep(600)
            raise AssertionError

    model = Slow([])
    async with model_memory(target, model) as memory:
        await memory.space("alice").remember("I like tea.")

        async def asked() -> bool:
            return bool(model.calls)

        await until(asked)
        began = time.monotonic()
    assert time.monotonic() - began < 60
    assert waiting() == []
    async with model_memory(target, learn_in_background=False) as memory:
        [job] = [each for each in await memory.space("alice").admin.jobs.list() if each.kind is JobKind.EXTRACT]
        assert (job.status, job.attempts) == (JobStatus.QUEUED, 0)


def test_background_learning_works_for_blocking_callers(tmp_path_factory: pytest.TempPathFactory) -> None:
    target = tmp_path_factory.mktemp("sync") / "memory.db"
    with bethink.sync.connect(target, model=ScriptedModel(willing), redactor=Quiet()) as memory:
        session = memory.space("alice").session(KEY)
        session.append(many(6))
        deadline = time.monotonic() + 10
        while session.summary() is None:
            assert time.monotonic() < deadline
    assert waiting() == []


async def test_reopened_memory_learns_again(target: str) -> None:
    memory = model_memory(target)
    for round_ in range(2):
        async with memory:
            session = await memory.space("alice").session(f"chat-{round_}")
            await session.append(many(6))
            await until(learnt(session))
