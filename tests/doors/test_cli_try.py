"""`bethink try` on one's own transcripts: shows a preview and writes nothing."""

import hashlib
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests import transcripts_kit as kit
from tests.doors.cli_kit import ok, process, run
from tests.transcripts_kit import Said

pytestmark = pytest.mark.usefixtures("home")


STATEMENTS = (
    "I prefer tabs over spaces.",
    "I want commit messages in English.",
    "Please never push to main without asking.",
    "From now on use uv instead of pip.",
    "We decided to store dates in UTC, because servers moved.",
    "We decided against Redis, because it is one more service.",
    "The tests run with make check.",
    "The slow tests need docker.",
    "The login went wrong, and was fixed by a longer timeout.",
    "The parser went wrong on empty lines; a guard fixed it.",
    "The release notes are still left to do.",
    "What is left is the index of the documentation.",
)


def bytes_of(home: Path) -> dict[str, str]:
    """Return every file and folder below a home, with what it holds and when it was changed."""
    return {
        str(path.relative_to(home)): f"{path.stat().st_mtime_ns} {_digest(path)}" for path in sorted(home.rglob("*"))
    }


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"


def filled(home: Path, *, lines: int, sessions: int = 40) -> None:
    """Fill a home with transcripts of both agents that end today."""
    begun = datetime.now(UTC) - timedelta(days=20)
    written = 0
    number = 0
    while written < lines:
        each = lines // sessions
        own, at = kit.thread_id(number), begun + timedelta(hours=12 * (number % 38))
        said = [
            *kit.turns(each // 3, begun=at, seed=number),
            Said("user", STATEMENTS[number % len(STATEMENTS)], at + timedelta(hours=3)),
        ]
        if number % 2:
            trees = list(kit.codex(said, thread=own, cwd=f"/home/ada/proj{number % 3}"))
            kit.write(kit.codex_path(home, own, begun=at), trees)
        else:
            trees = list(kit.claude_code(said, session=own, cwd=f"/home/ada/proj{number % 3}"))
            kit.write(kit.claude_path(home, own), trees)
        written += len(trees)
        number += 1


def test_try_previews_facts_matches_and_cost(home: Path) -> None:
    filled(home, lines=1_200, sessions=12)
    before = bytes_of(home)

    data = ok("try")
    shown = run("try")

    assert bytes_of(home) == before
    assert {STATEMENTS[0], STATEMENTS[2], STATEMENTS[3]} <= {each["text"] for each in data["remembered"]}
    assert len(data["recalled"]) == 10
    assert all(", proj" in each["source"] and " 01a1dc51" in each["source"] for each in data["recalled"])
    assert set(data["agents"]) == {"claude-code", "codex"}
    assert data["cost"]["dollars"] > 0
    assert data["cost"]["input_tokens"] > data["messages"]
    assert "I prefer" in shown.out
    assert "about $" in shown.out


def test_try_accepts_a_question(home: Path) -> None:
    filled(home, lines=400, sessions=4)

    data = ok("try", "tabs or spaces?")

    assert {each["question"] for each in data["recalled"]} == {"tabs or spaces?"}
    assert "tabs" in data["recalled"][0]["text"]


def test_try_omits_messages_older_than_the_days(home: Path) -> None:
    old = datetime.now(UTC) - timedelta(days=60)
    said = [Said("user", "I prefer Perl.", old), Said("user", "I prefer Rust.", datetime.now(UTC))]
    path = kit.write(kit.claude_path(home, kit.thread_id(1)), kit.claude_code(said, session=kit.thread_id(1)))

    assert [each["text"] for each in ok("try")["remembered"]] == ["I prefer Rust."]
    assert ok("try", "--days", "90")["messages"] == 2
    os.utime(path, (old.timestamp(), old.timestamp()))
    done = run("try")
    assert done.code == 2
    assert "--days" in done.err


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_try_reads_20000_lines_within_limit_and_writes_nothing(home: Path) -> None:
    filled(home, lines=20_000)
    before = bytes_of(home)

    with process(home, "try") as child:
        out, err = child.communicate(timeout=300)

    assert child.returncode == 0, err
    assert "Cost of learning" in out
    assert bytes_of(home) == before
