"""The examples run, and say what they should."""

import subprocess
import sys


def test_the_stepping_example_goes_through_every_rung_of_the_ladder() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "examples.stepping"], capture_output=True, text=True, check=True, timeout=60
    )

    lines = done.stdout.splitlines()
    assert any("compaction of" in line for line in lines)
    assert any("truncation of" in line for line in lines)
    assert sum("event " in line for line in lines) == 20
    assert lines[-1] == "replayed without a model: the same"
    assert all(len(line.split("[")[1].split("]")[0]) == 50 for line in lines[:-2])


def test_the_consolidation_example_shows_a_move_a_change_of_mind_an_end_and_a_forgotten_topic() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "examples.consolidation"], capture_output=True, text=True, check=True, timeout=60
    )

    runs, _, tree = done.stdout.partition("== the tree after ninety days")
    assert runs.count("== day") >= 9
    assert "~/memory/oslo is forgotten" in runs
    assert "~/memory/coffee is forgotten" in runs
    assert "~/memory/juggling is forgotten" in runs
    assert "+- Project Heron is finished" in runs
    assert "User moved to Bergen" in tree
    assert "User drinks tea" in tree
    for gone in ("Oslo", "coffee (", "juggl"):
        assert gone not in tree
