"""How many requests are let in at once, and how many may still be on their way."""

from collections.abc import Generator
from contextlib import contextmanager

from bethink.server.problems import Refused, refused

_SHARE = 4
"""So many times as many requests may be on their way as at work; one key may have that part of them."""


def busy() -> Refused:
    """Refuse because there is no place left."""
    return refused(
        503,
        "Unavailable",
        "Too many requests are at work.",
        hint="Try again in a moment.",
        code="Busy",
        headers=[(b"retry-after", b"1")],
    )


class Places:
    """The places of a server. A request has one while it is worked on, and none while its body is on its way."""

    def __init__(self, most: int) -> None:
        self.inside = 0
        self._most = most
        self._coming: dict[str, int] = {}

    def check(self) -> None:
        """Refuse who came in when all places were taken."""
        if self.inside > self._most:
            raise busy()

    @contextmanager
    def coming(self, key: str) -> Generator[None]:
        """Give a place up while a body comes: who withholds one must not keep others out, nor many of them memory."""
        coming = self._coming
        if coming.get(key, 0) >= self._most or sum(coming.values()) >= _SHARE * self._most:
            raise busy()
        coming[key] = coming.get(key, 0) + 1
        self.inside -= 1
        try:
            yield
        finally:
            self.inside += 1
            coming[key] -= 1
            if not coming[key]:
                del coming[key]
        self.check()
