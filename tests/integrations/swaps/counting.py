"""A pytest plugin for a vendor's tests: counts outcomes for a program to read."""

import json

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print one line of JSON."""
    stats = terminalreporter.stats
    counts = {name: len(stats.get(name, ())) for name in ("passed", "failed", "error", "skipped", "deselected")}
    terminalreporter.write_line(f"counted: {json.dumps(counts)}")
