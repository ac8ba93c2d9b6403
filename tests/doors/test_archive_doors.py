"""Archives through every interface: CLI, Python with and without an event loop, HTTP."""

import http.client
import shutil
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

import pytest

from bethink import sync
from bethink.errors import CorruptDatabaseError, DatabaseUnavailableError, NotFoundError
from bethink.memory.archive.reading import ArchiveReader, download
from bethink.model.access import Scope
from tests.doors import client_kit
from tests.doors.cli_kit import run

SPACE = "mira"


async def _filled(target: str) -> None:
    async with client_kit.connected(target) as memory:
        await memory.space(SPACE).remember("Mira keeps a heron.")


@pytest.fixture
def filled(target: str) -> str:
    """A database with something in it."""
    client_kit.aside(_filled, target)
    return target


@pytest.fixture
def empty(template: Path, tmp_path: Path) -> str:
    """Another database, with nothing in it."""
    return str(shutil.copy(template, tmp_path / "empty.db"))


def test_a_space_is_moved_by_two_commands(filled: str, empty: str, tmp_path: Path) -> None:
    file = str(tmp_path / "mira.zip")
    exported = run(
        "data", "export", "--format", "archive", "-o", file, "--space", SPACE, "--database", filled, "--json"
    ).data
    assert exported["rows"]["messages"] == 1
    assert run("import", "archive", file, "--database", empty, "--dry-run", "--json").data["dry_run"]
    done = run("import", "archive", file, "--database", empty, "--yes", "--json").data
    assert (done["space"], done["stored"], done["known"]) == (SPACE, sum(exported["rows"].values()), 0)
    again = run("import", "archive", file, "--database", empty, "--yes", "--json").data
    assert (again["stored"], again["known"]) == (0, done["stored"])
    assert "heron" in run("recall", "Who keeps a heron?", "--space", SPACE, "--database", empty).out
    run("data", "export", "--format", "archive", "-o", f"{file}.2", "--space", SPACE, "--database", empty)
    assert Path(f"{file}.2").read_bytes() == Path(file).read_bytes()


def test_commands_say_what_they_will_not_do(filled: str, empty: str, tmp_path: Path) -> None:
    file = tmp_path / "mira.zip"
    archive = ("data", "export", "--format", "archive", "--space", SPACE, "--database", filled)
    assert run(*archive).code == 2  # an archive is not written to the terminal
    filtered = run(*archive, "-o", str(file), "--tag", "tea")
    assert (filtered.code, file.exists()) == (2, False)
    assert (
        run("data", "export", "--format", "archive", "-o", str(file), "--space", "nobody", "--database", filled).code
        == 3
    )
    assert (
        run("data", "export", "--format", "archive", "-o", str(file), "--space", SPACE, "--database", filled).code == 0
    )
    taken = run("data", "export", "--format", "archive", "-o", str(file), "--space", SPACE, "--database", filled)
    assert "already exists" in taken.err
    assert (
        run(
            "data", "export", "--format", "archive", "-o", str(file), "--force", "--space", SPACE, "--database", filled
        ).code
        == 0
    )
    unasked = run("import", "archive", str(file), "--database", empty)
    assert unasked.code == 2
    file.write_bytes(file.read_bytes()[:-1])
    cut = run("import", "archive", str(file), "--database", empty, "--yes")
    assert "damaged" in cut.err
    assert run("import", "archive", str(tmp_path / "none.zip"), "--database", empty, "--yes").code == 3


def test_a_program_without_an_event_loop_moves_a_space(filled: str, empty: str, tmp_path: Path) -> None:
    with sync.connect(filled, learn_in_background=False) as memory:
        manifest = memory.space(SPACE).admin.export_archive(tmp_path / "a.zip")
    with sync.connect(empty, learn_in_background=False) as memory:
        loaded = memory.admin.import_archive(tmp_path / "a.zip", space="nora")
        assert loaded.stored == sum(manifest.rows.values())
        assert memory.space("nora").recall("heron").items


