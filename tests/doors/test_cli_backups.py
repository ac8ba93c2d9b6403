"""The commands backup, restore and verify."""

from pathlib import Path

import apsw
import pytest

from tests.doors.cli_kit import run


@pytest.fixture
def on(tmp_path: Path) -> list[str]:
    """The options that name a memory with one message."""
    words = ["--database", str(tmp_path / "memory.db")]
    assert run("add", "I live in Bergen.", "--space", "ida", *words).code == 0
    return words


def test_a_memory_is_backed_up_verified_and_restored(on: list[str], tmp_path: Path) -> None:
    file = str(tmp_path / "monday.backup")

    assert run("data", "backup", file, *on, "--json").data["counts"]["messages"] == 1
    assert run("data", "verify", file, *on).code == 0
    assert run("add", "I live in Oslo.", "--space", "ida", *on).code == 0
    assert "would replace" in run("data", "restore", file, "--dry-run", *on).out
    done = run("data", "restore", file, "--yes", *on)
    assert done.code == 0
    assert "void" in done.out
    assert "Oslo" not in run("recall", "Where do I live?", "--space", "ida", *on).out
    assert "Bergen" in run("recall", "Where do I live?", "--space", "ida", *on).out
    assert "✓ chain" in run("data", "verify", *on).out
    assert "✓ restored: " in run("doctor", *on).out


def test_a_restore_asks_and_needs_a_file_or_a_moment(on: list[str], tmp_path: Path) -> None:
    file = str(tmp_path / "monday.backup")
    run("data", "backup", file, *on)

    assert run("data", "restore", file, *on).code == 2
    assert run("data", "restore", *on).code == 2
    assert run("data", "restore", str(tmp_path / "none"), "--yes", *on).code == 3


def test_a_restore_without_tombstones_says_so_plainly(on: list[str], tmp_path: Path) -> None:
    file = str(tmp_path / "monday.backup")
    run("data", "backup", file, *on)
    (tmp_path / "memory.db").unlink()

    assert "Later deletions are unknown" in run("data", "restore", file, "--yes", *on).out


def test_a_changed_row_fails_verify_and_doctor(on: list[str], tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "memory.db"))
    connection.execute("UPDATE messages SET content = 'I live in Rome.'")  # pyright: ignore[reportUnknownMemberType]
    connection.close()

    done = run("data", "verify", *on)
    assert done.code == 1
    assert "message 1 of ses_" in done.out
    assert "✗ chain" in run("doctor", *on).out


def test_cli_backup_and_restore_are_in_the_access_log(on: list[str], tmp_path: Path) -> None:
    file = str(tmp_path / "monday.backup")
    run("data", "backup", file, *on)
    assert run("data", "backup", file, *on).code == 1  # it exists
    run("data", "restore", file, "--yes", *on)
    run("data", "restore", "--recovered-to", "2026-11-16T10:00:00Z", "--yes", *on)

    items = run("admin", "access", *on, "--json").data["items"]
    found = [(each["operation"], each["interface"]) for each in items if each["refs"] == ["*"]]
    assert found == [("memory.restore", "cli"), ("memory.restore", "cli"), ("memory.backup", "cli")]
