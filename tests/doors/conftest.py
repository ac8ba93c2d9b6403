"""Fixtures of the doors: a home, where commands work, keys, and a timer that only a test moves."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from bethink.api.keys import Keys
from bethink.audit.keys import KeyService
from bethink.model.access import KeyInfo
from bethink.store.db import Database
from tests.conftest import memory_on
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


class KeyRing(Keys):
    """The keys of a database as a memory has them, and as a server finds them."""

    def __init__(self, database: Database, timer: Callable[[], float] = time.monotonic) -> None:
        local = memory_on(database).local()
        self.service = local._keys = KeyService(database, timer=timer)
        super().__init__(local)

    async def find(self, key: str) -> KeyInfo | None:
        return await self.service.find(key)


@pytest.fixture
def keys(database: Database, timer: Timer) -> KeyRing:
    return KeyRing(database, timer=timer)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own."""
    return at_home(tmp_path, monkeypatch)


@pytest.fixture
def on(target: str) -> list[str]:
    """What names the database and the space in every call."""
    return ["--database", target, "--space", "alice"]
