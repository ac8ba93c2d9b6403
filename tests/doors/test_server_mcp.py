"""MCP as part of the server, which adds the limits of its keys."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from bethink.http import mcp_mount
from faults.asgi import Answer
from tests.doors.server_kit import PLAIN, Served, serving

PING: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ACCEPT = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}


async def call(
    served: Served, path: str = "/mcp", body: object = PING, headers: dict[str, str] | None = None, **more: Any
) -> Answer:
    return await served("POST", path, body, headers={**ACCEPT, **(headers or {})}, **more)


async def test_mcp_is_served_to_the_same_keys_within_the_same_limits(tmp_path: Path) -> None:
    options = replace(PLAIN, mcp=True, max_body=10_000, rate=0.001, burst=4)
    async with serving(str(tmp_path / "m.db"), options) as served:
        key = await served.key_for("read", spaces=["alice"])

        listed = await call(served, key=key)
        assert (listed.status, b"recall" in listed.body) == (200, True)
        assert (await call(served, key="")).status == 401
        assert (await call(served, key=key, headers={"origin": "https://evil.example"})).status == 403
        assert (await call(served, key=key, headers={"host": "evil.example"})).status == 421
        assert (await call(served, "/mcp/spaces/bob", key=key)).status == 404
        assert (await call(served, key=key, body={**PING, "params": {"x": "y" * 20_000}})).status == 413
        statuses = [(await call(served, key=key)).status for _ in range(2)]
        assert statuses == [200, 429]
        other = await served.key_for("read", spaces=["team/alice"])
        assert (await call(served, "/mcp/spaces/team%2Falice", key=other)).status == 200


async def test_deeply_nested_mcp_body_is_rejected(tmp_path: Path) -> None:
    async with serving(str(tmp_path / "m.db"), replace(PLAIN, mcp=True)) as served:
        key = await served.key_for("read", spaces=["alice"])
        deep: Any = "x"
        for _ in range(500):
            deep = [deep]

        refused = await call(served, key=key, body={**PING, "params": {"x": deep}})

        assert (refused.status, refused.json()["code"]) == (422, "InvalidRequestError")
        assert (await call(served, key="", body={**PING, "params": {"x": deep}})).status == 401


async def test_late_body_times_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bethink.http.limits.BODY_TIMEOUT", 0.01)
    statuses: list[int] = []

    async def never() -> Any:
        await anyio.sleep_forever()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    async with serving(str(tmp_path / "m.db"), replace(PLAIN, mcp=True)) as served:
        key = await served.key_for("read", spaces=["alice"])
        scope = {
            "type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "root_path": "",
            "headers": [(b"host", b"localhost"), (b"authorization", f"Bearer {key}".encode())],
        }  # fmt: skip
        await served.app(scope, never, send)

    assert statuses == [408]


async def test_server_without_the_mcp_extra_serves_the_rest(tmp_path: Path) -> None:
    async with serving(str(tmp_path / "m.db"), PLAIN) as served:
        assert (await call(served)).status == 404
        assert (await served("GET", "/readyz")).status == 200
    assert mcp_mount.PATH == "/mcp"
