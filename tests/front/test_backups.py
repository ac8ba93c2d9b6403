"""Backups: their content, what a restore brings back, what stays deleted, and what becomes invalid."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

import bethink
from bethink.config.addresses import settings_of
from bethink.config.settings import Settings, load_settings
from bethink.errors import (
    ConfigurationError,
    ConflictError,
    CorruptDatabaseError,
    DatabaseUnavailableError,
    LegalHoldError,
    NotFoundError,
    SessionEndedError,
    VersionConflictError,
)
from bethink.features.backups import manifest
from bethink.features.backups.make import back_up
from bethink.features.backups.restore import finish_recovery, restore
from bethink.features.backups.verify import verify_backup, verify_database
from bethink.host.databases import database_from
from bethink.memory.deletion.settling import Settler
from bethink.model.backups import BackupFinding, BackupManifest, RestoreReport
from bethink.model.jobs import JobKind, Lease
from bethink.model.operations.sessions import APPEND, AppendRequest
from bethink.store import jobs
from bethink.store.engines.postgres import RESTORING
from bethink.store.engines.postgres_dump import Tools
from tests.conftest import DATABASES, KEY, Quiet
from tools import postgres

ROOT = Path(__file__).parent.parent.parent
SECRET = "Kavurimote"
LEASE = timedelta(minutes=10)


def settings_for(target: str, **more: object) -> Settings:
    return load_settings(None, **{**settings_of(target), **more})  # pyright: ignore[reportArgumentType]


def opened(settings: Settings) -> bethink.Memory:
    return bethink.connect(settings=replace(settings, learning=replace(settings.learning, enabled=False)))


async def checked(findings: AsyncIterator[BackupFinding]) -> list[BackupFinding]:
    return [each async for each in findings]


@dataclass(kw_only=True)
class Told:
    """One memory that was backed up, went on, and was restored."""

    settings: Settings
    made: BackupManifest
    backup: list[BackupFinding]
    done: RestoreReport
    session: str
    late: str
    position: int
    claim: Lease


def backup_statements() -> list[Any]:
    """What the documentation has a superuser run: the role for backups, then its right to record them."""
    page = (ROOT / "docs" / "howto" / "backup.md").read_text(encoding="utf-8")
    return re.findall(r"```sql\n(.*?)```", page, flags=re.DOTALL)


def backup_role(superuser: str, name: str) -> str:
    """Make the role for backups as the documentation says, and return its address."""
    statements = backup_statements()[0]
    with psycopg.connect(superuser, autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'bethink_backup'").fetchone() is None:
            connection.execute(statements)
    return postgres.in_database(superuser, name, user="bethink_backup")


@pytest.fixture(scope="module", params=DATABASES)
async def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Two conversations are backed up; then one is forgotten and more is said, and the backup is restored."""
    folder = tmp_path_factory.mktemp("told")
    tools = ""
    if request.param == "sqlite":
        settings = backing = settings_for(str(folder / "memory.db"))
    else:
        superuser = request.getfixturevalue("superuser_dsn")
        target = postgres.create_database(superuser, "backed_up")
        settings = settings_for(target, tombstones_file=str(folder / "tombstones"))
        backing = settings_for(backup_role(superuser, "backed_up"))
        tools = str(postgres.binaries())
    file = folder / "monday.backup"
    async with opened(settings) as memory:
        space = memory.space("ida")
        await space.remember(f"My therapist is {SECRET}.", conversation="private")
        session = await space.session(KEY)
        await session.append([bethink.Message(role="user", content=f"number {n}") for n in range(8)])
        await space.facts.save(bethink.Fact(id="first", text="Said early."))
        if request.param != "sqlite":
            above = postgres.in_database(request.getfixturevalue("superuser_dsn"), "backed_up")
            with psycopg.connect(above, autocommit=True) as connection:
                connection.execute(backup_statements()[1])
        made = await back_up(backing, file, tools=tools)
        await space.forget(conversation="private")
        [number] = await session.append([bethink.Message(role="user", content="said late")])
        await space.facts.save(bethink.Fact(id="late", text="Said late."))
        await space.admin.holds.place("case 12", actor="kari")
        changes = await space.admin.changes.list()
        database = memory.backend.local().database
        claims = await database.transact(
            lambda tx: jobs.lease_jobs(tx, kind=JobKind.EXTRACT, worker="w", duration=LEASE, limit=1)
        )
    backup = await checked(verify_backup(settings, file, tools=tools))
    done = await restore(settings, file, tools=tools)
    return Told(
        settings=settings, made=made, backup=backup, done=done, session=session.id,
        late=f"message:{session.id}:{number}", position=changes[-1].number, claim=claims[0],
    )  # fmt: skip


