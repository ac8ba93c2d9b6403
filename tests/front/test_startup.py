"""What a Memory starts automatically, and how its model is selected."""

import logging
import sys
import threading
from collections.abc import Callable
from datetime import timedelta

import anyio
import pytest

import bethink
import bethink.sync
from bethink.config.groups import ModelSettings
from bethink.config.settings import Settings
from bethink.errors import ConfigurationError, DatabaseUnavailableError
from bethink.memory.plugins import model_from
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.jobs import JobKind, JobStatus, Outcome
from bethink.model.records import conversation_key
from bethink.providers.anthropic_model import AnthropicModel
from bethink.providers.openai_model import OpenAIModel
from bethink.providers.scripted_model import ScriptedModel
from bethink.types import AgentKind
from tests.conftest import KEY, Quiet, many
from tests.rooms.learn_kit import until, willing

HOUR = timedelta(hours=1)


def chat(number: int) -> str:
    return conversation_key(channel="cli", chat=str(number))


@pytest.fixture
def thread_names() -> Callable[[], set[str]]:
    return lambda: {thread.name for thread in threading.enumerate()}


@pytest.mark.spec("S2.1", "S2.6")
async def test_opening_a_root_session_learns_marked_sessions(target: str) -> None:
    model = ScriptedModel(willing)
    async with bethink.connect(target, model=model, redactor=Quiet(), learn_in_background=False) as memory:
        session = await memory.space("alice").session(chat(1))
        await session.append(many(6))
    async with bethink.connect(target, model=model, redactor=Quiet()) as memory:
        await memory.space("alice").session(chat(2))
        session = await memory.space("alice").sessions.get(session.id)

        async def remembered() -> bool:
            return await session.summary() is not None

        await until(remembered)

    assert model.calls[0].schema_name == "claims"


@pytest.mark.spec("S2.2", "S2.3", "S2.4", "S2.5")
async def test_background_does_not_start_for_excluded_sessions(
    target: str, thread_names: Callable[[], set[str]]
) -> None:
    async with bethink.connect(target, redactor=Quiet()) as memory:
        await memory.space("alice").session(chat(1), ephemeral=True)
        await memory.space("alice").session(chat(2), agent="s", kind=AgentKind.SUBAGENT)
        assert "bethink-background" not in thread_names()
    async with bethink.connect(target, redactor=Quiet(), learn=False) as memory:
        await memory.space("alice").session(chat(3))
        assert "bethink-background" not in thread_names()
        with pytest.raises(DatabaseUnavailableError):
            await memory.learn()
    async with bethink.connect(enabled=False) as memory:
        await memory.space("alice").session(chat(4))
        assert "bethink-background" not in thread_names()


async def test_closing_a_memory_stops_its_background_work(target: str, thread_names: Callable[[], set[str]]) -> None:
    class Endless(ScriptedModel):
        async def answer(self, call: ModelCall) -> ModelAnswer:
            self.calls.append(call)
            await anyio.sleep_forever()
            raise AssertionError

    model = Endless([])
    async with bethink.connect(target, model=model, redactor=Quiet(), learn_in_background=False) as memory:
        session = await memory.space("alice").session(chat(1))
        await session.append(many(6))
    async with bethink.connect(target, model=model, redactor=Quiet()) as memory:
        await memory.space("alice").session(chat(2))

        async def asked() -> bool:
            return bool(model.calls)

        await until(asked)

    assert "bethink-background" not in thread_names()
    async with bethink.connect(
        target, model=ScriptedModel(willing), redactor=Quiet(), learn_in_background=False
    ) as memory:
        report = await memory.learn()
    assert report.outcomes == {Outcome.SUCCEEDED: 2}, "it was handed back, learned from, and its space settled"


async def test_the_loop_can_be_run_from_a_memory(target: str) -> None:
    model = ScriptedModel(willing)
    async with bethink.connect(target, model=model, redactor=Quiet(), learn_in_background=False) as memory:
        session = await memory.space("alice").session(KEY)
        await session.append(many(6))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(memory.run_worker)

            async def done() -> bool:
                return not await memory.backend.local().marks().find_invalidated()

            await until(done)
            tasks.cancel_scope.cancel()
        assert (await memory.admin.audit()).spent_today.calls >= 1


