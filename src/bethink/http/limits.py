"""Limits: bytes, nesting, messages, requests per second, and wrong keys."""

import time
from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_network

import anyio
from starlette.types import Receive

from bethink.errors import Invalid
from bethink.http.options import ServerOptions
from bethink.http.problems import Refused, refused, retry_after
from bethink.model.records import Message

_BRACKETS = b"[]{}"
_OTHERS = bytes(set(range(256)) - set(_BRACKETS))
_MOST_BUCKETS = 10_000
_LONGEST_NUMBER = 15
_DRAINED = 8
"""How many times the limit is read of a body that is too large, so that its sender gets to read the refusal."""

_PATIENCE = 30.0
"""Seconds that a body may take. Meanwhile it holds a connection, and memory."""

_GUESSES, _GUESS_SECONDS = 30, 2.0


def too_large(detail: str, hint: str, *, close: bool = False) -> Refused:
    """Refuse what is beyond a limit."""
    headers = [(b"connection", b"close")] if close else []
    return refused(413, "Too large", detail, hint=hint, code="TooLarge", headers=headers)


def _body_too_large(most: int) -> Refused:
    return too_large(f"The body is larger than {most:,} bytes.", "Send less at a time.", close=True)


def check_messages(messages: Sequence[Message], options: ServerOptions) -> None:
    """Refuse too many messages, or one that is too large."""
    if len(messages) > options.max_messages:
        raise too_large(
            f"The request has {len(messages):,} messages; the limit is {options.max_messages:,}.",
            "Send them in several requests.",
        )
    for place, message in enumerate(messages):
        text = message.content
        if len(text) * 4 > options.max_message and len(text.encode()) > options.max_message:
            raise too_large(
                f"messages.{place} is larger than {options.max_message:,} bytes.", "Split it into several messages."
            )


async def read_body(receive: Receive, headers: Mapping[str, str], most: int) -> bytes:
    """Read a body, counting its bytes: neither a false length nor chunks without one get past the limit."""
    announced = headers.get("content-length", "0")
    size = int(announced[:_LONGEST_NUMBER]) if announced.isdigit() else 0
    if size > _DRAINED * most or (size > most and "expect" in headers):  # it asks first, and has sent nothing yet
        raise _body_too_large(most)
    with anyio.move_on_after(_PATIENCE):
        return await _counted(receive, most)
    raise refused(
        408,
        "Too slow",
        f"The body did not arrive within {_PATIENCE:.0f} seconds.",
        hint="Send it at once, or in parts.",
        headers=[(b"connection", b"close")],
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
            # The rest is read and dropped: a client that is still writing when we close never reads the answer.
            parts.clear()
            if not more or size > _DRAINED * most:
                raise _body_too_large(most)
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
            f"the JSON is nested more than {most} levels deep, or its brackets do not match.", hint="Flatten it."
        )


def _without_strings(body: bytes) -> bytes:
    # Escaped backslashes first, then escaped quotes: what is left of quotes begins and ends strings.
    plain = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(plain.split(b'"')[::2])


class Buckets:
    """A token bucket for each key: `rate` requests per second, and `burst` at once after a pause."""

    def __init__(self, *, rate: float, burst: int, timer: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._burst = float(burst)
        self._timer = timer
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, name: str) -> None:
        """Take one token. If there is none, refuse with 429 and say when to come back."""
        now = self._timer()
        tokens, stamp = self._buckets.get(name, (self._burst, now))
        tokens = min(self._burst, tokens + (now - stamp) * self._rate)
        if tokens < 1:
            self._buckets[name] = (tokens, now)
            raise refused(
                429,
                "Too many requests",
                "This key has sent too many requests.",
                hint="Wait as many seconds as Retry-After says.",
                headers=[retry_after((1 - tokens) / self._rate)],
            )
        self._buckets[name] = (tokens - 1, now)
        if len(self._buckets) > _MOST_BUCKETS:
            del self._buckets[next(iter(self._buckets))]


class Guesses:
    """Counts wrong keys by the address they came from: 30 at once, then one each 2 seconds."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}
        """When the guesses of an address are forgotten."""

    def check(self, address: str) -> None:
        """Refuse with 429 an address that has no guesses left, and say when to come back."""
        over = self._until.get(_network(address), 0.0) - time.monotonic() - (_GUESSES - 1) * _GUESS_SECONDS
        if over > 0:
            raise refused(
                429,
                "Too many wrong keys",
                "Too many wrong keys came from this address.",
                hint="Wait as many seconds as Retry-After says, and check the key.",
                headers=[retry_after(over)],
            )

    def count(self, address: str) -> None:
        """Count a wrong key."""
        now, name = time.monotonic(), _network(address)
        # Taken out first, so that the oldest stand in front and go when there are too many.
        self._until[name] = max(self._until.pop(name, 0.0), now) + _GUESS_SECONDS
        if len(self._until) > _MOST_BUCKETS:
            del self._until[next(iter(self._until))]


def _network(address: str) -> str:
    """Return what one sender has: an IPv4 address, or the first half of an IPv6 address."""
    if ":" not in address:
        return address
    try:
        return str(ip_network(f"{address.partition('%')[0]}/64", strict=False))
    except ValueError:
        return address
