"""The spaces that a folder belongs to."""

import shutil
import subprocess
from pathlib import Path

import pytest

from bethink.agents.scopes import PERSON, plain_remote, scope_of
from bethink.model.records import checked_name


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def repository(folder: Path, remote: str | None = None) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    if remote is not None:
        git(folder, "remote", "add", "origin", remote)
    return folder


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize(
    "address",
    [
        "git@git.example:team/tool.git",
        "ssh://git@git.example:2222/team/tool",
        "https://git.example/team/tool.git",
        "https://ada:hunter2@git.example/team/tool/",
        "HTTPS://GIT.example/team/tool",
    ],
)
def test_every_way_to_write_a_remote_names_one_project(home: Path, address: str) -> None:
    found = scope_of(repository(home / "clone", address))
    assert found.project == "project:git.example/team/tool"
    assert found.home == found.project
    assert found.spaces == ("project:git.example/team/tool", PERSON)


def test_a_password_in_a_remote_is_never_part_of_a_name() -> None:
    assert plain_remote("https://ada:hunter2@git.example/team/tool.git") == "git.example/team/tool"
    assert plain_remote("hunter2@git.example:team/tool") == "git.example/team/tool"


def test_servers_on_different_ports_are_different_remotes() -> None:
    assert plain_remote("http://localhost:3000/a/b") != plain_remote("http://localhost:4000/a/b")


def test_a_worktree_and_a_folder_inside_belong_to_their_repository(home: Path) -> None:
    main = repository(home / "main")
    git(main, "commit", "--allow-empty", "--quiet", "-m", "first")
    git(main, "worktree", "add", "--quiet", str(home / "other"))
    inside = home / "other" / "src"
    inside.mkdir()

    assert scope_of(inside).project == scope_of(main).project
    assert scope_of(main).project != PERSON


def test_two_repositories_without_a_remote_are_two_projects(home: Path) -> None:
    one, two = repository(home / "a" / "same"), repository(home / "b" / "same")
    assert scope_of(one).project != scope_of(two).project


def test_outside_of_projects_everything_is_the_persons(home: Path) -> None:
    repository(home / ".git-is-here")
    shutil.move(home / ".git-is-here" / ".git", home / ".git")
    (home / "letters").mkdir()
    for folder in (home, home / "letters", home / "gone"):
        assert scope_of(folder).spaces == (PERSON,)


def test_project_only_scope_has_no_person(home: Path) -> None:
    project = repository(home / "work")
    assert scope_of(project, project_only=True).spaces == (scope_of(project).project,)
    assert scope_of(home, project_only=True).home is None


@pytest.mark.parametrize("name", ["ünïcode 文", "x" * 200, "new\nline", "quote'\"", "a:b"])
def test_every_folder_has_a_name_that_a_space_can_have(home: Path, name: str) -> None:
    found = scope_of(repository(home / name)).project
    assert found is not None
    assert checked_name(found, "a space")
    remote = scope_of(repository(home / f"{name[:50]}2", f"https://git.example/{name * 3}")).project
    assert remote is not None
    assert checked_name(remote, "a space")


@pytest.mark.parametrize(
    ("patterns", "folder", "ignored"),
    [
        ("", "deep/inside", True),
        ("# only a remark\n\n", "deep", True),
        ("clients/acme\n", "clients/acme/src", True),
        ("clients/acme\n", "clients/other", False),
        ("/clients\n", "clients", True),
        ("/acme\n", "clients/acme", False),
        ("secret-*\n", "a/secret-plans/b", True),
        ("clients/*\n!clients/open\n", "clients/open/src", False),
        ("clients/*\n!clients/open\n", "clients/closed", True),
        ("**/private\n", "a/b/private", True),
        ("private/\n", "a/private", True),
    ],
)
def test_a_file_leaves_folders_out(home: Path, patterns: str, folder: str, ignored: bool) -> None:
    (home / folder).mkdir(parents=True)
    (home / ".bethinkignore").write_text(patterns)

    found = scope_of(home / folder)
    assert found.ignored is ignored
    assert (found.home is None) is ignored
    assert (found.spaces == ()) is ignored


def test_the_nearest_file_decides(home: Path) -> None:
    (home / "a" / "b").mkdir(parents=True)
    (home / ".bethinkignore").write_text("a\n")
    (home / "a" / ".bethinkignore").write_text("!b\n")
    assert scope_of(home / "a").ignored
    assert not scope_of(home / "a" / "b").ignored


def test_a_file_that_cannot_be_read_leaves_everything_out(home: Path) -> None:
    (home / ".bethinkignore").write_bytes(b"\xff\xfe clients")
    assert scope_of(home).ignored


@pytest.mark.parametrize("content", [b"", b"gitdir", b"gitdir: /nowhere", b"\xff\xff", b"other: x"])
def test_a_broken_repository_never_fails(home: Path, content: bytes) -> None:
    (home / "broken").mkdir()
    (home / "broken" / ".git").write_bytes(content)
    scope_of(home / "broken")
    scope_of("\0")
