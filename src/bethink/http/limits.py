"""Limits: bytes, nesting, messages, requests per second, and wrong keys."""

import time
from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_network

import anyio
from starlette.types import Receive

from bethink.errors import InvalidRequestError
from bethink.http.options import ServerOptions
from bethink.http.problems import RefusedRequest, refusal, retry_after
from bethink.memory.log.messages import size_of
from bethink.model.records import Message

_BRACKETS = b"[]{}"
_NOT_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))
_MAX_BUCKETS = 10_000
_MAX_DIGITS = 15
MAX_VALUES = 50_000
"""Maximum number of values in the JSON of a request. Each takes time and memory, however short it is."""
_DRAIN_FACTOR = 8
"""A body that is too large is read up to this multiple of the limit, so that its sender can read the response."""

BODY_TIMEOUT = 30.0
"""Maximum seconds to receive a body."""

_BYTES_PER_SECOND, _BYTES_AT_ONCE = 24e6, 8e6
_GUESSES, _GUESS_SECONDS = 30, 2.0


def too_large(detail: str, hint: str, *, close: bool = False) -> RefusedRequest:
    """Return the error for a request that exceeds a size limit."""
    headers = [(b"connection", b"close")] if close else []
    return refusal(413, "Too large", detail, hint=hint, code="TooLarge", headers=headers)


def body_too_large(limit: int) -> RefusedRequest:
    """Return the error for a body that exceeds the limit."""
    return too_large(f"The body is larger than {limit:,} bytes.", "Send less at a time.", close=True)


def check_messages(messages: Sequence[Message], options: ServerOptions) -> None:
    """Reject too many messages, or a message that is too large."""
    if len(messages) > options.max_messages:
        raise too_large(
            f"The request has {len(messages):,} messages; the limit is {options.max_messages:,}.",
            "Send them in several requests.",
        )
    for index, message in enumerate(messages):
        text = message.content
        is_long = len(text) * 4 > options.max_message and len(text.encode()) > options.max_message
        if is_long or size_of([message]) - len(text) > options.max_message:  # the latter of metadata and tool calls
            raise too_large(
                f"messages.{index} is larger than {options.max_message:,} bytes.", "Split it into several messages."
            )


async def read_body(receive: Receive, headers: Mapping[str, str], limit: int) -> bytes:
    """Read a body and count its bytes, so that false lengths and chunks cannot exceed the limit."""
    size = announced_length(headers) or 0
    if size > _DRAIN_FACTOR * limit or (
        size > limit and "expect" in headers
    ):  # the client waits for permission to send
        raise body_too_large(limit)
    with anyio.move_on_after(BODY_TIMEOUT):
        return await _read_within_limit(receive, limit)
    raise too_slow()


def announced_length(headers: Mapping[str, str]) -> int | None:
    """Return the number of bytes that a request announces, or None."""
    announced = headers.get("content-length", "")
    return int(announced[:_MAX_DIGITS]) if announced.isdigit() else None


def too_slow() -> RefusedRequest:
    """Return the error for a body that does not arrive in time."""
    return refusal(
        408,
        "Too slow",
        f"The body did not arrive within {BODY_TIMEOUT:.0f} seconds.",
        hint="Send the body faster, or in smaller requests.",
        headers=[(b"connection", b"close")],
    )


