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