def test_a_model_is_named_by_provider_and_name() -> None:

    assert model_from(Settings()) is None
    local = model_from(
        Settings(model=ModelSettings(name="openai:small", base_url="http://127.0.0.1:1/v1", window=4096))
    )
    assert isinstance(local, OpenAIModel)
    assert (local.name, local.window) == ("small", 4096)
    assert isinstance(model_from(Settings(model=ModelSettings(name="anthropic:c", api_key="k"))), AnthropicModel)
    for wrong in ("gpt", "openai:", "mystery:m"):
        with pytest.raises(ConfigurationError, match="does not name a provider"):
            model_from(Settings(model=ModelSettings(name=wrong)))


NOWHERE = "http://127.0.0.1:1/v1"


def test_model_and_embedder_can_be_set_by_name() -> None:
    with bethink.sync.connect(
        ":memory:",
        model="openai:foo",
        model_base_url=NOWHERE,
        embedder="openai:bar",
        embedder_base_url=NOWHERE,
        embedder_dimension=3,
        learn_in_background=False,
    ) as memory:
        memory.space("alice").remember("My cat is called Miso.")
        report = memory.learn()
        found = memory.space("alice").recall("cat")
        errors = {job.kind: job.last_error or "" for job in memory.space("alice").admin.jobs.list()}

    assert report.outcomes["failed"] == 2
    assert errors[JobKind.EXTRACT].startswith("ModelUnavailable")
    assert errors[JobKind.INDEX].startswith("ModelUnavailable")
    assert found.note == "Embedder unavailable. Ranked by words only."


async def test_model_argument_overrides_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BETHINK_MODEL", "mystery:m")
    with pytest.raises(ConfigurationError, match="'mystery:m' does not name a provider"):
        bethink.connect(":memory:")
    async with bethink.connect(":memory:", model="", learn_in_background=False) as memory:
        await memory.space("alice").remember("My cat is called Miso.")
        assert (await memory.learn()).outcomes[Outcome.SUCCEEDED]


@pytest.fixture(params=["key", "extra"])
def unmade(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A model and an embedder that lack something, and what the hint says of it."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BETHINK_MODEL", "openai:gpt-6-luna")
    if request.param == "key":
        return "Set OPENAI_API_KEY"
    for module in ("openai_model", "openai_embedder"):
        monkeypatch.setitem(sys.modules, f"bethink.providers.{module}", None)
    return r"pip install '\.\[openai\]'"


async def test_missing_model_package_fails_only_learning(
    target: str, unmade: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with bethink.connect(target, redactor=Quiet()) as memory:
        with caplog.at_level(logging.WARNING):
            for place in range(3):
                session = await memory.space("alice").session(chat(place))
                await session.append(many(6))
                with pytest.raises(ConfigurationError, match=unmade):
                    await memory.learn()
        told = [record.message for record in caplog.records]
        assert (await memory.space("alice").recall("message")).items
        jobs = {job.kind: job for job in await memory.space("alice").admin.jobs.list()}
        audit = await memory.admin.audit()
        assert (await memory.space("alice").forget(everything=True)).messages == 18

    assert len(told) == 1
    assert told[0].startswith("Sessions stay queued for learning: ")
    assert (jobs[JobKind.EXTRACT].status, jobs[JobKind.EXTRACT].attempts) == (JobStatus.QUEUED, 0)
    assert audit.daily_budget == 5_000_000


async def test_missing_embedder_package_leaves_search_by_words(
    target: str, unmade: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with bethink.connect(
        target, redactor=Quiet(), model="", embedder="openai:small", learn_in_background=False
    ) as memory:
        await memory.space("alice").remember("My cat is called Miso.")
        with caplog.at_level(logging.WARNING):
            found = await memory.space("alice").recall("cat")
        with pytest.raises(ConfigurationError, match=unmade):
            await memory.learn()
        with pytest.raises(ConfigurationError, match=unmade):
            await memory.backend.local().vectors().reindex()
        assert (await memory.admin.audit()).daily_budget is None, "without a model nothing is spent"
        jobs = {job.kind: job for job in await memory.space("alice").admin.jobs.list()}

    assert [item.text for item in found.items] == ["My cat is called Miso."]
    assert found.note == "Embedder unavailable. Ranked by words only."
    [told] = caplog.records
    assert told.message.startswith("Recall continues without vectors: ")
    assert jobs[JobKind.EXTRACT].outcome is Outcome.SUCCEEDED
    assert (jobs[JobKind.INDEX].status, jobs[JobKind.INDEX].attempts) == (JobStatus.QUEUED, 0)