def test_a_client_downloads_what_the_server_would_export(filled: str, tmp_path: Path) -> None:
    with client_kit.serving(filled) as served:
        with sync.connect(served.url, api_key=served.key) as memory:
            manifest = memory.space(SPACE).admin.export_archive(tmp_path / "a.zip")
            with pytest.raises(NotFoundError):
                memory.space("nobody").admin.export_archive(tmp_path / "b.zip")
            with pytest.raises(DatabaseUnavailableError):
                memory.admin.import_archive(tmp_path / "a.zip")
        file = str(tmp_path / "c.zip")
        done = run(
            "data",
            "export",
            "--format",
            "archive",
            "-o",
            file,
            "--space",
            SPACE,
            "--database",
            served.url,
            "--api-key",
            served.key,
        )
        assert done.code == 0, done.err
    with ArchiveReader(tmp_path / "a.zip") as archive:
        assert archive.check() == manifest
    assert (tmp_path / "c.zip").read_bytes() == (tmp_path / "a.zip").read_bytes()
    assert not (tmp_path / "b.zip").exists()


def _asked(served: client_kit.Served, space: str, key: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(served.url.removeprefix("http://"))
    with closing(connection):
        connection.request("GET", f"/v1/spaces/{space}/archive", headers={"authorization": f"Bearer {key}"})
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()


async def _keys(target: str) -> tuple[str, str]:
    async with client_kit.connected(target) as memory:
        writes = await memory.admin.keys.create(name="writes", scopes=[Scope.WRITE])
        elsewhere = await memory.admin.keys.create(name="elsewhere", scopes=[Scope.READ], spaces=["nora"])
        return writes.key, elsewhere.key


def test_a_download_needs_the_scope_to_read_and_a_key_for_the_space(filled: str) -> None:
    writes, elsewhere = client_kit.aside(_keys, filled)
    with client_kit.serving(filled) as served:
        status, headers, body = _asked(served, SPACE, served.key)
        assert (status, headers["content-type"], headers["cache-control"]) == (200, "application/zip", "no-store")
        assert body.startswith(b"PK")
        assert _asked(served, SPACE, writes)[0] == 403
        assert _asked(served, SPACE, elsewhere)[0] == 404
        assert _asked(served, "nobody", served.key)[0] == 404
        assert _asked(served, SPACE, "bt_0123456789ab.secret")[0] == 401


async def test_a_download_that_was_cut_off_leaves_no_file(tmp_path: Path) -> None:
    async def fetch(sink: BinaryIO) -> None:
        sink.write(b"PK\x03\x04 half of it")

    with pytest.raises(CorruptDatabaseError):
        await download(tmp_path / "a.zip", fetch)
    assert not list(tmp_path.iterdir())


def test_two_databases_are_synced_by_a_command(filled: str, tmp_path: Path) -> None:
    fresh = str(tmp_path / "laptop.db")
    done = run("data", "sync", filled, fresh, "--yes", "--json").data
    assert [each["space"] for each in done] == [SPACE]
    run("add", "Mira keeps a newt.", "--space", SPACE, "--database", fresh)
    run("add", "Nora keeps an owl.", "--space", "nora", "--database", filled)
    both = run("data", "sync", filled, fresh, "--yes")
    assert both.code == 0, both.err
    assert "newt" in run("recall", "Who keeps a newt?", "--space", SPACE, "--database", filled).out
    assert "owl" in run("recall", "Who keeps an owl?", "--space", "nora", "--database", fresh).out
    again = run("data", "sync", filled, fresh, "--yes", "--space", SPACE, "--json").data
    assert again == [{"space": SPACE, "first": 0, "second": 0}]


def test_invalid_sync_commands_are_rejected(filled: str, tmp_path: Path) -> None:
    assert run("data", "sync", filled, filled, "--yes").code == 2
    assert run("data", "sync", filled, "https://memory.example", "--yes").code == 2
    assert run("data", "sync", filled, str(tmp_path / "b.db")).code == 2
    assert run("data", "sync", str(tmp_path / "none.db"), filled, "--yes").code == 3
