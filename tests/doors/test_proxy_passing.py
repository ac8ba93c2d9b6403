"""What the proxy forwards and what it drops: bodies, headers, keys and paths."""

import gzip
import json
import socket

import httpx2
import pytest

from bethink.model.access import Scope
from tests.doors.proxy_kit import (
    ANSWER,
    FRAME,
    HOME,
    PATHS,
    QUESTION,
    WIRES,
    Proxy,
    Reply,
    asking,
    key_for,
    proxying,
    whole,
)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b"[1, 2]",
        b'{"input": 3}',
        b"\xff\xfe",
        b'{"messages": [' * 5_000,
        b'{"model": "m"} {}',
        b"null",
    ],
    ids=range(8),
)
def test_unreadable_body_is_passed_on_unchanged(proxy: Proxy, body: bytes) -> None:
    for wire in WIRES:
        assert proxy.post(wire, body).status_code == 200
        assert proxy.last.body == body


def test_bodies_may_be_large_and_packed(proxy: Proxy) -> None:
    proxy.remember(HOME)
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 6_000_000}}
    large = json.dumps(asking("messages", ("user", [image, {"type": "text", "text": QUESTION}]))).encode()

    assert proxy.post("messages", large).status_code == 200
    assert proxy.last.body[: len(large) - 100] == large[: len(large) - 100]
    assert FRAME in proxy.last.body[-3_000:].decode()

    packed = gzip.compress(large)
    assert proxy.post("messages", packed, content_encoding="gzip").status_code == 200
    assert FRAME in proxy.last.body[-3_000:].decode()
    assert "content-encoding" not in proxy.last.headers

    assert proxy.post("messages", b"packed otherwise", content_encoding="zstd").status_code == 200
    assert (proxy.last.body, proxy.last.headers["content-encoding"]) == (b"packed otherwise", "zstd")
    assert proxy.words(2) == [QUESTION]


def test_a_body_beyond_the_limit_is_refused(file: str) -> None:
    with proxying(file, max_body=1_000) as proxy:
        assert proxy.post("chat", asking("chat", "x" * 2_000)).status_code == 413
        assert not proxy.models.sent


def test_compressed_response_is_forwarded_and_read(proxy: Proxy) -> None:
    came = proxy.post("chat", asking("chat", HOME), accept_encoding="br, gzip;q=0.5, zstd")

    assert came.headers["content-encoding"] == "gzip"
    assert came.json() == whole("chat")
    assert came.headers["x-request-id"] == "req_upstream"
    assert proxy.last.headers["accept-encoding"] == "gzip;q=0.5"
    assert proxy.words(2, "assistant") == [ANSWER]


def test_headers_go_on_but_for_those_of_this_hop_and_ours(proxy: Proxy) -> None:
    proxy.post(
        "/v1/messages?beta=true", asking("messages", HOME), x_api_key="sk-ant",
        anthropic_version="2023-06-01", connection="keep-alive, x-gone", x_gone="1", te="trailers", cookie="a=b",
    )  # fmt: skip

    sent = proxy.last
    assert sent.path == "/v1/messages?beta=true"
    assert (sent.headers["x-api-key"], sent.headers["authorization"]) == ("sk-ant", "Bearer sk-theirs")
    assert (sent.headers["anthropic-version"], sent.headers["cookie"]) == ("2023-06-01", "a=b")
    assert sent.headers["host"] == proxy.models.url.removeprefix("http://")
    assert not {"x-gone", "te", "x-bethink-key", "x-bethink-space"} & set(sent.headers)


def test_one_callers_cookies_are_never_sent_with_anothers_call(proxy: Proxy) -> None:
    body = json.dumps(whole("chat")).encode()
    headers = {"content-type": "application/json", "set-cookie": "who=first; Path=/"}
    proxy.models.reply = lambda sent: Reply([body], headers=headers)

    assert proxy.post("chat", asking("chat", HOME)).headers["set-cookie"] == "who=first; Path=/"
    proxy.post("chat", asking("chat", HOME))

    assert "cookie" not in proxy.last.headers


def test_configured_key_replaces_callers_and_own_key_is_dropped(file: str) -> None:
    key = key_for(file, spaces=["mira"])
    with proxying(file, openai_key="sk-set", anthropic_key="sk-ant-set") as proxy:
        for wire, name in (("chat", "authorization"), ("messages", "x-api-key")):
            sent = {"authorization": f"Bearer {key}"} if wire == "chat" else {"x-api-key": key}
            body = json.dumps(asking(wire, HOME)).encode()

            came = httpx2.post(proxy.url + PATHS[wire], content=body, headers=sent)

            assert came.status_code == 200
            assert key not in str(proxy.last.headers)
            assert proxy.last.headers[name].endswith("sk-set" if wire == "chat" else "sk-ant-set")
    with proxying(file) as proxy:
        httpx2.post(proxy.url + PATHS["chat"], content=b"{}", headers={"authorization": f"Bearer {key}"})
        assert "authorization" not in proxy.last.headers


