"""How much is taken from whom: bytes, levels, messages, and requests a second."""

import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

import anyio

from bethink.errors import Invalid
from bethink.server.problems import Refused, refused, retry_after

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

_BRACKETS = b"[]{}"
_OTHERS = bytes(set(range(256)) - set(_BRACKETS))
_MOST_BUCKETS = 10_000
_LONGEST_NUMBER = 15
_DRAINED = 8
"""How many times the limit is read of a body that is beyond it, so that whoever sends it hears why it is refused."""

_PATIENCE = 30.0
"""Seconds that a body may take: whoever sends it holds a connection meanwhile, and memory."""


def too_large(what: str, most: int) -> Refused:
    """Refuse what is beyond a limit."""
    return refused(
        413,
        "Too large",
        f"{what}: at most {most:,} are taken.",
        hint="Send less at a time.",
        code="TooLarge",
        headers=[(b"connection", b"close")],
    )


async def read_body(receive: Receive, headers: Mapping[bytes, bytes], most: int) -> bytes:
    """Read a body, counting while it comes: neither a false length nor chunks without one get past the limit."""
    announced = headers.get(b"content-length", b"0")
    size = int(announced[:_LONGEST_NUMBER]) if announced.isdigit() else 0
    if size > _DRAINED * most or (size > most and b"expect" in headers):  # who asks first has sent nothing yet
        raise too_large("Bytes of a body", most)
    with anyio.move_on_after(_PATIENCE):
        return await _counted(receive, most)
    raise refused(
        408, "Too slow", "The body did not come in time.", hint="Send it whole.", headers=[(b"connection", b"close")]
    )


async def _counted(receive: Receive, most: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise refused(400, "Bad request", "The request ended before its body did.")
        part = message.get("body", b"")
        more = message.get("more_body", False)
        size += len(part)
        if size > most:
            # What is too much is thrown away and read on: who still writes when we close never reads our answer.
            parts.clear()
            if not more or size > _DRAINED * most:
                raise too_large("Bytes of a body", most)
            continue
        parts.append(part)
        if not more:
            return parts[0] if len(parts) == 1 else b"".join(parts)


def check_depth(body: bytes, most: int) -> None:
    """Refuse JSON that is nested too deeply, before anything recursive looks at it."""
    if body.count(b"[") + body.count(b"{") <= most:
        return
    left = _without_strings(body).translate(None, _OTHERS)
    for _ in range(most):
        # Each round takes the innermost level away; the work is done in C, however hostile the text.
        shorter = left.replace(b"[]", b"").replace(b"{}", b"")
        if shorter == left:
            break
        left = shorter
    if left:
        raise Invalid(
            f"the JSON is nested deeper than {most} levels, or its brackets do not match.", hint="Flatten it."
        )


def _without_strings(body: bytes) -> bytes:
    # Escaped backslashes first, then escaped quotes: what is left of quotes begins and ends strings.
    plain = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(plain.split(b'"')[::2])


class Buckets:
    """A token bucket for each key: so many requests a second, and a burst after a pause."""

    def __init__(self, *, rate: float, burst: int, timer: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._burst = float(burst)
        self._timer = timer
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, name: str) -> None:
        """Take one token, or raise a refusal that says when there will be one."""
        now = self._timer()
        tokens, stamp = self._buckets.get(name, (self._burst, now))
        tokens = min(self._burst, tokens + (now - stamp) * self._rate)
        if tokens < 1:
            self._buckets[name] = (tokens, now)
            raise refused(
                429,
                "Too many requests",
                "This key has used up its requests.",
                hint="Wait for as many seconds as Retry-After says.",
                headers=[retry_after((1 - tokens) / self._rate)],
            )
        self._buckets[name] = (tokens - 1, now)
        if len(self._buckets) > _MOST_BUCKETS:
            del self._buckets[next(iter(self._buckets))]
