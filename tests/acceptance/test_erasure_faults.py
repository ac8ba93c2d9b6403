"""A short erasure campaign, and proof that it detects seeded bugs."""

import json
import random
import subprocess
import sys

import pytest

from faults.erasure_life import canary, pieces, pieces_in
from faults.erasure_mutants import ErasureMutant


def campaign(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "faults.erasure", "--database", "sqlite", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=250)


def test_words_are_searched_by_pieces_of_six_letters() -> None:
    assert pieces(["kavurimo"]) == {b"kavuri", b"avurim", b"vurimo"}
    assert len(canary(random.Random(1))) == 10


def test_pieces_are_detected_in_plain_and_escaped_bytes() -> None:
    words = [canary(random.Random(seed)) for seed in range(20)]
    data = b"\xd0\xff".join(word.encode() + b"\xd1" + json.dumps(word).encode() for word in words)

    assert pieces_in(data) == pieces(words)
    assert pieces_in("бавиг".encode() + b"\\u0431\\u0430") == set()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_campaign_ends_with_its_figures_and_its_seed() -> None:
    done = campaign("--histories", "6", "--kills", "3", "--seed", "7")

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].endswith("0 survivors (seed 7)")


@pytest.mark.mutant
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("mutant", list(ErasureMutant))
def test_campaign_detects_every_seeded_bug(mutant: ErasureMutant) -> None:
    # Only busy lives split pages, and so show what a split leaves behind.
    busy = "1" if mutant is ErasureMutant.NO_CLEARING else "0"
    for histories in (15, 30, 60):
        done = campaign("--histories", str(histories), "--kills", str(histories), "--busy", busy, "--mutant", mutant)
        if done.returncode == 1:
            break

    assert done.returncode == 1, done.stdout + done.stderr
    assert " 0 survivors" not in done.stdout.splitlines()[-1]
