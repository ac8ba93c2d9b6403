import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

import bethink
import bethink.sync
from bethink import Fact, Settings
from bethink.api.connect import memory_from
from bethink.config.groups import AgentSettings
from bethink.config.settings import load_settings
from bethink.errors import (
    BethinkError,
    ConfigurationError,
    DatabaseUnavailableError,
    InvalidRequestError,
    NotFoundError,
)
from bethink.features.agent_databases.databases import AgentStores, open_history_store, services
from bethink.host import databases
from bethink.host.off import Off
from bethink.model.operations.base import Operation, Request
from bethink.model.records import conversation_key
from bethink.store.engines.sqlite import SqliteDatabase
from tests.conftest import KEY, Quiet, many
from tests.doors.cli_kit import run
from tests.requests_kit import FULL


@pytest.mark.spec("S4.2", "S4.56")
async def test_the_default_module_is_sqlite_under_its_name(tmp_path: Path) -> None:
    settings = load_settings(environ={}, data_dir=str(tmp_path))

    assert settings.module == "memory.sqlite"
    assert set(databases.MODULES) == {"memory.sqlite", "memory.postgres"}
    assert isinstance(databases.database_from(settings), SqliteDatabase)
    with pytest.raises(ConfigurationError, match=r"memory\.sqlite, memory\.postgres"):
        memory_from(Settings(module="memory.redis"))


