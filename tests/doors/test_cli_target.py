"""Where a command looks: who only looks makes nothing, and a home that is none is told as such."""

import os
from pathlib import Path

import pytest

from tests.doors.cli_kit import ok, run

READING = [
    ["recall", "tea"],
    ["show", "message:ses_none:1"],
    ["status"],
    ["sessions"],
    ["spaces"],
    ["jobs"],
    ["log"],
    ["diff", "~/memory", "0", "1"],
    ["revert", "~/memory", "1", "--yes"],
    ["step"],
    ["export"],
    ["keys", "list"],
    ["keys", "rotate", "none"],
    ["keys", "revoke", "none", "--yes"],
    ["forget", "--everything", "--yes"],
    ["consolidate", "--yes"],
    ["test"],
    ["test", "list"],
    ["test", "remove", "none"],
    ["test", "export"],
]


pytestmark = pytest.mark.usefixtures("home")


def _here(home: Path) -> list[Path]:
    return sorted(home.rglob("*"))


@pytest.mark.parametrize("words", READING, ids=lambda words: " ".join(words[:2]))
def test_who_only_looks_makes_no_database_of_a_mistyped_path(words: list[str], home: Path) -> None:
    before = _here(home)

    done = run(*words, "--database", str(home / "typo" / "memory.db"))

    assert done.code == 3
    assert f"error: no database at {home / 'typo' / 'memory.db'} (argument)." in done.err
    assert "hint: Check the path" in done.err
    assert _here(home) == before


def test_before_anything_is_there_one_is_told_how_to_begin(home: Path) -> None:
    done = run("recall", "tea")

    assert done.code == 3
    assert "'bethink add' or 'bethink init'" in done.err
    assert _here(home) == []
    ok("add", "tea")
    assert ok("recall", "tea")["items"]


def test_init_makes_the_memory_that_is_looked_at_next(home: Path) -> None:
    ok("init")

    assert ok("spaces") == []
    assert run("doctor").code == 0


@pytest.mark.parametrize("words", [["doctor"], ["config", "show"]])
def test_the_doctor_and_the_settings_make_nothing_either(words: list[str], home: Path) -> None:
    done = run(*words, "--database", str(home / "typo.db"))

    assert _here(home) == []
    if words == ["doctor"]:
        assert done.code == 1
        assert f"✗ database: no database at {home / 'typo.db'}" in done.out
        assert "✓ model" in done.out


def test_a_database_in_memory_can_be_read() -> None:
    assert ok("sessions", "--database", ":memory:") == []


@pytest.mark.parametrize(
    "words", [*READING, ["add", "tea"], ["worker", "--once"], ["init"]], ids=lambda words: words[0]
)
def test_a_home_that_is_none_is_a_matter_of_configuration(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", os.devnull)

    done = run(*words)

    assert done.code == 4
    assert "hint: " in done.err


def test_nobody_without_a_home_is_kept_from_a_database_that_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)

    assert run("add", "tea").code == 4
    assert run("status").code == 4
    ok("add", "tea", "--database", str(home / "own.db"))
    assert ok("spaces", "--database", str(home / "own.db")) == ["default"]


def test_the_doctor_of_a_home_that_is_none_still_reports_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", os.devnull)

    done = run("doctor")

    assert done.code == 4
    for name in ("✓ clock", "✓ settings", "✗ folder", "✗ database", "✓ model", "✓ embedder"):
        assert name in done.out


def test_where_there_is_no_memory_yet_one_is_told_how_to_have_one() -> None:
    done = run("recall", "tea")

    assert done.code == 3
    for command in ("bethink add", "bethink init", "bethink demo --keep demo.db"):
        assert command in done.err
