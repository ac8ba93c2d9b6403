"""The models behind the proxy: their paths, and the headers in both directions."""

import re
from collections.abc import Iterable
from enum import StrEnum
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import NamedTuple

import httpx2

from bethink.config.groups import ProxySettings
from bethink.errors import ConfigurationError
from bethink.http.proxy.bodies import OpenBody

RawHeaders = list[tuple[bytes, bytes]]

_HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding "
    b"upgrade".split()
)
_OWN_PREFIX = b"x-bethink-"
_OWN_KEYS = (b"authorization", b"x-api-key")
_READABLE = ("gzip", "deflate", "identity")
"""The supported encodings of an answer. Others are removed from `Accept-Encoding`."""
_ID = "[A-Za-z0-9_-]{1,200}"
_CONNECT = 10.0
_KEEPALIVE = 5.0
"""Seconds to keep an idle connection. Model servers keep them longer, which avoids a race."""


class Wire(StrEnum):
    """Supported protocols."""

    CHAT = "chat"
    RESPONSES = "responses"
    MESSAGES = "messages"


class Passage(NamedTuple):
    """A path that the proxy passes on, with its methods, vendor, and the protocol of its bodies."""

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
"""All paths of the proxy. With the operator's key, callers can access only models and their own answers."""


def passage_of(method: str, path: str) -> Passage | None:
    """Return the passage of a request, or None."""
    matches = (passage for passage in _PASSAGES if passage.path.fullmatch(path) and method in passage.methods)
    return next((passage for passage in matches if ".." not in path), None)


class Upstream:
    """Sends requests to the models in the settings, and to no other address."""

    def __init__(self, settings: ProxySettings) -> None:
        self._settings = settings
        self._bases = {
            "openai": _check_url("proxy_openai_url", settings.openai_url),
            "anthropic": _check_url("proxy_anthropic_url", settings.anthropic_url).removesuffix("/v1"),
        }
        timeout = httpx2.Timeout(settings.timeout, connect=_CONNECT, pool=None)
        # A cookie from one caller's answer must not be sent with another caller's request.
        jar = CookieJar(policy=DefaultCookiePolicy(allowed_domains=[]))
        unlimited = httpx2.Limits(max_connections=None, max_keepalive_connections=100, keepalive_expiry=_KEEPALIVE)
        self._http = httpx2.AsyncClient(timeout=timeout, cookies=jar, limits=unlimited)

    async def close(self) -> None:
        """Close every connection."""
        await self._http.aclose()

    async def send(
        self, passage: Passage, method: str, target: str, *, headers: RawHeaders, body: bytes | OpenBody
    ) -> httpx2.Response:
        """Send a request and return its answer. The body is not read yet.

        Raises:
            httpx2.TransportError: if the server does not answer.
        """
        vendor = passage.vendor or (
            "anthropic" if any(name == b"anthropic-version" for name, _ in headers) else "openai"
        )
        # As in the vendors' own clients, the address of OpenAI ends in /v1, and that of Anthropic does not.
        url = self._bases[vendor] + (target.removeprefix("/v1") if vendor == "openai" else target)
        # Not created by the client, which would add its own headers.
        outgoing = self._outgoing_headers(vendor, headers)
        if isinstance(body, OpenBody) and body.length is not None:
            outgoing.append((b"content-length", b"%d" % body.length))
        content = body if isinstance(body, OpenBody) else body or None
        request = httpx2.Request(method, url, headers=outgoing, content=content)
        return await self._http.send(request, stream=True)

    def _outgoing_headers(self, vendor: str, headers: RawHeaders) -> RawHeaders:
        own = {"openai": self._settings.openai_key, "anthropic": self._settings.anthropic_key}[vendor]
        outgoing = [(name, value) for name, value in end_to_end_headers(headers) if not name.startswith(_OWN_PREFIX)]
        outgoing = [(name, value) for name, value in outgoing if name not in (b"host", b"content-length", b"expect")]
        outgoing = [(name, value) for name, value in outgoing if not (name in _OWN_KEYS and (own or is_own_key(value)))]
        outgoing = [
            (name, _readable_encodings(value) if name == b"accept-encoding" else value) for name, value in outgoing
        ]
        if not any(name == b"accept-encoding" for name, _ in outgoing):
            outgoing.append((b"accept-encoding", b"identity"))
        if own and vendor == "openai":
            outgoing.append((b"authorization", f"Bearer {own}".encode()))
        elif own:
            outgoing.append((b"x-api-key", own.encode()))
        return outgoing


def is_own_key(value: bytes) -> bool:
    """Return whether a header contains a key of this server. Such keys are never passed on."""
    return value.removeprefix(b"Bearer ").removeprefix(b"bearer ").strip().startswith(b"bt_")


def end_to_end_headers(headers: Iterable[tuple[bytes, bytes]]) -> RawHeaders:
    """Return the headers without those for a single hop."""
    lowered = [(name.lower(), value) for name, value in headers]
    hop_by_hop = {
        option.strip().lower() for name, value in lowered if name == b"connection" for option in value.split(b",")
    }  # fmt: skip
    return [(name, value) for name, value in lowered if name not in _HOP_BY_HOP and name not in hop_by_hop]


def _readable_encodings(value: bytes) -> bytes:
    offered = [encoding.strip() for encoding in value.decode("latin-1").split(",")]
    readable = [encoding for encoding in offered if encoding.partition(";")[0].strip().lower() in _READABLE]
    return ", ".join(readable or ["identity"]).encode("latin-1")


def _check_url(name: str, url: str) -> str:
    try:
        parsed = httpx2.URL(url)
        usable = parsed.scheme in ("http", "https") and parsed.host and not (parsed.query or parsed.fragment)
    except (httpx2.InvalidURL, TypeError):
        usable = False
    if not usable:
        hint = "Use a URL such as https://api.openai.com/v1, without a query."
        raise ConfigurationError(f"{name} is not a valid server address.", hint=hint)
    return url.rstrip("/")
