"""How many requests are handled at once, how many wait for a change, and how many bodies are still on their way."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from bethink.http.problems import Refused, refused

_SHARE = 4
"""So many times `max_concurrency` bodies may be on their way, or requests wait; `max_concurrency` for one key."""


class Concurrency:
    """Counts the requests of a server. A request counts while it is handled, not while its body is on its way."""

    def __init__(self, most: int) -> None:
        self.active = 0
        self._most = most
        self._reading: dict[str, int] = {}
        self._connections: Callable[[], int] = lambda: 0
        self._most_connections = 0
        self._waiting: dict[str, int] = {}
        self.leaving: Callable[[], bool] = lambda: False
        """Whether the server was told to stop: who waits for a change is sent away then."""

    def limit_connections(self, count: Callable[[], int], most: int) -> None:
        """Also refuse requests while `most` connections are open: each takes a file."""
        self._connections, self._most_connections = count, most

    def check_connections(self) -> None:
        """Refuse a request if too many connections are open, and close its own."""
        if self._connections() >= self._most_connections > 0:
            raise _busy((b"connection", b"close"))

    def check(self) -> None:
        """Refuse a request that came in when the server was full."""
        if self.active > self._most:
            raise _busy()

    @contextmanager
    def reading(self, key: str) -> Generator[None]:
        """Do not count a request while its body is read: a slow sender must not keep others out, nor fill memory."""
        with self._uncounted(self._reading, key):
            yield
        self.check()

    @contextmanager
    def waiting(self, key: str) -> Generator[None]:
        """Do not count a request while it waits for a change: it does nothing then."""
        with self._uncounted(self._waiting, key):
            yield

    @contextmanager
    def _uncounted(self, group: dict[str, int], key: str) -> Generator[None]:
        if group.get(key, 0) >= self._most or sum(group.values()) >= _SHARE * self._most:
            raise _busy()
        group[key] = group.get(key, 0) + 1
        self.active -= 1
        try:
            yield
        finally:
            self.active += 1
            group[key] -= 1
            if not group[key]:
                del group[key]


def _busy(*headers: tuple[bytes, bytes]) -> Refused:
    return refused(
        503,
        "Unavailable",
        "The server is handling too many requests.",
        hint="Try again in a moment.",
        code="Busy",
        headers=[(b"retry-after", b"1"), *headers],
    )
