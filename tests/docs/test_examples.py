"""The examples run and print the expected output."""

import re
import subprocess
import sys
from functools import cache

import pytest


def test_stepping_example_reaches_every_memory_stage() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "examples.stepping"], capture_output=True, text=True, check=True, timeout=300
    )

    lines = done.stdout.splitlines()
    assert any("compaction of" in line for line in lines)
    assert any("truncation of" in line for line in lines)
    assert sum("event " in line for line in lines) == 20
    assert lines[-1] == "replayed without a model: the same"
    assert all(len(line.split("[")[1].split("]")[0]) == 50 for line in lines[:-2])


def test_consolidation_example_shows_changed_and_deleted_topics() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "examples.consolidation"], capture_output=True, text=True, check=True, timeout=300
    )

    runs, _, tree = done.stdout.partition("== the tree after ninety days")
    assert runs.count("== day") >= 9
    assert "\n-- User lives in Oslo" in runs
    assert "\n-- User drinks coffee" in runs
    assert "~/memory/juggling is forgotten" in runs
    assert "+- Project Heron is finished" in runs
    assert "User moved to Bergen" in tree
    assert "User drinks tea" in tree
    for gone in ("Oslo", "coffee (", "juggl"):
        assert gone not in tree


@cache
def _printed(name: str) -> str:
    return _run(name)


def _run(name: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", f"examples.{name}"], capture_output=True, text=True, check=True, timeout=300
    ).stdout


def test_chat_agent_example_remembers_across_processes() -> None:
    monday, _, tuesday = _printed("chat_agent").partition("Tuesday, another process")

    assert "begins with 0 things" in monday
    assert "agent: I do not know that." in monday
    assert "begins with 2 things" in tuesday
    assert "agent: You told me: User lives in Bergen" in tuesday
    assert "[^" not in tuesday
    assert "User prefers an aisle seat (preference, confirmed, used 1 times)" in tuesday
    assert "because user said: I prefer an aisle seat\n" in tuesday


def test_coding_agent_example_uses_correction_and_no_tool_claims() -> None:
    monday, _, tuesday = _printed("coding_agent").partition("codex, tuesday, begins with")

    assert "held 1 unclear; refused 1 not_from_user" in monday
    assert "faster" not in tuesday
    assert "facts 1 succeeded" in monday
    assert "Where is the cache? -> The cache is in SQLite" in tuesday
    assert "How do I run the tests? -> Run the tests with make check" in tuesday
    assert "The cache is in Redis: superseded" in tuesday
    assert 'user said: "I was wrong this morning: the cache is in SQLite' in tuesday
    assert "push straight to main" not in tuesday


def test_support_desk_example_reports_budget_and_omissions() -> None:
    printed = _printed("support_desk")
    today, _, before = printed.partition("(2026-05-21)")
    before, _, stepped = before.partition("Ticket 201, step by step")

    used = [int(tokens) for tokens in re.findall(r"in (\d+) of 2000 tokens", printed)]
    assert len(used) == 2
    assert all(1500 < tokens <= 2000 for tokens in used)
    assert "Delivery address is 9 Mill Lane" in today
    assert "superseded    such as 'Delivery address is 5 Quay Street'" in today
    assert "fact of 2026-01-13: Delivery address is 5 Quay Street" in before
    assert "Mill Lane" not in before
    assert "over_budget" in today
    assert "made again: the same" in printed
    assert [line.count("over budget") for line in stepped.splitlines()[1:5]] == [0, 0, 1, 2]


@pytest.mark.parametrize("name", ["chat_agent", "coding_agent", "support_desk"])
def test_an_example_prints_the_same_every_time(name: str) -> None:
    assert _run(name) == _printed(name)
