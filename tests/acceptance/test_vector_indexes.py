"""The comparison of vector indexes runs, and finds what an exact scan finds in small spaces."""

import re
import subprocess
import sys

import pytest

pytest.importorskip("sentencepiece")


def test_the_comparison_of_vector_indexes_runs() -> None:
    command = [sys.executable, "-m", "benchmarks.vector_indexes", "--vectors", "3000"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    recalls = re.search(r"^small recall +(.+)$", done.stdout, re.MULTILINE)
    assert recalls is not None
    assert [float(text) for text in recalls[1].split()][:3] == [1.0, 1.0, 1.0]  # no space is large