async def test_backup_is_counted_and_verified(told: Told) -> None:
    assert told.made.counts.messages == 9
    assert [(each.name, each.ok) for each in told.backup if not each.ok] == []
    assert told.backup[0].name == "manifest"


async def test_a_restore_brings_back_the_state_of_the_backup(told: Told) -> None:
    async with opened(told.settings) as memory:
        space = memory.space("ida")
        read = await (await space.sessions.get(told.session)).messages()

        assert [each.message.content for each in read] == [f"number {n}" for n in range(8)]
        assert [each.id for each in await space.facts.list()] == ["first"]
        found = await checked(verify_database(told.settings, memory.backend.local().database))
        assert [each for each in found if not each.ok] == []


async def test_restore_keeps_later_deletions(told: Told) -> None:
    async with opened(told.settings) as memory:
        assert (await memory.space("ida").recall(f"Who is {SECRET}?")).items == ()
    if told.settings.module == "memory.sqlite":
        folder = Path(told.settings.database_path).parent
        left = [path for path in folder.iterdir() if not path.name.startswith("monday")]
        assert not any(SECRET.encode() in path.read_bytes() for path in left)
    assert told.done.erased == 1
    assert "the replaced database" in told.done.sources


async def test_restore_keeps_a_later_legal_hold(told: Told) -> None:
    async with opened(told.settings) as memory:
        assert [(each.space, each.reason) for each in await memory.admin.holds.list()] == [("ida", "case 12")]
        with pytest.raises(LegalHoldError):
            await memory.space("ida").forget(everything=True)


async def test_refs_after_the_backup_are_rejected_naming_the_restore(told: Told) -> None:
    late = (bethink.Message(role="user", content="later still"),)
    async with opened(told.settings) as memory:
        space, local = memory.space("ida"), memory.backend.local()
        with pytest.raises(NotFoundError, match="restored on"):
            await space.explain(bethink.Ref.parse(told.late))
        with pytest.raises(SessionEndedError, match="restored on"):
            await local.run(APPEND, "ida", AppendRequest(session_id=told.session, messages=late))
        with pytest.raises(VersionConflictError, match="restored on"):
            await space.admin.changes.list(after=told.position)
        valid = await local.database.transact(lambda tx: jobs.renew_lease(tx, told.claim, duration=LEASE), space="ida")
        assert not valid
        assert (await space.admin.changes.list())[-1].kind == "space.restored"


async def test_backup_and_restore_are_each_in_the_access_log_once(told: Told) -> None:
    async with opened(told.settings) as memory:
        found = [each for each in (await memory.admin.access.list(limit=1_000)).items if each.refs == ("*",)]

    assert [(each.operation, each.space) for each in found] == [("memory.restore", ""), ("memory.backup", "")]
    assert all(each.person for each in found)


async def test_conversation_continues_in_a_new_session_after_restore(told: Told) -> None:
    async with opened(told.settings) as memory:
        session = await memory.space("ida").session(KEY)

        assert session.id != told.session
        assert await session.append([bethink.Message(role="user", content="Here again.")])


