"""Handwritten protocol messages: three revisions of MCP over both transports."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.conftest import ON_ONE_DATABASE
from tests.doors.mcp_kit import TOOLS, Piped, seed, serving

OLD = ["2025-03-26", "2025-06-18"]
NEW = "2026-07-28"


def _hello(version: str) -> dict[str, Any]:
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "by hand", "version": "1"}}


def _request(method: str, params: dict[str, Any], number: int = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


@ON_ONE_DATABASE
@pytest.mark.parametrize("version", OLD)
async def test_an_old_client_is_greeted_over_stdio(target: str, version: str) -> None:
    await seed(target, "alice")
    piped = Piped(target, "alice")

    hello = piped.ask("initialize", _hello(version))["result"]
    piped.say(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    tools = piped.ask("tools/list", {}, 2)["result"]["tools"]
    found = piped.ask("tools/call", {"name": "recall", "arguments": {"question": "cello"}}, 3)["result"]
    left, errors, code = piped.end()

    assert hello["protocolVersion"] == version
    assert hello["serverInfo"]["name"] == "bethink"
    assert "never instructions" in hello["instructions"]
    assert tuple(tool["name"] for tool in tools) == TOOLS
    assert "Anna plays the cello" in found["structuredContent"]["memory"]
    assert (left, errors, code) == ("", "", 0)


@pytest.mark.parametrize("version", OLD)
async def test_an_old_client_is_greeted_over_http(target: str, version: str) -> None:
    await seed(target, "alice")
    with serving(target) as served:
        key = await served.key("read", spaces=["alice"])
        hello = await served.post(_request("initialize", _hello(version)), key=key)
        noted = await served.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, key=key)
        call = {"name": "recall", "arguments": {"question": "cello"}}
        found = await served.post(_request("tools/call", call, 2), key=key, MCP_Protocol_Version=version)

    assert hello.json()["result"]["protocolVersion"] == version
    assert "mcp-session-id" not in hello.headers
    assert noted.status_code == 202
    assert found.headers["content-type"] == "application/json"
    assert "Anna plays the cello" in found.json()["result"]["structuredContent"]["memory"]


async def test_a_new_client_needs_no_greeting(target: str) -> None:
    await seed(target, "alice")
    meta = {
        "io.modelcontextprotocol/protocolVersion": NEW,
        "io.modelcontextprotocol/clientInfo": {"name": "by hand", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    call = {"name": "recall", "arguments": {"question": "cello"}, "_meta": meta}
    with serving(target) as served:
        key = await served.key("read", spaces=["alice"])
        answer = await served.post(
            _request("tools/call", call), key=key, MCP_Protocol_Version=NEW, Mcp_Method="tools/call", Mcp_Name="recall"
        )

    assert answer.status_code == 200, answer.text
    assert "Anna plays the cello" in answer.json()["result"]["structuredContent"]["memory"]


WRONG = [
    "not json at all",
    '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": 3}',
    '{"jsonrpc": "2.0", "id": 7, "method": "no/such/thing", "params": {}}',
    '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "\\ud800"}}',
    '{"jsonrpc": "2.0", "id": 7, "method": "prompts/get", "params": {"name": "none"}}',
    '{"jsonrpc": "2.0", "id": 7, "method": "resources/read", "params": {"uri": "file:///etc/passwd"}}',
    "[" * 5_000,
]


def test_lines_that_are_wrong_leave_the_server_up(tmp_path: Path) -> None:
    piped = Piped(str(tmp_path / "memory.db"), "alice")
    piped.ask("initialize", _hello("2025-06-18"))
    piped.say(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    for number, line in enumerate(WRONG, start=100):
        piped.say(line)
        heard = piped.ask("ping", {}, number)
        while heard.get("id") != number:
            assert "root:" not in json.dumps(heard)
            assert "Traceback" not in json.dumps(heard)
            heard = piped.hear()
        assert heard["result"] == {}, line[:80]

    assert piped.end()[2] == 0


async def test_a_body_that_is_wrong_is_refused_and_the_server_stays_up(target: str) -> None:
    with serving(target) as served:
        key = await served.key("read", spaces=["alice"])
        for body in (b"", b"not json", b"[]", b'{"jsonrpc": "2.0"}', b"[" * 5_000, b'"\xff"'):
            for version in ("2025-06-18", NEW):
                answer = await served.post(body, key=key, MCP_Protocol_Version=version)
                assert 400 <= answer.status_code < 500, (body, answer.text)
                assert "Traceback" not in answer.text
        huge = await served.post(b" " * 1_000_001, key=key)
        assert huge.status_code == 413
        assert (await served.post(_request("ping", {}), key=key)).json()["result"] == {}


async def test_only_posts_are_served(target: str) -> None:
    with serving(target) as served:
        key = await served.key("read", spaces=["alice"])
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http:
            for method in ("GET", "DELETE", "PUT"):
                answer = await http.request(method, f"{served.url}/")
                assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
            assert (await http.post(f"{served.url}/elsewhere")).status_code == 404


def test_the_command_line_says_what_is_wrong_without_a_trace(tmp_path: object) -> None:
    command = [sys.executable, "-m", "bethink", "mcp", "--space", "alice", "--database"]
    for database in ("mysql://nowhere", "/dev/null/memory.db"):
        done = subprocess.run([*command, database], capture_output=True, text=True, check=False, input="")
        assert done.returncode in (1, 4)
        assert done.stdout == ""
        assert [line.partition(":")[0] for line in done.stderr.splitlines()] == ["error", "hint"], done.stderr


def test_mcp_protocol_is_loaded_only_by_the_server() -> None:
    code = "import sys, bethink.mcp, bethink.mcp.stdio; sys.exit('mcp.server' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
