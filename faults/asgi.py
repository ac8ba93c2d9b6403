"""Calls an app in this process, as a server would, without a network between."""

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

import anyio


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


async def ask(
    app: Any, method: str, path: str, *, key: str = "", body: object = None, headers: dict[str, str] | None = None
) -> Answer:
    """Send one request. The path is as it stands on the wire; a body becomes JSON unless it is bytes."""
    raw, _, query = path.partition("?")
    sent = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    given = {"host": "localhost", **({"authorization": f"Bearer {key}"} if key else {}), **(headers or {})}
    if sent:
        given = {"content-type": "application/json", "content-length": str(len(sent)), **given}
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(raw),
        "raw_path": quote(raw, safe="/%:~").encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in given.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
    }
    status, came, parts, asked = 0, dict[str, str](), list[bytes](), False

    async def receive() -> dict[str, object]:
        nonlocal asked
        if asked:  # an answer that is streamed listens for who hangs up, and no one does
            await anyio.sleep_forever()
        asked = True
        return {"type": "http.request", "body": sent, "more_body": False}

    async def send(message: Any) -> None:
        nonlocal status, came
        if message["type"] == "http.response.start":
            status = message["status"]
            came = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            parts.append(message.get("body", b""))

    await app(scope, receive, send)
    return Answer(status=status, headers=came, body=b"".join(parts))