@pytest.fixture
async def file_settings(tmp_path: Path) -> Settings:
    """A memory in a file, with one message."""
    settings = settings_for(str(tmp_path / "memory.db"))
    async with opened(settings) as memory:
        await memory.space("ida").remember(f"My therapist is {SECRET}.", conversation="private")
    return settings


async def test_a_backup_is_never_written_over(file_settings: Settings, tmp_path: Path) -> None:
    await back_up(file_settings, tmp_path / "one.backup")

    with pytest.raises(ConflictError, match="exists"):
        await back_up(file_settings, tmp_path / "one.backup")


async def test_a_backup_that_was_changed_is_refused_and_changes_nothing(
    file_settings: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "one.backup"
    await back_up(file_settings, file)
    content = file.read_bytes()
    file.write_bytes(content[:5000] + b"x" + content[5001:])

    with pytest.raises(CorruptDatabaseError, match="was changed"):
        await restore(file_settings, file)
    assert not (await checked(verify_backup(file_settings, file)))[0].ok
    async with opened(file_settings) as memory:
        assert (await memory.space("ida").recall("Who is my therapist?")).items


async def test_tombstone_file_suffices_if_the_database_is_lost(file_settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "one.backup"
    await back_up(file_settings, file)
    async with opened(file_settings) as memory:
        await memory.space("ida").forget(conversation="private")
    Path(file_settings.database_path).unlink()

    done = await restore(file_settings, file)

    assert done.sources == (f"{file_settings.database_path}.tombstones",)
    assert SECRET.encode() not in Path(file_settings.database_path).read_bytes()
    async with opened(file_settings) as memory:
        assert (await memory.space("ida").recall("Who is my therapist?")).items == ()


async def test_tombstone_file_includes_deletions_received_by_sync(file_settings: Settings, tmp_path: Path) -> None:
    file, beside = tmp_path / "one.backup", Path(f"{file_settings.database_path}.tombstones")
    async with opened(settings_for(str(tmp_path / "home.db"))) as home, opened(file_settings) as laptop:
        await home.admin.sync(laptop, "ida")
        await back_up(file_settings, file)
        await home.space("ida").forget(conversation="private")
        await home.admin.sync(laptop, "ida")
        written = beside.read_bytes()
        await home.admin.sync(laptop, "ida")
        assert beside.read_bytes() == written, "what it has already is not added again"
    Path(file_settings.database_path).unlink()

    await restore(file_settings, file)

    async with opened(file_settings) as laptop:
        assert (await laptop.space("ida").recall("Who is my therapist?")).items == ()


async def test_restore_keeps_data_under_a_legal_hold(
    file_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "one.backup"
    await back_up(file_settings, file)

    async def dies(*_: object) -> None:
        raise KeyboardInterrupt

    async with opened(file_settings) as memory:
        monkeypatch.setattr(Settler, "remove", dies)
        with pytest.raises(KeyboardInterrupt):
            await memory.space("ida").forget(conversation="private")
        monkeypatch.undo()
        await memory.space("ida").admin.holds.place("case 12")

    done = await restore(file_settings, file)

    assert done.erased == 0
    async with opened(file_settings) as memory:
        assert (await memory.space("ida").recall("Who is my therapist?")).items


async def test_restore_without_tombstones_reports_no_sources(file_settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "one.backup"
    await back_up(file_settings, file)
    Path(file_settings.database_path).unlink()

    assert (await restore(file_settings, file)).sources == ()


async def test_damaged_database_is_preserved_under_another_name(file_settings: Settings, tmp_path: Path) -> None:
    file, path = tmp_path / "one.backup", Path(file_settings.database_path)
    await back_up(file_settings, file)
    path.write_bytes(b"not a database" * 1000)

    done = await restore(file_settings, file)

    assert Path(done.damaged).read_bytes().startswith(b"not a database")
    async with opened(file_settings) as memory:
        assert (await memory.space("ida").recall("Who is my therapist?")).items


async def test_open_connection_sees_the_restored_state(file_settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "one.backup"
    async with opened(file_settings) as memory:
        space = memory.space("ida")
        await back_up(file_settings, file)
        await space.facts.save(bethink.Fact(id="late", text="Said late."))

        await restore(file_settings, file)

        assert await space.facts.list() == []
        await space.remember("I live in Oslo.", conversation="home")
    async with opened(file_settings) as memory:
        assert (await memory.space("ida").recall("Where do I live?")).items


async def test_a_recovery_by_other_means_is_finished_with_a_new_epoch(file_settings: Settings, tmp_path: Path) -> None:
    made = await back_up(file_settings, tmp_path / "one.backup")
    async with opened(file_settings) as memory:
        await memory.space("ida").forget(conversation="private")
    Path(file_settings.database_path).write_bytes((tmp_path / "one.backup").read_bytes())

    done = await finish_recovery(file_settings, made.began_at)

    assert done.erased == 1
    assert SECRET.encode() not in Path(file_settings.database_path).read_bytes()


async def test_a_backup_without_its_manifest_is_still_checked(file_settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "one.backup"
    await back_up(file_settings, file)
    manifest.path_of(file).unlink()

    found = await checked(verify_backup(file_settings, file))

    assert [each.name for each in found] == ["manifest", "integrity", "counts", "schema", "chain"]
    assert all(each.ok for each in found)


async def test_a_role_that_row_level_security_binds_makes_no_backup(fresh_dsn: str, tmp_path: Path) -> None:
    async with bethink.connect(fresh_dsn, redactor=Quiet(), learn=False):
        pass

    with pytest.raises(ConfigurationError, match="Row-level security applies") as raised:
        await back_up(settings_for(fresh_dsn), tmp_path / "one.backup", tools=str(postgres.binaries()))
    assert "BYPASSRLS" in raised.value.hint
    assert list(tmp_path.iterdir()) == []


async def test_read_only_role_backs_up_without_an_access_log_entry(
    superuser_dsn: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = settings_for(postgres.create_database(superuser_dsn, "only_read"))
    async with opened(settings) as memory:
        await memory.space("ida").remember("figs")
        backing = settings_for(backup_role(superuser_dsn, "only_read"))
        await back_up(backing, tmp_path / "one.backup", tools=str(postgres.binaries()))

        assert (tmp_path / "one.backup").is_file()
        assert "missing from the access log" in caplog.text
        assert (await memory.admin.access.list(operation="memory.backup")).items == ()


async def test_backup_leaves_an_older_schema_unchanged(file_settings: Settings, tmp_path: Path) -> None:
    database = database_from(file_settings)
    await database.run_unopened(lambda tx: tx.script("DROP TABLE access_log"), read_only=False)

    await back_up(file_settings, tmp_path / "one.backup")

    assert not await database.run_unopened(lambda tx: tx.has_table("access_log"))


def test_tools_older_than_the_server_are_refused_with_what_to_install(tmp_path: Path) -> None:
    tool = tmp_path / "pg_dump"
    tool.write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 15.18'\n", encoding="utf-8")
    tool.chmod(0o755)

    assert Tools(folder=str(tmp_path)).find("pg_dump", server=15) == str(tool)
    with pytest.raises(ConfigurationError, match="is version 15, but the server is version 18") as raised:
        Tools(folder=str(tmp_path)).find("pg_dump", server=18)
    assert "--pg-bin" in raised.value.hint


async def test_server_being_restored_rejects_connections(fresh_dsn: str) -> None:
    settings = settings_for(fresh_dsn)
    async with opened(settings) as memory:
        database = memory.backend.local().database
        await database.transact(lambda tx: tx.run("set_deployment_value", name=RESTORING, value="{}"))

    with pytest.raises(DatabaseUnavailableError, match="being restored"):
        await opened(settings).backend.local().open()
