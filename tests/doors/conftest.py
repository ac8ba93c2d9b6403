"""Fixtures for interface tests: a home, a working folder, keys, and a timer that only a test moves."""

import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bethink.features.keys.handle import Keys
from bethink.host.local import Local
from bethink.memory.access import keys as access_keys
from bethink.model.access import KeyInfo
from bethink.store.db import Database
from tests.conftest import DATABASES, memory_on
from tests.doors.cli_kit import at_home
from tests.doors.proxy_kit import Proxy, answer, proxying
from tools import postgres


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
        local = memory_on(database).backend.local()
        assert isinstance(local, Local)
        self.service = local._keys = access_keys.KeyRing(database, timer=timer)
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


@pytest.fixture(scope="module", params=DATABASES)
def shared_proxy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """One server for many tests: it takes longer to start than they take."""
    target = str(tmp_path_factory.mktemp("proxy") / "memory.db")
    if request.param == "postgres":
        superuser, road = request.getfixturevalue("superuser_dsn"), request.getfixturevalue("road")
        target = road(postgres.create_database(superuser, f"proxy_{uuid.uuid4().hex[:12]}"))
    with proxying(target) as found:
        yield found


@pytest.fixture
def proxy(shared_proxy: Proxy) -> Proxy:
    """The server, with a space of the test's own."""
    del shared_proxy.models.sent[:]
    shared_proxy.models.reply = answer
    shared_proxy.models.broken_off.clear()
    return replace(shared_proxy, space=f"space-{uuid.uuid4().hex[:8]}")


@pytest.fixture
def file(tmp_path: Path) -> str:
    """Memory for tests that are about what stands before it."""
    return str(tmp_path / "memory.db")
