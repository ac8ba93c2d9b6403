"""Loaded by pytest beside a vendor's tests: says how many ended how, for a program to read."""

import json

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print one line of JSON."""
    stats = terminalreporter.stats
    counts = {name: len(stats.get(name, ())) for name in ("passed", "failed", "error", "skipped", "deselected")}
    terminalreporter.write_line(f"counted: {json.dumps(counts)}")
