"""Where a webhook may be sent: http or https, and no address inside our own network unless that is allowed."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from socket import SOCK_STREAM
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

import anyio

from bethink.errors import Invalid

_PORTS = {"http": 80, "https": 443}
_NAT64 = IPv6Network("64:ff9b::/96")


class ResolvedUrl(NamedTuple):
    """One address that a name stands for: the connection goes there, whatever the name means a moment later."""

    url: str
    host: str
    """The `Host` header."""
    name: str
    """The name that a certificate must be for."""


async def destination(url: str, *, allow_private: bool) -> ResolvedUrl:
    """Look up where a URL leads.

    Raises:
        Invalid: if it must not be called.
        OSError: if its name is unknown.
    """
    parts = checked_url(url)
    port = parts.port or _PORTS[parts.scheme]
    assert parts.hostname is not None  # noqa: S101 - it was checked
    found = await anyio.getaddrinfo(parts.hostname, port, type=SOCK_STREAM)
    addresses = [str(each[4][0]).partition("%")[0] for each in found]
    if not allow_private:
        # All of them: a name that also stands for an address of ours is meant to lead there sooner or later.
        for each in addresses:
            _check_public(each)
    literal = f"[{addresses[0]}]" if ":" in addresses[0] else addresses[0]
    path = parts.path or "/"
    query = f"?{parts.query}" if parts.query else ""
    return ResolvedUrl(f"{parts.scheme}://{literal}:{port}{path}{query}", parts.netloc, parts.hostname)


def checked_url(url: str) -> SplitResult:
    """Return the parts of a URL. Raises `Invalid` if it is none that a webhook can have."""
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname
    except ValueError:
        raise Invalid(
            "the address of a webhook is not a URL.", hint="Use one such as https://app.example/hook."
        ) from None
    if parts.scheme not in _PORTS or not host or port == 0 or not url.isascii() or " " in url:
        raise Invalid("the address of a webhook must be a plain http or https URL.", hint="Write it in ASCII.")
    if "@" in parts.netloc or parts.fragment:
        hint = "Leave out names, passwords and fragments; the signature proves who sent it."
        raise Invalid("the address of a webhook carries more than an address.", hint=hint)
    return parts


def _check_public(text: str) -> None:
    if not is_public(ip_address(text)):
        hint = "Use a public address, or set webhooks_allow_private = true where only you create webhooks."
        raise Invalid("the address of a webhook leads into a private network.", hint=hint)


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Return whether an address is one of the internet, and also what it stands for, if it wraps another."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if inner is None and address in _NAT64:
            inner = IPv4Address(int(address) & 0xFFFF_FFFF)
        if inner is not None:
            return is_public(inner)
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)
