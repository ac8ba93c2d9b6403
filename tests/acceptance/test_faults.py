# pyright: reportUnknownMemberType=false
"""Short fault campaigns, and proof that they detect seeded bugs."""

import subprocess
import sys
from pathlib import Path

import anyio
import apsw
import pytest

import bethink
from faults.ledger import Ledger, check
from tests.conftest import KEY, Quiet


def campaign(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "faults.capture", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.slow
def test_a_campaign_ends_with_its_figures_and_its_seed() -> None:
    done = campaign("--database", "sqlite", "--messages", "160", "--seed", "7")

    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith("sqlite: 8 processes, 160 messages in 10 sessions, 160 acknowledged")
    assert last.endswith("0 violations (seed 7)")


@pytest.mark.mutant
@pytest.mark.slow
def test_campaign_detects_an_early_acknowledgment() -> None:
    done = campaign("--database", "sqlite", "--kills", "60", "--mutant")

    assert done.returncode == 1
    assert "is lost" in done.stdout


@pytest.fixture
def filled(tmp_path: Path) -> tuple[str, Path]:
    """A database of ten acknowledged messages and its ledger."""
    target, ledger = str(tmp_path / "memory.db"), tmp_path / "ledger"
    ledger.mkdir()

    async def fill() -> None:
        async with bethink.connect(target, redactor=Quiet(), learn=False) as memory:
            session = await memory.space("faults").session(KEY)
            keys = [f"0-{number}" for number in range(1, 11)]
            messages = [{"role": "user", "content": f"message {key}", "idempotency_key": key} for key in keys]
            numbers = await session.append(messages)
            Ledger(ledger, 0).acknowledge(session.id, dict(zip(keys, numbers, strict=True)))

    anyio.run(fill)
    return target, ledger


def test_the_check_finds_nothing_where_nothing_is_wrong(filled: tuple[str, Path]) -> None:
    assert check(*filled, failed_processes=0, expected=10).violations == []


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        ("DELETE FROM messages WHERE number = 10", "acknowledged message 0-10 is lost"),
        ("DELETE FROM messages WHERE number = 4", "has gaps"),
        ("UPDATE messages SET number = 99 WHERE number = 10", "not at"),
        ("UPDATE messages SET content = 'other' WHERE number = 3", "holds 'other'"),
        ("UPDATE sessions SET invalidated_at = 9", "is marked at 9, not at 10"),
        ("UPDATE sessions SET invalidated_at = NULL", "is marked at None"),
        ("DELETE FROM jobs", "not queued"),
        ("DELETE FROM messages WHERE number = 10; UPDATE sessions SET last_number = 9", "9 messages stored, 10 sent"),
    ],
)
def test_the_check_names_every_broken_promise(filled: tuple[str, Path], damage: str, complaint: str) -> None:
    connection = apsw.Connection(filled[0])
    connection.execute(damage)
    connection.close()

    violations = check(*filled, failed_processes=0, expected=10).violations

    assert any(complaint in violation for violation in violations), violations


def test_the_check_counts_processes_that_failed(filled: tuple[str, Path]) -> None:
    assert "2 processes" in check(*filled, failed_processes=2, expected=None).violations[0]