@pytest.mark.spec("S4.43", "S4.57", "S4.59", "S4.60", "S4.62", "S4.84")
async def test_shared_module_stores_history_and_facts_in_one_file(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with memory_from(Settings(data_dir=str(data)), redactor=Quiet()) as memory:
        found = services(memory, space="alice")
        assert set(found) == {"memory.history", "memory.store"}
        await found["memory.history"].append(KEY, {"role": "user", "content": "x"})
        await found["memory.store"].save(Fact(id="f", text="y"))
        assert await memory.backend.local().history("alice").length(KEY) == 1
        assert await memory.space("alice").facts.count() == 1

    assert os.listdir(data) == ["memory.db"]


@pytest.mark.spec("S4.61")
async def test_a_history_store_opens_from_a_path_alone_and_closes(tmp_path: Path) -> None:
    history, database = await open_history_store(tmp_path / "solo" / "memory.db")
    await history.append(KEY, {"role": "user", "content": "x"})
    assert await history.length(KEY) == 1
    await database.close()

    again, database = await open_history_store(tmp_path / "solo" / "memory.db")
    assert await again.length(KEY) == 1
    await database.close()


async def test_history_store_redacts_configured_personal_numbers(tmp_path: Path) -> None:
    settings = load_settings(environ={"BETHINK_REDACT_PERSONAL": "email"})
    history, database = await open_history_store(tmp_path / "memory.db", settings=settings)
    await history.append(KEY, {"role": "user", "content": "write to mira@acme.test"})
    assert "mira@acme.test" not in str(await history.all(KEY))
    await database.close()


@pytest.mark.spec("S4.79", "S4.80", "S4.83", "S4.85")
async def test_agent_file_is_opened_on_first_use(tmp_path: Path) -> None:
    stores = AgentStores(Settings(data_dir=str(tmp_path)), redactor=Quiet())
    assert list(tmp_path.iterdir()) == []

    for name in ("assistant", "support"):
        history = await stores.resolve_history(name)
        assert history is not None
        await history.append(KEY, {"role": "user", "content": name})

    for name in ("assistant", "support"):
        assert (tmp_path / "agents" / name / "memory.db").exists()
        again = await stores.resolve_history(name)
        assert again is not None
        assert [record.message.content for record in await again.all(KEY)] == [name]
    await stores.close()


@pytest.mark.spec("S4.80", "S4.83")
async def test_an_agent_may_have_a_folder_of_its_own(tmp_path: Path) -> None:
    settings = Settings(data_dir=str(tmp_path), agents={"a": AgentSettings(data_dir=str(tmp_path / "own"))})
    stores = AgentStores(settings, redactor=Quiet())

    assert await stores.resolve_history("a") is not None
    assert (tmp_path / "own" / "memory.db").exists()
    await stores.close()


@pytest.mark.spec("S4.81")
async def test_an_agents_file_is_opened_once_however_many_ask_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    real = SqliteDatabase.open

    async def counted(self: SqliteDatabase) -> None:
        opened.append(self.options.path)
        await real(self)

    monkeypatch.setattr(SqliteDatabase, "open", counted)
    stores = AgentStores(Settings(data_dir=str(tmp_path)), redactor=Quiet())
    found: list[object] = []

    async def ask() -> None:
        found.append(await stores.resolve_history("a"))

    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(ask)

    assert len(opened) == 1
    assert all(each is found[0] for each in found)
    await stores.close()


@pytest.mark.spec("S4.82")
async def test_closing_the_stores_closes_every_file(tmp_path: Path) -> None:
    stores = AgentStores(Settings(data_dir=str(tmp_path)), redactor=Quiet())
    for name in ("a", "b"):
        await stores.resolve_history(name)
    await stores.close()

    for name in ("a", "b"):
        names = os.listdir(tmp_path / "agents" / name)
        assert names == ["memory.db"]  # the write-ahead log went with the last connection
    await stores.close()


@pytest.mark.parametrize("name", ["../../escaped", "a/b", "..", ".", "", "a\\b", "a\0"])
async def test_an_agents_name_cannot_lead_out_of_the_data_folder(tmp_path: Path, name: str) -> None:
    stores = AgentStores(Settings(data_dir=str(tmp_path / "data")), redactor=Quiet())

    with pytest.raises(InvalidRequestError, match="without slashes"):
        await stores.resolve_history(name)
    assert list(tmp_path.iterdir()) == []


async def test_a_file_that_failed_to_open_is_tried_again(tmp_path: Path) -> None:
    (tmp_path / "agents" / "a").mkdir(parents=True)
    (tmp_path / "agents" / "a" / "memory.db").mkdir()
    stores = AgentStores(Settings(data_dir=str(tmp_path)), redactor=Quiet())
    with pytest.raises(ConfigurationError):
        await stores.resolve_history("a")

    (tmp_path / "agents" / "a" / "memory.db").rmdir()
    assert await stores.resolve_history("a") is not None
    await stores.close()


@pytest.mark.spec("S4.3", "S4.65", "S4.66")
@pytest.mark.parametrize(
    "settings",
    [
        Settings(data_dir=""),
        Settings(data_dir="{here}", enabled=False),
        Settings(data_dir="{here}", agents={"a": AgentSettings(enabled=False)}),
    ],
)
async def test_memory_that_is_off_or_has_nowhere_to_be_resolves_to_nothing(tmp_path: Path, settings: Settings) -> None:
    if settings.data_dir:
        settings = Settings(data_dir=str(tmp_path), enabled=settings.enabled, agents=settings.agents)
    stores = AgentStores(settings, redactor=Quiet())

    assert await stores.resolve_history("a") is None
    assert list(tmp_path.iterdir()) == []
    await stores.close()


@pytest.mark.spec("S4.3", "S4.66")
async def test_a_memory_that_is_switched_off_stores_nothing_and_fails_nothing(tmp_path: Path) -> None:
    async with bethink.connect(tmp_path / "m.db", enabled=False) as memory:
        alice = memory.space("alice")
        stored = await alice.remember("Hello.")
        assert stored.refs == ()
        assert await alice.sessions.list() == []
        found = await alice.recall("Hello?")
        assert (found.items, found.note) == ((), "Memory is disabled")
        assert not await alice.context("Hello?")
        session = await alice.session(KEY)
        assert await session.append(many(9)) == []
        assert await session.messages() == []
        assert await session.restart() == await session.restart("compaction") == await session.end() == session
        assert (await session.checkpoint(force=True), await session.checkpoint()) == (False, False)
        assert await session.strip_citations("Tea [1].") == "Tea [1]."
        facts = alice.facts
        assert (await facts.search("x"), await facts.list(where={"k": "v"}), await facts.count()) == ([], [], 0)
        assert (await alice.forget(everything=True)).messages == 0
        assert [space.name for space in await memory.spaces.list()] == []
        async with alice.sessions.live(KEY) as live:
            await live.append({"role": "user", "content": "held"})
            assert [message.content for message in live.messages] == ["held"]
        with pytest.raises(DatabaseUnavailableError, match="disabled"):
            memory.backend.local()

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("operation", "request_"), FULL, ids=[operation.name for operation, _ in FULL])
async def test_disabled_memory_answers_every_operation_or_says_why_not(
    operation: Operation[Any, Any], request_: Request
) -> None:
    refusals: list[BethinkError] = []
    try:
        await Off().run(operation, "alice", request_)
    except (NotFoundError, DatabaseUnavailableError) as refused:
        refusals.append(refused)

    assert all("disabled" in str(each) and each.hint == "Set `enabled = true`." for each in refusals)


