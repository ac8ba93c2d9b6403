"""Lets uvicorn send an answer in one piece: its head and its body are two writes otherwise, and so two system calls."""

from collections.abc import Callable
from typing import Any, cast

from uvicorn.protocols.http.auto import AutoHTTPProtocol


class OneWrite(AutoHTTPProtocol):
    """The HTTP protocol that uvicorn would choose; what is written in one turn of the loop goes out together."""

    loop: Any

    def connection_made(self, transport: Any) -> None:
        """Begin to serve a connection."""
        super().connection_made(cast("Any", _Joined(transport, self.loop.call_soon)))


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
