"""Operations on a whole space bypass the operations table and are still in the access log."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import bethink
from bethink.config.groups import AccessSettings
from bethink.config.settings import Settings
from bethink.errors import DatabaseError, LegalHoldError, NotFoundError
from bethink.memory.archive import write
from bethink.model.access import AccessEntry, Interface
from bethink.store import access_log
from bethink.store.db import Database, Tx
from tests.conftest import memory_on
from tests.doors.cli_kit import run
from tests.doors.server_kit import serving

pytestmark = pytest.mark.anyio
EXPORT, IMPORT, SYNC = "space.admin.export_archive", "memory.admin.import_archive", "memory.admin.sync"


async def entries(memory: bethink.Memory, operation: str, **asked: Any) -> list[AccessEntry]:
    return list((await memory.admin.access.list(operation=operation, **asked)).items)


def places(found: list[AccessEntry]) -> list[tuple[str, tuple[str, ...]]]:
    return [(each.space, each.refs) for each in found]


@pytest.fixture
async def other(template: Path, tmp_path: Path) -> Any:
    """Another memory, with nothing in it."""
    async with bethink.connect(shutil.copy(template, tmp_path / "other.db"), learn_in_background=False) as memory:
        yield memory


def _broken(tx: Tx, entry: object) -> None:
    del tx, entry
    raise DatabaseError("no room.")


async def test_an_export_is_recorded_as_a_look_at_everything_in_the_space(
    memory: bethink.Memory, database: Database, tmp_path: Path
) -> None:
    stored = await memory.space("ida").remember("figs")
    with bethink.acting_for("kari"):
        await memory.space("ida").admin.export_archive(tmp_path / "a.zip")
    await (
        memory_on(database, settings=Settings(access=AccessSettings(keep_days=0)))
        .space("ida")
        .admin.export_archive(tmp_path / "a.zip")
    )  # it is switched off

    (found,) = await entries(memory, EXPORT)
    assert (found.space, found.refs, found.person, found.interface) == ("ida", ("*",), "kari", Interface.LIBRARY)
    about = (await memory.admin.access.list(ref=str(stored.refs[0]))).items
    assert [each.operation for each in about] == [EXPORT, "space.remember"]
    assert [each.operation for each in (await memory.admin.access.list(ref="document:some:1")).items] == [EXPORT]


async def test_an_export_that_breaks_off_is_on_record_and_one_of_nothing_is_not(
    memory: bethink.Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(tx: Tx, path: Path, *, space: str) -> None:
        del tx, path, space
        raise DatabaseError("no room.")

    await memory.space("ida").remember("figs")
    monkeypatch.setattr(write, "_to_file", broken)
    with pytest.raises(DatabaseError):
        await memory.space("ida").admin.export_archive(tmp_path / "a.zip")
    with pytest.raises(NotFoundError):
        await memory.space("nobody").admin.export_archive(tmp_path / "a.zip")

    assert places(await entries(memory, EXPORT)) == [("ida", ("*",))]


async def test_export_fails_if_it_cannot_be_logged(
    memory: bethink.Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory.space("ida").remember("figs")
    monkeypatch.setattr(access_log, "add", _broken)
    with pytest.raises(DatabaseError):
        await memory.space("ida").admin.export_archive(tmp_path / "a.zip")

    assert not list(tmp_path.glob("*.zip"))


async def test_a_download_is_recorded_under_its_key_and_a_refused_one_is_not(target: str) -> None:
    async with serving(target) as served:
        reader, elsewhere = await served.key_for("read", spaces=["ida"]), await served.key_for("read", spaces=["bo"])
        await served.memory.space("ida").remember("figs")

        assert (await served("GET", "/v1/spaces/ida/archive", key=reader)).body.startswith(b"PK")
        assert (await served("GET", "/v1/spaces/ida/archive", key=elsewhere)).status == 404
        assert (await served("GET", "/v1/spaces/none/archive")).status == 404

        (found,) = await entries(served.memory, EXPORT)
        assert (found.key, found.person, found.interface) == (reader[3:15], "", Interface.HTTP)
        assert places([found]) == [("ida", ("*",))]


async def test_import_is_logged_with_its_space(
    memory: bethink.Memory, other: bethink.Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await other.space("ida").remember("figs")
    await other.space("ida").admin.export_archive(tmp_path / "a.zip")
    await memory.admin.import_archive(tmp_path / "a.zip", dry_run=True)

    with monkeypatch.context() as patch:
        patch.setattr(access_log, "add", _broken)
        with pytest.raises(DatabaseError):
            await memory.admin.import_archive(tmp_path / "a.zip")
    assert [space.name for space in await memory.spaces.list()] == []
    assert await entries(memory, IMPORT) == []

    await memory.admin.import_archive(tmp_path / "a.zip")
    await memory.admin.import_archive(tmp_path / "a.zip", space="copy")
    assert places(await entries(memory, IMPORT)) == [("copy", ("*",)), ("ida", ("*",))]


async def test_a_sync_is_recorded_on_both_sides_once_for_each_space(
    memory: bethink.Memory, other: bethink.Memory
) -> None:
    await memory.space("ida").remember("figs")
    await other.space("bo").remember("dates")
    with bethink.acting_for("kari"):
        await memory.admin.sync(other)

    for side in (memory, other):
        found = await entries(side, SYNC)
        assert places(found) == [("ida", ("*",)), ("bo", ("*",))]
        assert {each.person for each in found} == {"kari"}
    await other.space("ida").admin.holds.place("case 12")
    with pytest.raises(LegalHoldError):
        await memory.admin.sync(other, "ida")
    assert len(await entries(memory, SYNC)) == len(await entries(other, SYNC)) == 2


def test_each_command_that_takes_everything_is_recorded_with_its_space(
    target: str, template: Path, tmp_path: Path
) -> None:
    file, laptop = str(tmp_path / "a.zip"), str(shutil.copy(template, tmp_path / "laptop.db"))
    run("add", "figs", "--space", "ida", "--database", target)
    assert run("data", "export", "--format", "archive", "-o", file, "--space", "ida", "--database", target).code == 0
    assert run("import", "archive", file, "--space", "copy", "--database", target, "--yes").code == 0
    assert run("data", "sync", target, laptop, "--space", "ida", "--yes").code == 0

    def shown(where: str) -> list[tuple[str, ...]]:
        items = run("admin", "access", "--database", where, "--json").data["items"]
        return [(each["operation"], each["space"], each["interface"]) for each in items if each["refs"] == ["*"]]

    assert shown(target) == [(SYNC, "ida", "cli"), (IMPORT, "copy", "cli"), (EXPORT, "ida", "cli")]
    assert shown(laptop) == [(SYNC, "ida", "cli")]
