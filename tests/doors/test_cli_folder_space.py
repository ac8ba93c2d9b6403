"""The space of a command without --space: that of the repository it runs in, if the database has it."""

import json
from pathlib import Path

import pytest

from bethink.agents.scopes import scope_of
from tests.doors.cli_kit import items, ok, run
from tests.exports_kit import transcripts


@pytest.fixture
def repository(home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Work in a folder of a repository, and return the name of its space."""
    folder = home / "billing" / "src"
    folder.mkdir(parents=True)
    (home / "billing" / ".git").mkdir()
    monkeypatch.chdir(folder)
    name = scope_of(folder).project
    assert name is not None
    return name


def test_folder_space_is_used_if_it_exists(repository: str) -> None:
    before = run("add", "tea")
    assert "space:" not in before.err
    ok("add", "invoices are due on Fridays", "--space", repository)

    for words in (["recall", "invoices"], ["sessions"], ["show"], ["context", "invoices"], ["status"]):
        done = run(*words)
        assert f"space: {repository} (from this folder)\n" in done.err, words
    assert "invoices are due" in run("recall", "invoices").out
    assert ok("add", "and paid on Mondays")["space"] == repository
    assert len(ok("recall", "tea", "--space", "default")["items"]) == 1


def test_explicit_space_and_quiet_print_no_note(repository: str) -> None:
    ok("add", "invoices", "--space", repository)

    assert "from this folder" not in run("sessions", "--space", repository).err
    assert run("sessions", "--quiet").err == ""


def test_ignored_folder_uses_the_default_space(repository: str, home: Path) -> None:
    ok("add", "invoices", "--space", repository)
    (home / "billing" / ".bethinkignore").write_text("*\n", encoding="utf-8")

    assert ok("add", "tea")["space"] == "default"


def test_forget_names_its_space_without_space_option(repository: str) -> None:
    ok("add", "invoices", "--space", repository)
    ok("add", "tea", "--space", "default")

    done = run("forget", "--all", "--yes")

    assert done.err.startswith(f"space: {repository} (from this folder)\n")
    assert [space["name"] for space in items("admin", "spaces")] == ["default"]
    assert run("forget", "--all", "--yes").err.startswith("space: default\n")
    assert items("admin", "spaces") == []


def test_commands_for_all_spaces_ignore_the_folder(repository: str) -> None:
    ok("add", "Kari paid", "--space", repository)
    ok("add", "Kari called", "--space", "default")

    assert ok("admin", "person", "find", "Kari")["spaces_searched"] == 2
    assert "from this folder" not in run("admin", "access").err


def test_import_in_a_repository_is_by_project(repository: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    transcripts(home, 4, agent="codex", sessions=1)

    def question(*words: str) -> str:
        return run("import", "codex", *words, terminal=True, stdin="n\n").err

    assert "into the space of each project?" in question()
    assert "into space default?" in question("--no-by-project")
    assert "into space other?" in question("--space", "other")
    ok("add", "invoices", "--space", repository)
    assert f"into space {repository}?" in question("--no-by-project")
    assert run("import", "codex", "--by-project", "--space", "x", "--yes").code == 2
    monkeypatch.chdir(home)
    assert "into space default?" in question()


def test_forget_only_deletes_one_kind_of_a_conversation(home: Path) -> None:
    ok("add", "I drink tea", "--conversation", "cli:tea:")
    ok("add", "I drink coffee", "--conversation", "cli:coffee:")

    facts = run("forget", "--conversation", "cli:tea:", "--only", "fact", "--yes", "--json")
    assert facts.code in (0, 3), facts.out
    assert len(ok("recall", "tea")["items"]) == 1
    assert ok("forget", "--conversation", "cli:tea:", "--only", "message", "--yes")["messages"] == 1
    assert len(ok("recall", "coffee")["items"]) == 1


def test_recall_filters_by_certainty(home: Path) -> None:
    ok("add", "I drink green tea in the morning")

    assert len(ok("recall", "green tea in the morning", "--min-certainty", "weak")["items"]) == 1
    assert run("recall", "tea", "--min-certainty", "sure").code == 2
    assert json.loads(run("recall", "xylophone", "--min-certainty", "high", "--json").out)["data"]["items"] == []
