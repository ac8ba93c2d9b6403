"""Imports from other programs: correct dates and roles, no duplicates and no losses, even after a kill."""

import json
import random
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bethink.agents.scopes import PERSON, scope_of
from tests import exports_kit as exports
from tests import transcripts_kit as kit
from tests.doors.cli_kit import items, ok, process, run
from tests.transcripts_kit import Said

pytestmark = pytest.mark.usefixtures("home")

COUNTS = [200, pytest.param(2_000, marks=pytest.mark.slow)]
MESSAGES = ("claude-code", "codex", "chatgpt", "claude", "zep", "letta", "jsonl")


def written(home: Path, source: str, count: int) -> tuple[list[str], list[Said]]:
    """Write what a program keeps, and return the words of the command that imports it, and what was said."""
    if source in {"claude-code", "codex"}:
        return ["import", source], exports.transcripts(home, count, agent=source, sessions=max(1, count // 40))
    said = exports.spoken(count)
    return ["import", source, str(exports.WRITERS[source](home / f"export-{source}", said))], said


def stored(*on: str) -> list[Said]:
    messages = [json.loads(line) for line in run("data", "export", *on).out.splitlines()]
    return sorted((_said(each) for each in messages), key=_order)


def _said(tree: dict[str, Any]) -> Said:
    name = tree.get("name") if tree["role"] == "tool" else None
    return Said(tree["role"], tree["content"], datetime.fromisoformat(tree["said_at"]), name)


def _order(said: Said) -> tuple[datetime, str]:
    return (said.said_at, said.content)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("source", MESSAGES)
def test_every_message_is_stored_once_with_its_role_and_date(
    home: Path, source: str, count: int, on: list[str]
) -> None:
    words, said = written(home, source, count)
    more = {"zep": 2, "letta": 1}.get(source, 0)  # edges, and a memory block

    first = ok(*words, "--yes", "--quiet", *on)
    again = ok(*words, "--yes", "--quiet", *on)

    assert (first["stored"], first["refused"]) == (count + more, 0)
    assert (again["stored"], again["known"], again["refused"]) == (0, count + more, 0)
    assert stored(*on) == sorted(said, key=_order)


def test_memory_answers_as_of_a_day_before_the_import(home: Path, on: list[str]) -> None:
    said = [
        Said("user", "My favourite editor is Helix.", datetime(2026, 1, 5, 8, tzinfo=UTC)),
        Said("user", "My favourite editor is Zed now.", datetime(2026, 5, 5, 8, tzinfo=UTC)),
    ]
    ok("import", "claude", str(exports.claude(home / "claude.zip", said)), "--yes", *on)

    before = run("recall", "favourite editor", "--as-of", "2026-02-01", *on).out
    after = run("recall", "favourite editor", *on).out

    assert "Helix" in before
    assert "Zed" not in before
    assert "Zed" in after


@pytest.mark.parametrize("count", COUNTS)
def test_statements_of_mem0_become_facts_with_the_date_they_were_made(home: Path, count: int, on: list[str]) -> None:
    said = exports.spoken(count)
    file = str(exports.mem0(home / "mem0.json", said))

    first = ok("import", "mem0", file, "--yes", *on)
    again = ok("import", "mem0", file, "--yes", *on)

    assert (first["stored"], first["known"]) == (count, 0)
    assert (again["stored"], again["known"]) == (0, count)
    [fact] = [each for each in items("fact", "list", "--limit", "1000", *on) if each["text"] == said[3].content]
    assert (fact["source"], fact["origin"], fact["metadata"]["place"]) == ("mem0", "import", "work")
    assert datetime.fromisoformat(fact["valid_from"]) == said[3].said_at


def test_a_statement_that_was_forgotten_is_left_out_by_the_next_import(home: Path, on: list[str]) -> None:
    file = str(exports.mem0(home / "mem0.json", exports.spoken(3)))
    ok("import", "mem0", file, "--yes", *on)
    gone, *_ = items("fact", "list", *on)
    ok("forget", f"fact:{gone['id']}:1", "--yes", *on)

    again = ok("import", "mem0", file, "--yes", *on)

    assert (again["stored"], again["known"], again["forgotten"], again["refused"]) == (0, 2, 1, 0)
    assert gone["id"] not in [each["id"] for each in items("fact", "list", *on)]


@pytest.mark.parametrize("source", ["claude-code", "codex", "letta"])
def test_import_counts_deleted_messages_apart_from_known_ones(home: Path, source: str, on: list[str]) -> None:
    words, _ = written(home, source, 10)
    found = ok(*words, "--yes", "--quiet", *on)["stored"]
    session = items("sessions", *on)[0]["session"]["id"]
    ok("forget", f"message:{session}:1", "--yes", *on)

    again = ok(*words, "--yes", "--quiet", *on)

    assert (again["stored"], again["known"], again["forgotten"], again["refused"]) == (0, found - 1, 1, 0)


def test_ended_edge_is_stored_and_not_recalled_today(home: Path, on: list[str]) -> None:
    ok("import", "zep", str(exports.zep(home / "zep.json", exports.spoken(4))), "--yes", *on)

    facts = [each["text"] for each in items("fact", "list", *on)]

    assert "Ada lives in Bergen." in facts
    assert "Ada lives in Oslo." not in run("recall", "Where does Ada live?", *on).out


def test_a_memory_block_of_letta_becomes_a_document(home: Path, on: list[str]) -> None:
    ok("import", "letta", str(exports.letta(home / "helper.af", exports.spoken(4))), "--yes", *on)

    assert "Ada writes Rust." in run("recall", "What does Ada write?", *on).out


@pytest.mark.parametrize("source", [*MESSAGES, "mem0"])
def test_a_dry_run_counts_everything_and_stores_nothing(home: Path, source: str) -> None:
    words, _ = written(home, source, 80) if source != "mem0" else (
        ["import", "mem0", str(exports.mem0(home / "m.json", exports.spoken(80)))], [],
    )  # fmt: skip

    report = ok(*words, "--dry-run")

    assert report["storable"] >= 80
    assert report["stored"] == 0
    assert items("sessions") == []
    assert items("fact", "list") == []


def test_missing_transcripts_error_names_the_usual_folder(home: Path) -> None:
    for source, place in (("claude-code", "~/.claude/projects"), ("codex", "~/.codex/sessions")):
        done = run("import", source, "--yes")
        assert done.code == 2
        assert place in done.err


@pytest.mark.parametrize("source", ["chatgpt", "claude", "mem0", "zep", "letta"])
def test_a_file_of_another_kind_is_refused_with_what_to_give(home: Path, source: str) -> None:
    odd = home / "odd.json"
    for content in ('[{"x": 1}]', "{}", "not json", "3"):
        odd.write_text(content)
        done = run("import", source, str(odd), "--yes")
        assert done.code == 2, content
        assert "hint: Use " in done.err
    assert run("import", source, str(home / "missing"), "--yes").code == 3


def test_a_file_that_cannot_be_read_does_not_hold_up_the_others(home: Path, on: list[str]) -> None:
    exports.transcripts(home, 80, agent="codex", sessions=2)
    kit.codex_path(home, kit.thread_id(9)).with_suffix(".jsonl.zst").write_bytes(b"broken")

    done = run("import", "codex", "--yes", "--json", *on)

    assert done.code == 5
    assert (done.envelope["data"]["stored"], done.envelope["data"]["refused"]) == (80, 1)


def test_lines_that_were_copied_to_another_transcript_are_stored_once(home: Path, on: list[str]) -> None:
    said = list(kit.turns(40))
    trees = list(kit.claude_code(said, session=kit.thread_id(1)))
    kit.write(kit.claude_path(home, kit.thread_id(1)), trees)
    copied = [{**tree, "sessionId": kit.thread_id(2)} for tree in trees]
    fresh = list(kit.claude_code(kit.turns(4, seed=5), session=kit.thread_id(2)))
    kit.write(kit.claude_path(home, kit.thread_id(2)), [*copied, *fresh])

    report = ok("import", "claude-code", "--yes", *on)

    assert (report["stored"], report["known"], report["refused"]) == (44, 40, 0)


def test_imported_sub_agents_are_not_learned_from(home: Path, on: list[str]) -> None:
    path = kit.claude_path(home, kit.thread_id(1)).with_suffix("") / "subagents" / "agent-a1.jsonl"
    kit.write(path, kit.claude_code(kit.turns(8), session=kit.thread_id(1), agent="a1"))

    ok("import", "claude-code", "--yes", *on)

    [entry] = items("sessions", *on)
    assert entry["agent"] == "claude-code-subagent"
    assert entry["session"]["marked_at"] is None
    assert {said.role for said in stored(*on)} == {"assistant", "tool"}


def test_import_by_project_stores_each_session_in_its_space(home: Path, target: str) -> None:
    where = ["--database", target]
    project, private = home / "parser", home / "private"
    for folder in (project / ".git", private, home / "plain"):
        folder.mkdir(parents=True)
    (private / ".bethinkignore").write_text("*\n")
    for number, folder in enumerate((project, private, home / "plain")):
        own = kit.thread_id(number)
        trees = kit.claude_code(kit.turns(8, seed=number), session=own, cwd=str(folder))
        kit.write(kit.claude_path(home, own, cwd=str(folder)), trees)

    first = ok("import", "claude-code", "--by-project", "--yes", *where)
    again = ok("import", "claude-code", "--by-project", "--yes", *where)

    assert (first["stored"], again["stored"], again["known"]) == (16, 0, 16)
    home_of_project = scope_of(project).home
    assert home_of_project is not None
    assert len(stored("--space", home_of_project, *where)) == 8
    assert len(stored("--space", PERSON, *where)) == 8
    assert run("import", "claude-code", "--by-project", "--space", "x", "--yes", *where).code == 2


@pytest.mark.parametrize(
    "source", ["claude-code", "mem0", *(pytest.param(each, marks=pytest.mark.slow) for each in ("codex", "chatgpt"))]
)
def test_an_import_that_is_killed_at_any_moment_is_resumed_without_loss(home: Path, source: str) -> None:
    seed = random.randrange(10**6)
    sys.stderr.write(f"seed {seed}\n")
    dice = random.Random(seed)
    count = 400
    said = exports.spoken(count)
    words = ["import", "mem0", str(exports.mem0(home / "m.json", said))]
    if source != "mem0":
        words, said = written(home, source, count)
    words += ["--yes", "--quiet"]
    begun = time.monotonic()
    with process(home, *words, "--database", str(home / "timed.db")) as whole:
        assert whole.wait(timeout=300) == 0
    longest = time.monotonic() - begun

    for _ in range(5):
        with process(home, *words) as child:
            try:
                child.wait(timeout=dice.uniform(0.2, 1.0) * longest)
            except subprocess.TimeoutExpired:
                child.kill()

    assert ok(*words)["refused"] == 0
    assert ok(*words)["stored"] == 0
    if source == "mem0":
        assert len(items("fact", "list", "--limit", "1000")) == count
    else:
        assert stored() == sorted(said, key=_order)
