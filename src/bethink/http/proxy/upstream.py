"""The models behind the proxy: which path belongs to which of them, and the headers of both directions."""

import re
from collections.abc import Iterable
from enum import StrEnum
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import NamedTuple

import httpx2

from bethink.config.groups import ProxySettings
from bethink.errors import Misconfigured

RawHeaders = list[tuple[bytes, bytes]]

_HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding "
    b"upgrade".split()
)
_OURS = b"x-bethink-"
_OWN_KEYS = (b"authorization", b"x-api-key")
_READABLE = ("gzip", "deflate", "identity")
"""The encodings that an answer can be read in; a client is not offered others."""
_ID = "[A-Za-z0-9_-]{1,200}"
_CONNECT = 10.0
_KEPT_OPEN = 5.0
"""Seconds that an idle connection is kept: less than a model keeps it, so that it is not lost to a race."""


class Wire(StrEnum):
    """The protocols that are understood."""

    CHAT = "chat"
    RESPONSES = "responses"
    MESSAGES = "messages"


class Passage(NamedTuple):
    """A path that is passed on, with the methods that are, to whom, and in which protocol its bodies are read."""

    path: re.Pattern[str]
    methods: tuple[str, ...]
    vendor: str
    wire: Wire | None = None


_PASSAGES = (
    Passage(re.compile("/v1/chat/completions"), ("POST",), "openai", Wire.CHAT),
    Passage(re.compile("/v1/responses"), ("POST",), "openai", Wire.RESPONSES),
    Passage(re.compile("/v1/responses/(?:compact|input_tokens)"), ("POST",), "openai"),
    Passage(re.compile(f"/v1/responses/{_ID}(?:/(?:cancel|input_items))?"), ("GET", "POST", "DELETE"), "openai"),
    Passage(re.compile("/v1/messages"), ("POST",), "anthropic", Wire.MESSAGES),
    Passage(re.compile("/v1/messages/count_tokens"), ("POST",), "anthropic"),
    Passage(re.compile(r"/v1/models(?:/[A-Za-z0-9_.:-]{1,200})?"), ("GET",), ""),
)
"""All that is passed on: with a key of the operator's, callers get to see models and their own answers only."""


def passage_of(method: str, path: str) -> Passage | None:
    """Return how a request is passed on; None for what is not."""
    found = (each for each in _PASSAGES if each.path.fullmatch(path) and method in each.methods)
    return next((each for each in found if ".." not in path), None)


class Upstream:
    """Sends requests to the models that the settings name, and to nowhere else."""

    def __init__(self, settings: ProxySettings) -> None:
        self._settings = settings
        self._bases = {
            "openai": _checked("proxy_openai_url", settings.openai_url),
            "anthropic": _checked("proxy_anthropic_url", settings.anthropic_url).removesuffix("/v1"),
        }
        timeout = httpx2.Timeout(settings.timeout, connect=_CONNECT, pool=None)
        # What one caller's answer sets must not be sent with another caller's request.
        jar = CookieJar(policy=DefaultCookiePolicy(allowed_domains=[]))
        unlimited = httpx2.Limits(max_connections=None, max_keepalive_connections=100, keepalive_expiry=_KEPT_OPEN)
        self._http = httpx2.AsyncClient(timeout=timeout, cookies=jar, limits=unlimited)

    async def close(self) -> None:
        """Close every connection."""
        await self._http.aclose()

    async def send(
        self, passage: Passage, method: str, target: str, *, headers: RawHeaders, body: bytes
    ) -> httpx2.Response:
        """Send a request and return its answer, of which the body is still to be read.

        Raises:
            httpx2.TransportError: if nothing answers.
        """
        vendor = passage.vendor or (
            "anthropic" if any(name == b"anthropic-version" for name, _ in headers) else "openai"
        )
        # As either vendor's own clients have it, the address of OpenAI ends in /v1, and that of Anthropic does not.
        url = self._bases[vendor] + (target.removeprefix("/v1") if vendor == "openai" else target)
        # Made here and not by the client, which would add headers of its own.
        request = httpx2.Request(method, url, headers=self._sent(vendor, headers), content=body or None)
        return await self._http.send(request, stream=True)

    def _sent(self, vendor: str, headers: RawHeaders) -> RawHeaders:
        own = {"openai": self._settings.openai_key, "anthropic": self._settings.anthropic_key}[vendor]
        kept = [(name, value) for name, value in passed_on(headers) if not name.startswith(_OURS)]
        kept = [(name, value) for name, value in kept if name not in (b"host", b"content-length", b"expect")]
        kept = [(name, value) for name, value in kept if not (name in _OWN_KEYS and (own or is_ours(value)))]
        kept = [(name, _readable(value) if name == b"accept-encoding" else value) for name, value in kept]
        if not any(name == b"accept-encoding" for name, _ in kept):
            kept.append((b"accept-encoding", b"identity"))
        if own and vendor == "openai":
            kept.append((b"authorization", f"Bearer {own}".encode()))
        elif own:
            kept.append((b"x-api-key", own.encode()))
        return kept


def is_ours(value: bytes) -> bool:
    """Return whether a header has a key of this server. It is never sent on."""
    return value.removeprefix(b"Bearer ").removeprefix(b"bearer ").strip().startswith(b"bt_")


def passed_on(headers: Iterable[tuple[bytes, bytes]]) -> RawHeaders:
    """Return the headers that are not only for the next hop."""
    given = [(name.lower(), value) for name, value in headers]
    named = {
        each.strip().lower() for name, value in given if name == b"connection" for each in value.split(b",")
    }  # fmt: skip
    return [(name, value) for name, value in given if name not in _HOP_BY_HOP and name not in named]


def _readable(value: bytes) -> bytes:
    offered = [each.strip() for each in value.decode("latin-1").split(",")]
    kept = [each for each in offered if each.partition(";")[0].strip().lower() in _READABLE]
    return ", ".join(kept or ["identity"]).encode("latin-1")


def _checked(name: str, url: str) -> str:
    try:
        parsed = httpx2.URL(url)
        usable = parsed.scheme in ("http", "https") and parsed.host and not (parsed.query or parsed.fragment)
    except (httpx2.InvalidURL, TypeError):
        usable = False
    if not usable:
        hint = "Give one such as https://api.openai.com/v1, without a query."
        raise Misconfigured(f"{name} is not the address of a server.", hint=hint)
    return url.rstrip("/")
