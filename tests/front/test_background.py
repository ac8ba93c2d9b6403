"""With a model, learning happens by itself in the process that stores: nobody has to call for it."""

import threading
import time
from collections.abc import Awaitable, Callable

import anyio
import pytest

import bethink
import bethink.sync
from bethink import Memory, Session
from bethink.errors import BadAnswer
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


async def test_messages_beyond_the_threshold_become_facts_though_nobody_ends_a_turn_or_calls_learn(
    target: str,
) -> None:
    async with model_memory(target) as memory:
        session = await memory.space("alice").session(KEY)
        for message in many(6):
            await session.append([message])

        await until(learnt(session))

        assert [fact.content for fact in await memory.space("alice").facts.all()] == ["User sent message 1"]


@pytest.mark.parametrize("ending", ["end", "reset", "compacted", "idle"])
async def test_a_session_that_ends_or_goes_idle_is_learnt_from_at_once(target: str, ending: str) -> None:
    async with model_memory(target) as memory:
        session = await memory.space("alice").session(KEY)
        await session.append(many(1))
        await getattr(session, ending)()

        await until(learnt(session))


async def test_what_is_remembered_is_learnt_from_at_once(target: str) -> None:
    async with model_memory(target) as memory:
        stored = await memory.space("alice").remember("I like tea.")

        await until(learnt(await memory.space("alice").get_session(stored.session.id)))


async def test_a_live_history_is_learnt_from_as_well(target: str) -> None:
    async with model_memory(target) as memory:
        async with memory.space("alice").live(KEY) as live:
            for message in many(6):
                await live.append(message)
        [entry] = await memory.space("alice").sessions()

        await until(learnt(await memory.space("alice").get_session(entry.session.id)))


async def test_a_session_that_is_quiet_for_long_enough_is_learnt_from(target: str) -> None:
    async with model_memory(target, learn_after=0.02) as memory:
        session = await memory.space("alice").session(KEY)
        await session.append(many(1))

        await until(learnt(session))


async def test_a_session_is_not_quiet_before_its_time(target: str) -> None:
    model = ScriptedModel(likes)
    async with model_memory(target, model, learn_after=3600) as memory:
        session = await memory.space("alice").session(KEY)
        await session.append(many(1))
        await memory.learn()

        assert (model.calls, await session.summary()) == ([], None)
        assert all(thread.daemon for thread in waiting()), "it never keeps the process alive"


async def test_what_is_left_when_a_memory_closes_is_marked_and_found_by_the_next_process(target: str) -> None:
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


async def test_a_process_that_only_goes_on_with_an_open_session_learns_what_was_left(target: str) -> None:
    async with model_memory(target, learn_in_background=False) as memory:
        await memory.space("alice").remember("I like tea.", conversation="other")
        session = await memory.space("alice").session(KEY)
        await session.append(many(1))
        other = (await memory.space("alice").sessions())[-1].session.id
    async with model_memory(target) as memory:
        session = await memory.space("alice").session(KEY)
        await session.append(many(1))

        await until(learnt(await memory.space("alice").get_session(other)))


async def test_without_a_model_and_with_nothing_to_do_there_is_no_thread(target: str) -> None:
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
            return not await memory.local().marks().find_invalidated()

        await until(learnt_all)
        [thread] = waiting()  # the session is open: more may be said in it
        assert thread.daemon
    assert waiting() == []


async def test_learn_reports_what_the_background_did_since_it_was_last_called(target: str) -> None:
    async with model_memory(target) as memory:
        for name in ("alice", "bob"):
            session = await memory.space(name).session(KEY)
            await session.append(many(6))
            await until(learnt(session))

        report = await memory.learn()

        assert report.outcomes == {Outcome.SUCCEEDED: 4}, "two sessions, and the documents of two spaces"
        assert report.settled == {"added": 2}
        assert (await memory.learn()).claimed == 0


async def test_a_failure_in_the_background_is_in_the_report_and_tried_again_later(target: str) -> None:
    model = ScriptedModel([BadAnswer("no")] * 9)
    async with model_memory(target, model) as memory:
        await memory.space("alice").remember("I like tea.")

        report = await memory.learn()

        assert report.outcomes == {"failed": 1}
        [job] = [each for each in await memory.space("alice").jobs() if each.kind is JobKind.EXTRACT]
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
        [job] = [each for each in await memory.space("alice").jobs() if each.kind is JobKind.EXTRACT]
        assert (job.status, job.attempts) == (JobStatus.QUEUED, 0)


def test_it_happens_for_blocking_callers_as_well(tmp_path_factory: pytest.TempPathFactory) -> None:
    target = tmp_path_factory.mktemp("sync") / "memory.db"
    with bethink.sync.connect(target, model=ScriptedModel(willing), redactor=Quiet()) as memory:
        session = memory.space("alice").session(KEY)
        session.append(many(6))
        deadline = time.monotonic() + 10
        while session.summary() is None:
            assert time.monotonic() < deadline
    assert waiting() == []


async def test_a_memory_that_was_closed_learns_again_when_it_is_opened_again(target: str) -> None:
    memory = model_memory(target)
    for round_ in range(2):
        async with memory:
            session = await memory.space("alice").session(f"chat-{round_}")
            await session.append(many(6))
            await until(learnt(session))
