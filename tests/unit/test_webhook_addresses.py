"""Webhook targets: the public internet, and never the worker's own network."""

from ipaddress import ip_address

import pytest

from bethink.errors import InvalidRequestError
from bethink.features.webhooks.addresses import is_public, parse_url, resolve_url

PRIVATE = [
    "127.0.0.1", "10.0.0.1", "172.16.9.9", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
    "255.255.255.255", "::1", "::", "fe80::1", "fd00:ec2::254", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
    "64:ff9b::7f00:1", "2002:7f00:1::", "2002:a9fe:a9fe::", "ff02::1",
]  # fmt: skip


@pytest.mark.parametrize("address", PRIVATE)
async def test_private_address_is_rejected_in_any_form(address: str) -> None:
    literal = f"[{address}]" if ":" in address else address

    assert not is_public(ip_address(address))
    with pytest.raises(InvalidRequestError, match="private network"):
        await resolve_url(f"http://{literal}/hook", allow_private=False)


@pytest.mark.parametrize("host", ["localhost", "2130706433", "0x7f.1", "127.1", "0177.0.0.1"])
async def test_host_name_is_checked_by_its_address(host: str) -> None:
    with pytest.raises((InvalidRequestError, OSError)):
        await resolve_url(f"http://{host}/hook", allow_private=False)


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "::ffff:93.184.215.14"])
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(ip_address(address))


async def test_connection_uses_the_checked_address_and_original_name() -> None:
    found = await resolve_url("http://localhost:8080/hook?a=1", allow_private=True)

    assert found.url in ("http://127.0.0.1:8080/hook?a=1", "http://[::1]:8080/hook?a=1")
    assert (found.host, found.name) == ("localhost:8080", "localhost")


@pytest.mark.parametrize(
    "url",
    [
        "ftp://app.example/", "file:///etc/passwd", "//app.example/", "app.example", "http://", "https://:443/",
        "http://user:secret@app.example/", "https://app.example/#part", "http://app.example:99999/", "http://[::1/",
        "http://app.example:0/", "https://exämple.org/", "http://app example/",
    ],
)  # fmt: skip
def test_invalid_webhook_url_is_rejected(url: str) -> None:
    with pytest.raises(InvalidRequestError):
        parse_url(url)
