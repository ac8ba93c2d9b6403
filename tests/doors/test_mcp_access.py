"""MCP permissions: the key determines the space and the tools, never the model."""

import json

import anyio
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

import bethink
from tests.conftest import ON_ONE_DATABASE
from tests.doors.mcp_kit import READS, TOOLS, Checked, Seeded, Served, over_stdio, problem, seed, serving, structure

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


async def test_without_a_good_key_nothing_is_served(target: str) -> None:
    with serving(target) as served:
        good = await served.key("read", spaces=["alice"])
        assert (await served.post(PING, key=good)).status_code == 200
        for key in (None, "x", "bt_000000000000.wrong", good[:-1], f"{good}x", good.upper()):
            answer = await served.post(PING, key=key)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"].startswith("Bearer ")
            assert set(answer.json()) == {"error", "hint"}
        in_address = await served.post(PING, key=None, path=f"/?access_token={good}&api_key={good}")
        assert in_address.status_code == 401
        basic = await served.post(PING, key=None, Authorization=f"Basic {good}")
        assert basic.status_code == 401


async def test_a_key_that_was_revoked_is_refused(target: str) -> None:
    with serving(target) as served:
        key = await served.key("read", spaces=["alice"])
        async with bethink.connect(target) as memory:
            await memory.admin.keys.revoke(key.removeprefix("bt_").partition(".")[0])
        assert (await served.post(PING, key=key)).status_code == 401


async def test_the_space_comes_from_the_key_or_the_address(target: str) -> None:
    await seed(target, "alice", about="cello")
    await seed(target, "bob", about="tuba")
    with serving(target) as served:
        alone = await served.key("read", spaces=["alice"])
        both = await served.key("read", spaces=["alice", "bob"])
        all_of_them = await served.key("read", spaces=None)

        assert (await served.post(PING, key=both)).status_code == 400
        assert (await served.post(PING, key=all_of_them)).status_code == 400
        assert (await served.post(PING, key=alone, path="/spaces/bob")).status_code == 404
        assert (await served.post(PING, key=alone, path="/spaces/nobody")).status_code == 404
        assert (await served.post(PING, key=all_of_them, path="/spaces/%00")).status_code == 404
        assert (await served.post(PING, key=all_of_them, path="/spaces/")).status_code == 400

        for key, path, seen in [
            (alone, "", "cello"), (alone, "/spaces/alice", "cello"), (both, "/spaces/bob", "tuba"),
            (all_of_them, "/spaces/alice", "cello"), (all_of_them, "/spaces/bob", "tuba"),
        ]:  # fmt: skip
            async with served.client(key, path=path) as client:
                call = await Checked.of(client)
                found = await call("recall", question="What does Anna play, cello or tuba?")
                assert seen in found["memory"]
                assert ("tuba" if seen == "cello" else "cello") not in found["memory"]


@pytest.mark.parametrize("transport", ["stdio", "http", "http 2025"])
async def test_mcp_tools_cannot_reach_another_space(target: str, transport: str) -> None:
    await seed(target, "alice", about="cello")
    theirs = await seed(target, "bob", about="tuba")
    if transport == "stdio":
        async with over_stdio(target, "alice") as client:
            await _try_everything(client, theirs)
    else:
        with serving(target) as served:
            key = await served.key("read", "write", "erase", spaces=["alice"])
            async with served.client(key, mode="auto" if transport == "http" else "legacy") as client:
                await _try_everything(client, theirs)

    async with bethink.connect(target) as memory:
        assert "tuba" in ((await memory.space("bob").explain(theirs.fact)).text or "")
        assert len(await memory.space("bob").facts.versions("fact-1")) == 1
        people = await memory.space("bob").documents.find("~/memory/people")
        assert people is not None
        assert people.version == 1


