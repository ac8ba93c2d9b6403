"""One memory for the real Claude Code and the real Codex, in a temporary home with a stand-in for their models."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from bethink.agents.transcripts import claude_code, codex
from tests.acceptance.agents_kit import Laptop, installed, laptop
from tests.length import LONG

pytestmark = [
    pytest.mark.agents,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        not LONG or shutil.which("npm") is None,
        reason="installs 700 MB by npm: set BETHINK_TEST_LONG",
    ),
]
LIKES_PNPM = "I always prefer pnpm over npm in this project."
LIKES_TEA = "I always prefer pytest over unittest here."


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    given = os.environ.get("BETHINK_TEST_AGENTS")  # a folder where they are installed already
    return Path(given) if given else installed(tmp_path_factory.mktemp("npm"))


@pytest.fixture
def mine(tmp_path: Path, commands: Path) -> Iterator[Laptop]:
    with laptop(tmp_path / "home", commands) as found:
        yield found


def connect(mine: Laptop, *words: str) -> None:
    mine.bethink("connect", "claude-code", "codex", "--yes", "--quiet", *words)


def stored(mine: Laptop, project: str) -> list[str]:
    lines = mine.bethink(
        "data", "export", "--format", "jsonl", "--space", f"project:git.example/{project}"
    ).splitlines()
    return [json.loads(line)["content"] for line in lines]


@pytest.mark.parametrize("http", ["--http", "--no-http"])
def test_coding_agents_share_memory_within_a_project(mine: Laptop, http: str) -> None:
    alpha, beta = mine.project("alpha"), mine.project("beta")
    connect(mine, http)

    mine.codex(LIKES_PNPM, alpha)
    assert LIKES_PNPM in mine.claude("What do I like?", alpha)
    mine.claude(LIKES_TEA, alpha)
    assert LIKES_TEA in mine.codex("And what else?", alpha)
    # What belongs to one project is absent in another.
    assert LIKES_PNPM not in mine.claude("What do I like?", beta)
    assert LIKES_TEA not in mine.codex("What do I like?", beta)


@pytest.mark.parametrize("http", ["--http", "--no-http"])
def test_killed_resident_process_loses_no_messages(mine: Laptop, http: str) -> None:
    alpha = mine.project("alpha")
    connect(mine, http)
    mine.claude("First of all, hello.", alpha)
    mine.models.when_asked = mine.kill_resident
    mine.claude(LIKES_PNPM, alpha)
    mine.codex(LIKES_TEA, alpha)
    mine.models.when_asked = lambda: None
    mine.claude("Last of all, goodbye.", alpha)
    mine.codex("Is everything there?", alpha)

    said = [line.content for path in claude_code.find(mine.home) for line in claude_code.read_lines(path)]
    said += [line.content for path in codex.find(mine.home) for line in codex.read_lines(path)]
    mine.settle()
    assert sorted(stored(mine, "alpha")) == sorted(said)
    assert LIKES_PNPM in said
    assert LIKES_TEA in said


def test_a_prompt_is_told_what_matches_it(mine: Laptop) -> None:
    alpha = mine.project("alpha")
    connect(mine)
    cap = "The retry cap of the billing client is 7, because the provider bans clients after 8."
    mine.codex(cap, alpha)
    mine.codex("Paint the fence green.", alpha)  # so that the other is not the last session
    mine.settle()
    assert cap not in mine.claude("Paint the door red.", alpha)
    assert cap in mine.claude("Raise the retry cap of the billing client.", alpha)
    assert cap in mine.codex("Raise the retry cap of the billing client.", alpha)


def test_undo_leaves_the_files_of_both_as_they_were(mine: Laptop) -> None:
    def files() -> dict[str, bytes]:
        return {
            str(path.relative_to(mine.home)): path.read_bytes()
            for path in sorted(mine.home.rglob("*"))
            if path.is_file()
        }

    before = files()
    connect(mine)
    assert files() != before
    connect(mine, "--undo")
    assert files() == before

    connect(mine)
    mine.codex(LIKES_PNPM, mine.project("alpha"))
    mine.settle()
    connect(mine, "--undo")
    after = files()
    assert {name: after.get(name) for name in before} == before
    assert not (mine.home / ".codex" / "hooks.json").exists()
    assert LIKES_PNPM in stored(mine, "alpha")


def test_the_plugin_is_valid(mine: Laptop) -> None:
    root = Path(__file__).parents[2]
    for folder in (root, root / "src" / "bethink" / "agents" / "plugin"):
        assert "Validation passed" in mine.claude_command("plugin", "validate", str(folder))
