"""Fixtures of the doors: keys, and a timer that only a test moves."""

from dataclasses import dataclass

import pytest

from bethink.access import Access
from bethink.store.db import Database


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
