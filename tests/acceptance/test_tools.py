"""The development commands: they measure, print their figure last, and fail when they should."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tools import check_sizes, spec_report
from tools.postgres import in_database


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=300)


def test_the_checklist_has_its_268_statements() -> None:
    known = spec_report.statements()

    assert len(known) == 268
    groups = {group: sum(name.startswith(f"S{group}.") for name in known) for group in range(5)}
    assert groups == {0: 23, 1: 30, 2: 56, 3: 73, 4: 86}


def test_report_counts_a_statement_only_if_all_its_tests_passed(tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    results.write_text(json.dumps({"S0.1": True, "S0.2": False}))

    done = run("tools/spec_report.py", "--results", str(results))
    assert done.returncode == 1
    assert "FAILED S0.2" in done.stdout
    assert done.stdout.splitlines()[-1] == "1 of 268 statements claimed by a test that passed"

    as_json = json.loads(run("tools/spec_report.py", "--results", str(results), "--json").stdout)
    assert as_json["claimed"] == ["S0.1"]
    assert len(as_json["unclaimed"]) == 267


def test_unknown_statement_fails_the_report(tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    results.write_text(json.dumps({"S9.9": True}))

    assert run("tools/spec_report.py", "--results", str(results)).returncode == 1


def test_a_claim_holds_only_where_its_test_ran_and_passed(tmp_path: Path) -> None:
    (tmp_path / "test_claims.py").write_text(
        "import pytest\n"
        "@pytest.mark.spec('S0.1')\ndef test_passes(): pass\n"
        "@pytest.mark.spec('S0.2')\ndef test_fails(): assert False\n"
        "@pytest.mark.spec('S0.3')\ndef test_skips(): pytest.skip('no')\n"
        "@pytest.mark.spec('S0.4')\n@pytest.mark.parametrize('x', [1, 2])\ndef test_half(x): assert x == 1\n"
    )
    results = tmp_path / "results.json"
    root = Path(__file__).parent.parent.parent
    command = ["-m", "pytest", "-q", "-c", str(root / "pyproject.toml"), "-p", "tools.spec_plugin"]
    done = run(*command, f"--spec-results={results}", f"--rootdir={tmp_path}", str(tmp_path))

    assert done.returncode == 1, done.stdout
    assert json.loads(results.read_text()) == {"S0.1": True, "S0.2": False, "S0.3": False, "S0.4": False}


def test_size_check_fails_files_that_are_too_long(tmp_path: Path) -> None:
    long = tmp_path / "long.py"
    long.write_text("def f():\n" + "    x = 1\n" * 90 + "y = 1\n" * 450)

    too_long = [name for name, lines, _, limit in check_sizes.sizes(long) if lines > limit]
    assert too_long == ["long.py", "long.py:1 f"]


@pytest.mark.slow
def test_the_benchmark_prints_each_figure_with_its_goal() -> None:
    done = run("-m", "benchmarks.capture", "--database", "sqlite", "--rounds", "1", "--turns", "2", "--json")

    figures = [json.loads(line) for line in done.stdout.splitlines()]
    goals = [(figure["text"], figure["batch"], figure["goal"]) for figure in figures if figure["goal"] is not None]
    assert goals == [("chat", 1, 0.4), ("chat", 100, 0.6), ("code", 1, 0.3), ("code", 100, 0.5)]
    assert {figure["text"] for figure in figures} == {"chat", "prose", "code", "JSON", "Chinese and Japanese"}
    assert done.returncode == (0 if all(figure["reached"] for figure in figures) else 1)


@pytest.mark.slow
def test_the_profile_says_what_an_append_is_made_of() -> None:
    done = run("-m", "benchmarks.capture", "--profile")

    assert done.returncode == 0, done.stderr
    assert "all of Memory.append" in done.stdout.splitlines()[-1]


def test_a_dsn_can_be_pointed_elsewhere() -> None:
    assert in_database("postgresql://a@/x?host=%2Ftmp", "y") == "postgresql://a@/y?host=%2Ftmp"
    assert in_database("postgresql://a@h/x", "y", user="b") == "postgresql://b@h/y"


@pytest.mark.slow
def test_long_thread_stays_fast_and_small() -> None:
    done = run("-m", "benchmarks.working", "--events", "1000", "--json")

    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["bytes_growth"] <= 1.2
    assert figures["growth"] <= 2  # the goal of 1.3 is for 10,000 events on a quiet machine
