"""Limits of concurrent requests, waiting requests and incoming bodies."""

from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager

import anyio

from bethink.http.limits import announced_length
from bethink.http.problems import RefusedRequest, refusal

_LARGE, _LARGE_AT_ONCE = 100_000, 4
"""Bytes of a large request, and how many a key may have at a time: each takes several times its size of memory."""
_WAITING_FACTOR = 4
"""Maximum incoming bodies or waiting requests, as a multiple of `max_concurrency`. One key has `max_concurrency`."""


class Concurrency:
    """Counts the requests of a server. A request counts while it is handled, not while its body arrives."""

    def __init__(self, limit: int) -> None:
        self.active = 0
        self._limit = limit
        self._reading: dict[str, int] = {}
        self._connections: Callable[[], int] = lambda: 0
        self._max_connections = 0
        self._waiting: dict[str, int] = {}
        self._large: dict[str, anyio.CapacityLimiter] = {}
        self.is_stopping: Callable[[], bool] = lambda: False
        """Returns whether the server is stopping. Requests that wait for a change then end."""

    def limit_connections(self, count: Callable[[], int], limit: int) -> None:
        """Also reject requests while `limit` connections are open. Each needs a file."""
        self._connections, self._max_connections = count, limit

    def check_connections(self) -> None:
        """Reject a request if too many connections are open, and close its connection."""
        if self._connections() >= self._max_connections > 0:
            raise _busy((b"connection", b"close"))

    def check(self) -> None:
        """Reject a request if the server is full."""
        if self.active > self._limit:
            raise _busy()

    @contextmanager
    def reading(self, key: str) -> Generator[None]:
        """Do not count a request while its body is read, so that slow senders do not block others."""
        with self._exclude_from_count(self._reading, key):
            yield
        self.check()

    @asynccontextmanager
    async def large(self, key: str, headers: Mapping[str, str]) -> AsyncGenerator[None]:
        """Let a key have a few large requests at a time. Its others wait before their bodies are read."""
        is_large = "transfer-encoding" in headers or (announced_length(headers) or 0) > _LARGE
        if not is_large:
            yield
            return
        limiter = self._large.setdefault(key, anyio.CapacityLimiter(_LARGE_AT_ONCE))
        token = object()
        try:
            with self._exclude_from_count(self._reading, key):
                await limiter.acquire_on_behalf_of(token)
            try:
                yield
            finally:
                limiter.release_on_behalf_of(token)
        finally:
            usage = limiter.statistics()
            if not usage.borrowed_tokens and not usage.tasks_waiting:
                self._large.pop(key, None)

    @contextmanager
    def waiting(self, key: str) -> Generator[None]:
        """Do not count a request while it waits for a change."""
        with self._exclude_from_count(self._waiting, key):
            yield

    @contextmanager
    def _exclude_from_count(self, group: dict[str, int], key: str) -> Generator[None]:
        if group.get(key, 0) >= self._limit or sum(group.values()) >= _WAITING_FACTOR * self._limit:
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


def _busy(*headers: tuple[bytes, bytes]) -> RefusedRequest:
    return refusal(
        503,
        "Unavailable",
        "The server is handling too many requests.",
        hint="Try again in a moment.",
        code="DatabaseBusyError",
        headers=[(b"retry-after", b"1"), *headers],
    )
