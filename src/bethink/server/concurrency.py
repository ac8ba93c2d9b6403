"""How many requests are handled at once, and how many bodies may still be on their way."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from bethink.server.problems import Refused, refused

_SHARE = 4
"""This many times `max_concurrency` bodies may be on their way, `max_concurrency` of them with the same key."""


class Concurrency:
    """Counts the requests of a server. A request counts while it is handled, not while its body is on its way."""

    def __init__(self, most: int) -> None:
        self.active = 0
        self._most = most
        self._reading: dict[str, int] = {}
        self._connections: Callable[[], int] = lambda: 0
        self._most_connections = 0

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
        reading = self._reading
        if reading.get(key, 0) >= self._most or sum(reading.values()) >= _SHARE * self._most:
            raise _busy()
        reading[key] = reading.get(key, 0) + 1
        self.active -= 1
        try:
            yield
        finally:
            self.active += 1
            reading[key] -= 1
            if not reading[key]:
                del reading[key]
        self.check()


def _busy(*headers: tuple[bytes, bytes]) -> Refused:
    return refused(
        503,
        "Unavailable",
        "The server is handling too many requests.",
        hint="Try again in a moment.",
        code="Busy",
        headers=[(b"retry-after", b"1"), *headers],
    )
