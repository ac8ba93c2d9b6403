"""Bodies of model calls: those that can be read for memory are kept, larger ones are passed on as they arrive."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import anyio
from starlette.datastructures import Headers
from starlette.types import Receive

from bethink.http.limits import BODY_TIMEOUT, announced_length, body_too_large, read_body, too_slow
from bethink.http.problems import refusal

MAX_READ = 8_000_000
"""Maximum bytes of a call that is read for memory: the longest context of a model, and some images."""
_MAX_KEPT = 10_000_000
"""Maximum bytes of all bodies that are kept at a time. Reading one takes about eight times its size of memory."""


class OpenBody:
    """A body that is passed on without being kept. Iterate over it once."""

    def __init__(self, first: bytes, receive: Receive, *, length: int | None, limit: int) -> None:
        self.length = length
        """The announced number of bytes; None if the body is sent in chunks."""
        self.ended = anyio.Event()
        """Set when nothing more is read from the caller."""
        self._first = first
        self._receive = receive
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            size, seconds, more = len(self._first), BODY_TIMEOUT, True
            if self._first:
                yield self._first
            while more:
                began, message = anyio.current_time(), None
                with anyio.move_on_after(seconds):
                    message = await self._receive()
                if message is None:
                    raise too_slow()
                seconds -= anyio.current_time() - began
                if message["type"] == "http.disconnect":
                    raise refusal(400, "Bad request", "The request ended before its body was complete.")
                part, more = message.get("body", b""), message.get("more_body", False)
                size += len(part)
                if size > self._limit:
                    raise body_too_large(self._limit)
                if part:
                    yield part
        finally:
            self.ended.set()


class Bodies:
    """Receives the bodies of calls. Those that are kept together have a maximum size."""

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._kept = 0

    @asynccontextmanager
    async def receiving(self, receive: Receive, headers: Headers) -> AsyncGenerator[bytes | OpenBody]:
        """Receive a body that is kept until the block ends, or one that is passed on as it arrives.

        Rejects a body that is larger than the limit.
        """
        length = announced_length(headers)
        if length is not None and length > self._limit:
            await read_body(receive, headers, self._limit)  # it raises
        room = min(MAX_READ, self._limit, _MAX_KEPT - self._kept)
        size = room if length is None else length
        if size > room or room <= 0:
            yield OpenBody(b"", receive, length=length, limit=self._limit)
            return
        self._kept += size
        try:
            yield await self._receive(receive, length, room)
        finally:
            self._kept -= size

    async def _receive(self, receive: Receive, length: int | None, room: int) -> bytes | OpenBody:
        parts: list[bytes] = []
        size, more = 0, True
        with anyio.move_on_after(BODY_TIMEOUT):
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise refusal(400, "Bad request", "The request ended before its body was complete.")
                parts.append(message.get("body", b""))
                size, more = size + len(parts[-1]), message.get("more_body", False)
                if size > room and more:
                    return OpenBody(b"".join(parts), receive, length=length, limit=self._limit)
            if size > self._limit:
                raise body_too_large(self._limit)
            return b"".join(parts)
        raise too_slow()