@pytest.mark.parametrize("target", ["", "m.db", "postgresql://h/d", "https://memory.example"])
def test_any_memory_can_be_switched_off(target: str) -> None:
    assert isinstance(bethink.connect(target, enabled=False).backend, Off)


def test_connect_without_settings_uses_the_file_of_the_cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("BETHINK_") and "TEST" not in name]:
        monkeypatch.delenv(name)
    with bethink.sync.connect(learn_in_background=False) as memory:
        memory.space("me").remember("I keep bees.")

    assert (tmp_path / "data" / "bethink" / "memory.db").exists()
    assert "I keep bees." in run("recall", "What do I keep?", "--space", "me").out


async def test_connect_takes_a_path_a_postgres_address_or_nothing(
    tmp_path: Path, clean_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for target in (tmp_path / "m.db", clean_dsn):
        async with bethink.connect(target, redactor=Quiet(), sqlite_busy_timeout=0.1) as memory:
            session = await memory.space("alice").session(conversation_key(channel="a", chat="b"))
            assert await session.append(many(1)) == [1]
    monkeypatch.setenv("BETHINK_SQLITE_PATH", str(tmp_path / "from-env.db"))
    async with bethink.connect(redactor=Quiet()) as memory:
        assert [space.name for space in await memory.spaces.list()] == []
    assert (tmp_path / "from-env.db").exists()


@pytest.mark.parametrize(
    ("target", "module"),
    [("postgresql://h/d", "postgres"), ("postgres://h/d", "postgres"), ("host=h dbname=d", "postgres"),
     ("user=u password='a b' host=h", "postgres"), ("./host=.db", "sqlite"), ("notes.db", "sqlite")],
)  # fmt: skip
def test_target_is_recognized_by_its_form(target: str, module: str) -> None:
    memory = bethink.connect(target, redactor=Quiet())

    assert memory.backend.local().database.dialect == module


def test_unsupported_address_is_rejected_without_its_password() -> None:
    with pytest.raises(ConfigurationError, match="postgresql://") as caught:
        bethink.connect("mysql://u:hunter2@h/y", redactor=Quiet())
    assert "hunter2" not in str(caught.value)


def test_a_memory_that_stores_nothing_says_so_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    bethink.connect(enabled=False)

    assert [record.message for record in caplog.records] == ["Memory is disabled: nothing will be stored"]


def test_postgres_without_its_driver_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "bethink.store.engines.postgres", raising=False)
    monkeypatch.setitem(sys.modules, "psycopg", None)

    with pytest.raises(ConfigurationError, match=r"\[postgres\]"):
        bethink.connect("postgresql://x/y", redactor=Quiet())


async def test_the_key_for_a_server_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="key"):
        bethink.connect("https://memory.example")
    monkeypatch.setenv("BETHINK_API_KEY", "bt_000000000000.x")

    assert bethink.connect("https://memory.example").backend is not None


async def test_arguments_override_settings(tmp_path: Path) -> None:
    chosen = tmp_path / "chosen.db"
    settings = load_settings(environ={}, data_dir=str(tmp_path / "other"))

    off = bethink.connect(chosen, enabled=False, settings=settings)
    assert (await off.space("alice").remember("a secret plan")).refs == ()
    async with bethink.connect(chosen, settings=settings, learn=False) as memory:
        await memory.space("alice").remember("I play the cello.")

    assert chosen.exists()
    assert not (tmp_path / "other").exists()
    with pytest.raises(ConfigurationError, match="does not name a provider"):
        bethink.connect(chosen, model="nosuch:x", settings=settings)
    with pytest.raises(ConfigurationError, match="typo"):
        bethink.connect("https://memory.example", api_key="k", typo=1)
    switched_off = bethink.connect(
        "https://memory.example", api_key="k", settings=load_settings(environ={}, enabled=False)
    )
    assert (await switched_off.space("alice").recall("Who plays?")).note == "Memory is disabled"