async def _try_everything(client: Client, theirs: Seeded) -> None:
    for name in TOOLS:
        forged = await client.call_tool(name, {"question": "tuba", "query": "tuba", "id": "x", "space": "bob"})
        assert "does not take" in problem(forged)
    for ref in (theirs.message, theirs.document):
        for name, arguments in [
            ("read_memory", {"ref": ref}),
            ("fetch", {"id": ref}),
            ("explain", {"ref": ref}),
            ("update_memory", {"ref": ref, "text": "mine"}),
            ("forget", {"ref": ref}),
        ]:
            assert "tuba" not in problem(await client.call_tool(name, arguments))
    assert "tuba" not in problem(await client.call_tool("timeline", {"around": theirs.message}))
    for question in ("tuba", "space:bob tuba", "bob"):
        assert "tuba" not in json.dumps(structure(await client.call_tool("recall", {"question": question})))
    session = theirs.message.split(":")[1]
    for arguments in ({"before": session}, {"before": "zzz"}):
        assert session not in json.dumps(structure(await client.call_tool("timeline", arguments)))
    for uri in (f"memory://{theirs.document}", "memory://bob/memory/people", "memory://../bob/memory/people",
                "memory://memory/../../bob", "memory://~/memory/%2e%2e/bob"):  # fmt: skip
        with pytest.raises(MCPError) as refused:
            await client.read_resource(uri)
        assert "tuba" not in str(refused.value)


async def test_key_offers_only_tools_of_its_scopes(target: str) -> None:
    seeded = await seed(target, "alice")
    with serving(target) as served:
        for scopes, offered in [
            (["read"], READS),
            (["write"], ("remember", "update_memory")),
            (["erase"], ("forget",)),
            (["read", "write"], tuple(name for name in TOOLS if name != "forget")),
        ]:
            key = await served.key(*scopes, spaces=["alice"])
            async with served.client(key) as client:
                assert {tool.name for tool in (await client.list_tools()).tools} == set(offered)
                for name in set(TOOLS) - set(offered):
                    assert "needs the scope" in problem(await client.call_tool(name, {}))
        await _writes_fail(served, seeded.fact)
        admin = await served.post(PING, key=await served.key("operate", spaces=None))
        assert admin.status_code == 403
        assert "insufficient_scope" in admin.headers["www-authenticate"]


async def _writes_fail(served: Served, ref: str) -> None:
    async with served.client(await served.key("read", spaces=["alice"])) as client:
        for name, arguments in [
            ("remember", {"text": "new"}),
            ("update_memory", {"ref": ref, "text": "new"}),
            ("forget", {"ref": ref}),
        ]:
            assert "needs the scope" in problem(await client.call_tool(name, arguments))
        assert "Anna owns a cello" in structure(await client.call_tool("read_memory", {"ref": ref}))["memory"]


async def test_a_key_that_may_not_read_gets_no_resources_and_no_context(target: str) -> None:
    await seed(target, "alice")
    with serving(target) as served:
        async with served.client(await served.key("write", spaces=["alice"])) as client:
            assert (await client.list_resources()).resources == []
            with pytest.raises(MCPError, match="scope read"):
                await client.read_resource("memory://memory/people")
            with pytest.raises(MCPError, match="scope read"):
                await client.get_prompt("load_context", {})


@ON_ONE_DATABASE
async def test_the_command_line_can_withhold_writing_and_erasing(target: str) -> None:
    await seed(target, "alice")
    for flag, withheld in [("--read-only", {"remember", "update_memory", "forget"}), ("--no-delete", {"forget"})]:
        async with over_stdio(target, "alice", flag) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == set(TOOLS) - withheld
            for name in withheld:
                assert "needs the scope" in problem(await client.call_tool(name, {}))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_callers_at_the_same_time_see_their_own_space_only(target: str, mode: str) -> None:
    spaces = {f"space-{number}": f"word{number}" for number in range(6)}
    for space, word in spaces.items():
        await seed(target, space, about=word)
    with serving(target) as served:
        keys = {space: await served.key("read", spaces=[space]) for space in spaces}

        async def caller(space: str, word: str) -> None:
            async with served.client(keys[space], mode=mode) as client:
                for _ in range(5):
                    found = structure(await client.call_tool("recall", {"question": "What does Anna play on Fridays?"}))
                    assert word in found["memory"]
                    assert not [other for other in spaces.values() if other != word and other in found["memory"]]

        async with anyio.create_task_group() as group:
            for space, word in spaces.items():
                group.start_soon(caller, space, word)