def test_proxy_needs_a_key_and_uses_its_space(proxy: Proxy) -> None:
    proxy.remember(HOME)
    proxy.remember("The vault code is under the fig tree.", space=f"{proxy.space}-bob")
    mine = key_for(proxy.target, spaces=[proxy.space])
    body = asking("chat", QUESTION)

    assert proxy.post("chat", body, x_bethink_key="").status_code == 401
    assert proxy.post("chat", body, x_bethink_key="bt_000000000000." + "a" * 43).status_code == 401
    assert proxy.post("chat", body, x_bethink_key=mine, x_bethink_space=f"{proxy.space}-bob").status_code == 404
    keys = key_for(proxy.target, Scope.OPERATE)
    assert proxy.post("chat", body, x_bethink_key=keys).status_code == 403
    del proxy.models.sent[:]
    without = {name: value for name, value in proxy.headers.items() if name != "x-bethink-space"}
    several = httpx2.post(proxy.url + PATHS["chat"], json=body, headers=without)
    assert (several.status_code, "X-Bethink-Space" in several.json()["hint"]) == (422, True)
    assert not proxy.models.sent
    assert (
        httpx2.post(proxy.url + PATHS["chat"], json=body, headers={**without, "x-bethink-key": mine}).status_code == 200
    )
    assert HOME in proxy.last.body.decode()


def test_a_key_that_may_only_read_or_only_write_does_only_that(proxy: Proxy) -> None:
    proxy.remember(HOME)
    reads, writes = (
        key_for(proxy.target, Scope.READ, spaces=[proxy.space]),
        key_for(proxy.target, Scope.WRITE, spaces=[proxy.space]),
    )

    proxy.post("chat", asking("chat", QUESTION), x_bethink_key=reads)
    assert HOME in proxy.last.body.decode()
    proxy.post("chat", asking("chat", "I like figs."), x_bethink_key=writes)
    assert FRAME not in proxy.last.body.decode()

    assert proxy.words(2) == ["I like figs."]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/chat/completions"), ("GET", "/v1/responses"), ("GET", "/v1/messages/batches"),
        ("POST", "/v1/responses/../files"), ("GET", "/v1/responses/%2e%2e/files"), ("POST", "/v1/files"),
        ("PUT", "/v1/messages"), ("GET", "/v1/models/../organization/api_keys"),
    ],
)  # fmt: skip
def test_proxy_forwards_only_model_calls(proxy: Proxy, method: str, path: str) -> None:
    with socket.create_connection(("127.0.0.1", int(proxy.url.rpartition(":")[2]))) as link:
        lines = [f"{method} {path} HTTP/1.1", "host: localhost", "content-length: 0", "connection: close"]
        lines += [f"{name}: {value}" for name, value in proxy.headers.items()]
        link.sendall("\r\n".join([*lines, "", ""]).encode())
        status = int(link.makefile("rb").readline().split()[1])

    assert status in (404, 405)
    assert not proxy.models.sent


def test_headers_cannot_change_the_upstream(proxy: Proxy) -> None:
    named = {"x-forwarded-host": "evil.example", "x-bethink-upstream": "http://evil.example", "forwarded": "host=evil"}

    came = httpx2.post(proxy.url + PATHS["chat"], json=asking("chat", HOME), headers={**proxy.headers, **named})

    assert (came.status_code, len(proxy.models.sent)) == (200, 1)


def test_auxiliary_calls_are_forwarded_without_memory(proxy: Proxy) -> None:
    proxy.remember(HOME)
    body = json.dumps(asking("messages", QUESTION)).encode()

    assert proxy.post("/v1/messages/count_tokens", body).json() == {"data": []}
    assert proxy.last.body == body
    for path in (
        "/v1/models",
        "/v1/models/gpt-5.1",
        "/v1/responses/resp_1",
        "/v1/responses/resp_1/input_items?limit=2",
    ):
        assert httpx2.get(proxy.url + path, headers=proxy.headers).status_code == 200
        assert (proxy.last.method, proxy.last.path) == ("GET", path)
    assert proxy.stored(0) == []
