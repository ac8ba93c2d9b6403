"""Learned and deleted items seen through the tools, and requests that never reach them."""

import json
from collections.abc import MutableMapping
from typing import Any

import pytest
from mcp.client.client import Client

import bethink
from bethink.errors import DatabaseUnavailableError
from bethink.mcp import Grant, http_app, make_server
from bethink.model.access import KeyInfo, Scope
from bethink.model.calls import ModelCall
from bethink.providers.scripted_model import ScriptedModel
from faults import scripted
from tests.conftest import KEY
from tests.doors.mcp_kit import Checked, problem, seed

ALL = Grant(space="alice", may_write=True, may_erase=True)
CLAIM = scripted.claim("User lives in Bergen", scripted.quote(1, "I live in Bergen"), slot="home_town")


def _answer(call: ModelCall) -> str:
    return scripted.verdicts(["c1"]) if call.schema_name == "verdicts" else scripted.answer([CLAIM])


async def test_learned_fact_can_be_traced_to_its_message(target: str) -> None:
    model = ScriptedModel(_answer)
    async with bethink.connect(target, model=model, learn_in_background=False) as memory:
        kept = await memory.space("alice").remember("I live in Bergen")
        await memory.learn()
        async with Client(make_server(memory, grant=lambda: ALL)) as client:
            call = await Checked.of(client)
            (item,) = (await call("list_memories", kind="fact"))["items"]
            explained = await call("explain", ref=item["ref"])
            (session,) = (await call("timeline"))["items"]
            around = await call("timeline", around=session["ref"])
            summary = await call("read_memory", ref=session["ref"])
            refused = await client.call_tool("timeline", {"around": item["ref"]})

    assert item["origin"] == "user"
    assert explained["sources"] == [str(kept.refs[0])]
    assert "I live in Bergen (user" in explained["memory"]
    assert explained["created_by"].startswith(model.name)
    assert session["kind"] == "session_summary"
    assert [each["ref"] for each in around["items"]] == [str(kept.refs[0])]
    assert "User lives in Bergen" in summary["memory"]
    assert "does not belong to a session" in problem(refused)


async def test_deleted_item_is_named_without_its_text(target: str) -> None:
    seeded = await seed(target, "alice")
    async with bethink.connect(target, learn_in_background=False) as memory:
        session = await memory.space("alice").session(KEY)
        await memory.space("alice").recall("Who plays the cello?", session_id=session.id)
        async with Client(make_server(memory, grant=lambda: ALL)) as client:
            call = await Checked.of(client)
            for ref in (seeded.message, seeded.document):
                await call("forget", ref=ref)
                said = problem(await client.call_tool("read_memory", {"ref": ref}))
                assert "was deleted" in said, ref
                assert "cello" not in said
            explained = await call("explain", ref=seeded.message)

    assert explained["erased"] is True
    assert explained["context_log_count"] == 1
    assert "cello" not in json.dumps(explained)


class _Down:
    async def find(self, key: str, /) -> KeyInfo | None:
        raise DatabaseUnavailableError("the database of alice is away.")


@pytest.mark.parametrize(("kind", "expected"), [("http", 503), ("websocket", 1003)])
async def test_unauthorized_request_gets_an_error(kind: str, expected: int) -> None:
    app, _ = http_app(bethink.connect(enabled=False), _Down())
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request"}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    await app({"type": kind, "path": "/mcp", "method": "POST", "headers": []}, receive, send)

    assert sent[0].get("status", sent[0].get("code")) == expected
    assert b"alice" not in b"".join(message.get("body", b"") for message in sent)


async def test_hosts_that_are_named_are_the_only_ones_answered(target: str) -> None:
    memory = bethink.connect(target, learn_in_background=False)
    async with memory:
        made = await memory.admin.keys.create(name="test", scopes=[Scope.READ], spaces=["alice"])
        app, running = http_app(
            memory, memory.backend.local().keys(), hosts=["memory.example.com"], origins=["https://chat.example.com"]
        )
        answers: dict[tuple[str, str], int] = {}

        async def receive() -> MutableMapping[str, Any]:
            return {"type": "http.request", "body": b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'}

        async with running:
            for host in ("memory.example.com", "evil.example.com"):
                for origin in ("https://chat.example.com", "https://evil.example.com"):

                    async def send(message: MutableMapping[str, Any], place: tuple[str, str] = (host, origin)) -> None:
                        if message["type"] == "http.response.start":
                            answers[place] = message["status"]

                    headers = {
                        "authorization": f"Bearer {made.key}", "host": host, "origin": origin,
                        "content-type": "application/json", "accept": "application/json",
                    }  # fmt: skip
                    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
                    scope = {"type": "http", "path": "/mcp", "method": "POST", "headers": pairs, "query_string": b""}
                    await app(scope, receive, send)

    assert sorted(answers.values()) == [200, 403, 421, 421]
