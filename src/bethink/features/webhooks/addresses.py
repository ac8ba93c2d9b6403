"""Validation of webhook URLs: http or https, and no private network unless allowed."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from socket import SOCK_STREAM
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

import anyio

from bethink.errors import InvalidRequestError

_PORTS = {"http": 80, "https": 443}
_NAT64 = IPv6Network("64:ff9b::/96")


class ResolvedUrl(NamedTuple):
    """A URL with its resolved address. The connection uses this address, even if the name changes later."""

    url: str
    host: str
    """The `Host` header."""
    name: str
    """The name the certificate must be valid for."""


async def resolve_url(url: str, *, allow_private: bool) -> ResolvedUrl:
    """Resolve the address of a URL.

    Raises:
        InvalidRequestError: if the URL is not allowed.
        OSError: if the name cannot be resolved.
    """
    parts = parse_url(url)
    port = parts.port or _PORTS[parts.scheme]
    assert parts.hostname is not None  # noqa: S101 - checked above
    results = await anyio.getaddrinfo(parts.hostname, port, type=SOCK_STREAM)
    addresses = [str(item[4][0]).partition("%")[0] for item in results]
    if not allow_private:
        # Check all: a name that also resolves to a private address is probably an attack.
        for item in addresses:
            _check_public(item)
    literal = f"[{addresses[0]}]" if ":" in addresses[0] else addresses[0]
    path = parts.path or "/"
    query = f"?{parts.query}" if parts.query else ""
    return ResolvedUrl(f"{parts.scheme}://{literal}:{port}{path}{query}", parts.netloc, parts.hostname)


def parse_url(url: str) -> SplitResult:
    """Return the parts of a URL. Raises `InvalidRequestError` if a webhook cannot use it."""
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname
    except ValueError:
        raise InvalidRequestError("Invalid webhook URL.", hint="Use a URL such as https://app.example/hook.") from None
    if parts.scheme not in _PORTS or not host or port == 0 or not url.isascii() or " " in url:
        raise InvalidRequestError("A webhook needs an http or https URL in ASCII.", hint="Encode other characters.")
    if "@" in parts.netloc or parts.fragment:
        hint = "Remove user, password and fragment. The signature proves the sender."
        raise InvalidRequestError("A webhook URL must not contain credentials or a fragment.", hint=hint)
    return parts


def _check_public(text: str) -> None:
    if not is_public(ip_address(text)):
        hint = "Use a public address. If only you create webhooks, you can set webhooks_allow_private = true."
        raise InvalidRequestError("The webhook URL resolves to a private network.", hint=hint)


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Return whether an address is public, including an address embedded in it."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if inner is None and address in _NAT64:
            inner = IPv4Address(int(address) & 0xFFFF_FFFF)
        if inner is not None:
            return is_public(inner)
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)
