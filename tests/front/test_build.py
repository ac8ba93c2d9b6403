import os
import sys
from pathlib import Path

import anyio
import pytest

import bethink
from bethink import AgentStores, Fact, Settings, build, conversation_key, load_settings
from bethink.errors import Invalid, Misconfigured
from bethink.settings import AgentSettings
from bethink.store.engines.sqlite import SqliteDatabase
from tests.conftest import KEY, Quiet, many


@pytest.mark.spec("S4.2", "S4.56")
async def test_the_default_module_is_sqlite_under_its_name(tmp_path: Path) -> None:
    settings = load_settings(environ={}, data_dir=str(tmp_path))

    assert settings.module == "memory.sqlite"
    assert set(build.MODULES) == {"memory.sqlite", "memory.postgres"}
    assert isinstance(build.MODULES["memory.sqlite"](settings), SqliteDatabase)
    with pytest.raises(Misconfigured, match=r"memory\.sqlite, memory\.postgres"):
        build.memory_from(Settings(module="memory.redis"))


@pytest.mark.spec("S4.43", "S4.57", "S4.59", "S4.60", "S4.62", "S4.84")
async def test_the_shared_module_keeps_history_and_facts_in_one_file_of_the_data_folder(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with build.memory_from(Settings(data_dir=str(data)), redactor=Quiet()) as memory:
        services = build.services(memory, space="alice")
        assert set(services) == {"memory.history", "memory.store"}
        await services["memory.history"].append(KEY, {"role": "user", "content": "x"})
        await services["memory.store"].index(Fact(id="f", content="y"))
        assert await memory.local().history("alice").length(KEY) == 1
        assert await memory.space("alice").facts.count() == 1

    assert os.listdir(data) == ["memory.db"]


@pytest.mark.spec("S4.61")
async def test_a_history_store_opens_from_a_path_alone_and_closes(tmp_path: Path) -> None:
    history, database = await build.open_history_store(tmp_path / "solo" / "memory.db")
    await history.append(KEY, {"role": "user", "content": "x"})
    assert await history.length(KEY) == 1
    await database.close()

    again, database = await build.open_history_store(tmp_path / "solo" / "memory.db")
    assert await again.length(KEY) == 1
    await database.close()


@pytest.mark.spec("S4.79", "S4.80", "S4.83", "S4.85")
async def test_each_agents_file_is_opened_when_it_is_first_asked_for(tmp_path: Path) -> None:
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

    with pytest.raises(Invalid, match="without slashes"):
        await stores.resolve_history(name)
    assert list(tmp_path.iterdir()) == []


async def test_a_file_that_failed_to_open_is_tried_again(tmp_path: Path) -> None:
    (tmp_path / "agents" / "a").mkdir(parents=True)
    (tmp_path / "agents" / "a" / "memory.db").mkdir()
    stores = AgentStores(Settings(data_dir=str(tmp_path)), redactor=Quiet())
    with pytest.raises(Misconfigured):
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
@pytest.mark.parametrize(
    "settings", [Settings(), Settings(enabled=False, sqlite_path="x.db"), Settings(module="memory.postgres")]
)
async def test_every_verb_of_a_memory_without_a_database_does_nothing_and_fails_nothing(settings: Settings) -> None:
    async with build.memory_from(settings, redactor=Quiet()) as memory:
        assert memory.enabled is False
        session = await memory.space("alice").session(KEY)
        assert await session.append(many(9)) == []
        assert await session.read() == []
        assert await session.reset() == session
        assert await session.compacted() == session
        assert await session.end() == session
        assert await memory.space("alice").get_session(session_id=session.id) is None
        assert (
            await memory.local().marks().count_since(session, 0),
            await memory.local().marks().max_number(session),
        ) == (0, None)
        assert (await session.idle(), await session.end_turn()) == (False, False)
        assert await memory.local().marks().invalidate(session, 1) is False
        assert await memory.local().marks().mark_processed(session, until=1, expected=1) is False
        assert await memory.local().marks().find_invalidated() == []
        history, facts = memory.local().history("alice"), memory.space("alice").facts
        assert await history.append(KEY, {"role": "user", "content": "x"}) is None
        await history.set_summary(KEY, "s")
        assert (await history.all(KEY), await history.get_summary(KEY), await history.length(KEY)) == ([], "", 0)
        assert await history.purge(KEY) == 0
        await facts.index(Fact(id="f", content="x"))
        await facts.delete("f")
        assert (await facts.search("x", 5), await facts.search_by_metadata("k", "v"), await facts.length()) == (
            [],
            [],
            0,
        )
        async with memory.local().live("alice", KEY) as live:
            await live.append({"role": "user", "content": "held"})
            assert [message.content for message in live.messages] == ["held"]


async def test_connect_takes_a_path_a_postgres_address_or_nothing(
    tmp_path: Path, clean_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for target in (tmp_path / "m.db", clean_dsn):
        async with bethink.connect(target, redactor=Quiet(), sqlite_busy_timeout=100) as memory:
            session = await memory.space("alice").session(conversation_key(channel="a", chat="b"))
            assert await session.append(many(1)) == [1]
    monkeypatch.setenv("BETHINK_SQLITE_PATH", str(tmp_path / "from-env.db"))
    async with bethink.connect(redactor=Quiet()) as memory:
        assert memory.enabled
    assert (tmp_path / "from-env.db").exists()


@pytest.mark.parametrize(
    ("target", "module"),
    [("postgresql://h/d", "postgres"), ("postgres://h/d", "postgres"), ("host=h dbname=d", "postgres"),
     ("user=u password='a b' host=h", "postgres"), ("./host=.db", "sqlite"), ("notes.db", "sqlite")],
)  # fmt: skip
def test_a_target_is_known_by_how_it_is_written(target: str, module: str) -> None:
    memory = bethink.connect(target, redactor=Quiet())

    assert memory._database is not None
    assert memory._database.dialect == module


def test_an_address_of_something_else_is_refused_without_telling_its_password() -> None:
    with pytest.raises(Misconfigured, match="postgresql://") as caught:
        bethink.connect("mysql://u:hunter2@h/y", redactor=Quiet())
    assert "hunter2" not in str(caught.value)


def test_a_memory_that_stores_nothing_says_so_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    bethink.connect(data_dir="")

    assert [record.message for record in caplog.records] == ["nothing will be remembered: memory is without a place"]


def test_postgres_without_its_driver_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "bethink.store.engines.postgres", raising=False)
    monkeypatch.setitem(sys.modules, "psycopg", None)

    with pytest.raises(Misconfigured, match=r"bethink\[postgres\]"):
        bethink.connect("postgresql://x/y", redactor=Quiet())