async def _read_within_limit(receive: Receive, limit: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise refusal(400, "Bad request", "The request ended before its body was complete.")
        part = message.get("body", b"")
        more = message.get("more_body", False)
        size += len(part)
        if size > limit:
            # The remaining bytes are dropped: a client that is still writing when we close never reads the response.
            parts.clear()
            if not more or size > _DRAIN_FACTOR * limit:
                raise body_too_large(limit)
            continue
        parts.append(part)
        if not more:
            return parts[0] if len(parts) == 1 else b"".join(parts)


def count_values(body: bytes) -> int:
    """Return the maximum number of values in JSON: each follows a comma, a bracket or a brace."""
    raw = body.count(b",") + body.count(b"[") + body.count(b"{")
    if raw <= MAX_VALUES:
        return raw
    plain = _without_strings(body)
    return plain.count(b",") + plain.count(b"[") + plain.count(b"{")


def check_structure(body: bytes, max_depth: int) -> None:
    """Reject JSON that is nested too deeply or has too many values, before it is parsed."""
    if body.count(b"[") + body.count(b"{") > max_depth:
        _check_depth(body, max_depth)
    if count_values(body) > MAX_VALUES:
        raise too_large(f"The JSON has more than {MAX_VALUES:,} values.", "Send less at a time.")


def _check_depth(body: bytes, max_depth: int) -> None:
    brackets = _without_strings(body).translate(None, _NOT_BRACKETS)
    for _ in range(max_depth):
        # Each round removes the innermost level. This runs in C, even for hostile input.
        shorter = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if shorter == brackets:
            break
        brackets = shorter
    if brackets:
        raise InvalidRequestError(
            f"The JSON is nested more than {max_depth} levels deep, or its brackets do not match.",
            hint="Flatten the JSON.",
        )


def _without_strings(body: bytes) -> bytes:
    # Escaped backslashes first, then escaped quotes: the remaining quotes begin and end strings.
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
        """Take one token, or reject the request with 429 and `Retry-After`."""
        now = self._timer()
        tokens, stamp = self._buckets.get(name, (self._burst, now))
        tokens = min(self._burst, tokens + (now - stamp) * self._rate)
        if tokens < 1:
            self._buckets[name] = (tokens, now)
            raise refusal(
                429,
                "Too many requests",
                "This key has sent too many requests.",
                hint="Wait for the seconds in Retry-After.",
                headers=[retry_after((1 - tokens) / self._rate)],
            )
        self._buckets[name] = (tokens - 1, now)
        if len(self._buckets) > _MAX_BUCKETS:
            del self._buckets[next(iter(self._buckets))]


class Pace:
    """Delays the bodies of a key that sends many bytes: `burst` at once, then `rate` per second.

    Bodies are received on the event loop. Without this, one key could keep it busy with bodies alone.
    """

    def __init__(self, *, rate: float = _BYTES_PER_SECOND, burst: float = _BYTES_AT_ONCE) -> None:
        self._rate = rate
        self._burst = burst
        self._until: dict[str, float] = {}
        """The time at which all bytes that a key has sent would have arrived at the rate."""

    async def wait(self, key: str, size: int) -> None:
        """Wait after `size` bytes of a key have arrived."""
        now = time.monotonic()
        until = max(self._until.pop(key, 0.0), now) + size / self._rate
        self._until[key] = until
        if len(self._until) > _MAX_BUCKETS:
            del self._until[next(iter(self._until))]
        await anyio.sleep(max(0.0, until - now - self._burst / self._rate))


class Guesses:
    """Counts wrong keys per client address: 30 at once, then one every 2 seconds."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}
        """The time at which the guesses of an address expire."""

    def check(self, address: str) -> None:
        """Reject an address without remaining guesses, with 429 and `Retry-After`."""
        over = self._until.get(_network(address), 0.0) - time.monotonic() - (_GUESSES - 1) * _GUESS_SECONDS
        if over > 0:
            raise refusal(
                429,
                "Too many wrong keys",
                "Too many wrong keys came from this address.",
                hint="Wait for the seconds in Retry-After, and check the key.",
                headers=[retry_after(over)],
            )

    def count(self, address: str) -> None:
        """Count a wrong key."""
        now, name = time.monotonic(), _network(address)
        # Removed first, so that the oldest come first and are dropped when there are too many.
        self._until[name] = max(self._until.pop(name, 0.0), now) + _GUESS_SECONDS
        if len(self._until) > _MAX_BUCKETS:
            del self._until[next(iter(self._until))]


def _network(address: str) -> str:
    """Return the network of one sender: an IPv4 address, or the first half of an IPv6 address."""
    if ":" not in address:
        return address
    try:
        return str(ip_network(f"{address.partition('%')[0]}/64", strict=False))
    except ValueError:
        return address
