"""A short fleet campaign, and proof that it detects seeded bugs."""

import subprocess
import sys

import pytest

from faults.temporal_crew import Mutant


def campaign(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "faults.temporal", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=380)


@pytest.mark.slow
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_three_workers_that_are_killed_learn_from_each_session_once(database: str) -> None:
    done = campaign("--sessions", "40", "--kills", "4", "--seed", "7", "--database", database)

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].endswith("0 violations (seed 7)")


@pytest.mark.mutant
@pytest.mark.slow
@pytest.mark.parametrize(
    ("mutant", "sessions", "kills", "complaint"),
    [
        (Mutant.LEAKS, 20, 1, "Temporal keeps 'note1x'"),
        (Mutant.FORGETFUL, 40, 2, "were not learnt from, and nobody went on"),
        (Mutant.NO_EFFECT_KEY, 200, 30, "is there 2 times"),
    ],
)
def test_seeded_bug_is_detected(mutant: Mutant, sessions: int, kills: int, complaint: str) -> None:
    done = campaign("--sessions", str(sessions), "--kills", str(kills), "--mutant", mutant)

    assert done.returncode == 1, done.stdout + done.stderr
    assert complaint in done.stdout
