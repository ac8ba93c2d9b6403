"""The connections of a server: answers go out in one piece, and nobody holds a connection without asking for anything.

An answer's head and body would be two writes otherwise, and so two system calls.
"""

import sys
from collections.abc import Callable
from typing import Any, cast
from weakref import WeakKeyDictionary

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEAD = 10.0
"""Seconds until the head of a request must be there, from the beginning of a connection or the last answer on."""

STUCK = 30.0
"""Seconds in which some of an answer must be taken by whoever asked for it."""

_FILES = 1_024


def files() -> int:
    """Return how many files and connections this process may have open."""
    if sys.platform == "win32":
        return _FILES
    import resource  # noqa: PLC0415 - not there on Windows

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _FILES * _FILES if soft == resource.RLIM_INFINITY else soft


class _Idle:
    """The connections of one server that have asked for nothing, or nothing more, the longest waiting first."""

    def __init__(self, loop: Any) -> None:
        self._loop = loop
        self._until: dict[OneWrite, float] = {}
        self._sweep: Any = None

    def add(self, one: "OneWrite") -> None:
        self._until.pop(one, None)
        self._until[one] = self._loop.time() + HEAD
        if self._sweep is None:
            self._sweep = self._loop.call_later(HEAD, self._end)

    def discard(self, one: "OneWrite") -> None:
        self._until.pop(one, None)

    def take(self) -> "OneWrite | None":
        """Return the one that has waited longest, and no longer hold it."""
        oldest = next(iter(self._until), None)
        if oldest is not None:
            del self._until[oldest]
        return oldest

    def _end(self) -> None:
        self._sweep = None
        now = self._loop.time()
        for one, until in list(self._until.items()):
            if until > now:
                self._sweep = self._loop.call_later(until - now, self._end)
                return
            del self._until[one]
            one.end()


_idle: "WeakKeyDictionary[Any, _Idle]" = WeakKeyDictionary()


class OneWrite(AutoHTTPProtocol):
    """The HTTP protocol that uvicorn would choose; what is written in one turn of the loop goes out together.

    Beyond `most` connections, a new one takes the place of the one that has waited longest without asking.
    """

    loop: Any
    transport: Any
    cycle: Any
    connections: set[Any]
    server_state: Any

    def __init__(self, *args: Any, most: int = 1_024, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._most = most
        self._watch: Any = None
        self._idle = _idle.get(self.server_state) or _idle.setdefault(self.server_state, _Idle(self.loop))

    def connection_made(self, transport: Any) -> None:
        """Begin to serve a connection."""
        super().connection_made(cast("Any", _Joined(transport, self.loop.call_soon)))
        if len(self.connections) > self._most:
            (self._idle.take() or self).drop()
        if not transport.is_closing():
            self._idle.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._idle.discard(self)
        self._unwatch()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; a request whose head is there is at work."""
        super().data_received(data)
        if self._asked():
            self._idle.discard(self)

    def on_response_complete(self) -> None:
        """Go on to the next request, or wait for it."""
        cast("Any", super()).on_response_complete()
        if not self._asked() and self in self.connections:
            self._idle.add(self)

    def pause_writing(self) -> None:
        """Wait for whoever asked to take what was sent, while some of it is taken."""
        super().pause_writing()
        self._look_later()

    def resume_writing(self) -> None:
        """Go on to write."""
        self._unwatch()
        super().resume_writing()

    def end(self) -> None:
        """Close the connection; what is still to be sent is sent, while it is taken."""
        self.transport.close()
        if self.transport.get_write_buffer_size():
            self._look_later()

    def drop(self) -> None:
        """Close the connection at once."""
        self.connections.discard(self)
        self.transport.abort()

    def _look_later(self) -> None:
        self._unwatch()
        self._watch = self.loop.call_later(STUCK, self._look, self.transport.get_write_buffer_size())

    def _look(self, before: int) -> None:
        if self.transport.get_write_buffer_size() >= before:
            self.drop()
        else:
            self._look_later()

    def _unwatch(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    def _asked(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete


class _Joined:
    """A transport that writes at the end of the turn. A system call lets other threads run, so fewer are better."""

    __slots__ = ("_later", "_parts", "_transport")

    def __init__(self, transport: Any, later: Callable[[Callable[[], None]], object]) -> None:
        self._transport = transport
        self._later = later
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write soon."""
        if not self._parts:
            self._later(self._flush)
        self._parts.append(data)

    def close(self) -> None:
        """Write what is left, and close."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._parts:
            data, self._parts = b"".join(self._parts), []
            self._transport.write(data)
