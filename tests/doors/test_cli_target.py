"""How a command finds its database: reading creates nothing, and an invalid home is reported."""

import os
from pathlib import Path

import pytest

from tests.doors.cli_kit import items, ok, run

READING = [
    ["recall", "tea"],
    ["show", "message:ses_none:1"],
    ["status"],
    ["sessions"],
    ["admin", "spaces"],
    ["learn", "jobs"],
    ["doc", "list"],
    ["doc", "diff", "~/memory", "0", "1"],
    ["doc", "revert", "~/memory", "1", "--yes"],
    ["learn", "thread"],
    ["data", "export"],
    ["admin", "keys", "list"],
    ["admin", "keys", "rotate", "none"],
    ["admin", "keys", "revoke", "none", "--yes"],
    ["forget", "--all", "--yes"],
    ["doc", "update", "--yes"],
    ["test"],
    ["test", "list"],
    ["test", "remove", "none"],
    ["test", "export"],
]


pytestmark = pytest.mark.usefixtures("home")


def _here(home: Path) -> list[Path]:
    return sorted(home.rglob("*"))


@pytest.mark.parametrize("words", READING, ids=lambda words: " ".join(words[:2]))
def test_read_command_creates_no_database_at_a_wrong_path(words: list[str], home: Path) -> None:
    before = _here(home)

    done = run(*words, "--database", str(home / "typo" / "memory.db"))

    assert done.code == 3
    assert f"error: No database at {home / 'typo' / 'memory.db'} (argument)." in done.err
    assert "hint: Check the path" in done.err
    assert _here(home) == before


def test_read_command_on_nothing_says_how_to_begin(home: Path) -> None:
    done = run("recall", "tea")

    assert done.code == 3
    assert "'bethink add' or 'bethink connect'" in done.err
    assert _here(home) == []
    ok("add", "tea")
    assert ok("recall", "tea")["items"]


def test_init_makes_the_memory_that_is_looked_at_next(home: Path) -> None:
    ok("admin", "init")

    assert items("admin", "spaces") == []
    assert run("doctor").code == 0


@pytest.mark.parametrize("words", [["doctor"], ["admin", "config", "show"]])
def test_the_doctor_and_the_settings_make_nothing_either(words: list[str], home: Path) -> None:
    done = run(*words, "--database", str(home / "typo.db"))

    assert _here(home) == []
    if words == ["doctor"]:
        assert done.code == 1
        assert f"✗ database: No database at {home / 'typo.db'}" in done.out
        assert "✓ model" in done.out


def test_a_database_in_memory_can_be_read() -> None:
    assert items("sessions", "--database", ":memory:") == []


@pytest.mark.parametrize(
    "words", [*READING, ["add", "tea"], ["worker", "--once"], ["admin", "init"]], ids=lambda words: words[0]
)
def test_invalid_home_is_a_configuration_error(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", os.devnull)

    done = run(*words)

    assert done.code == 4
    assert "hint: " in done.err


def test_named_database_works_without_a_home_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)

    assert run("add", "tea").code == 4
    assert run("status").code == 4
    ok("add", "tea", "--database", str(home / "own.db"))
    assert [space["name"] for space in items("admin", "spaces", "--database", str(home / "own.db"))] == ["default"]


def test_doctor_with_an_invalid_home_reports_all_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", os.devnull)

    done = run("doctor")

    assert done.code == 4
    for name in ("✓ clock", "✓ settings", "✗ folder", "✗ database", "✓ model", "✓ embedder"):
        assert name in done.out


def test_missing_database_error_suggests_how_to_create_one() -> None:
    done = run("recall", "tea")

    assert done.code == 3
    for command in ("bethink add", "bethink connect", "bethink demo"):
        assert command in done.err
