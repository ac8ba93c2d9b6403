"""Fixtures of the doors: a home, where commands work, keys, and a timer that only a test moves."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from bethink.audit.keys import Access
from bethink.store.db import Database
from tests.doors.cli_kit import at_home


@dataclass
class Timer:
    """Seconds, as a test sets them."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def timer() -> Timer:
    return Timer()


@pytest.fixture
def access(database: Database, timer: Timer) -> Access:
    return Access(database, timer=timer)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own."""
    return at_home(tmp_path, monkeypatch)


@pytest.fixture
def on(target: str) -> list[str]:
    """What names the database and the space in every call."""
    return ["--database", target, "--space", "alice"]
