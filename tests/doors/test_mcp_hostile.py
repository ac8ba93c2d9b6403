"""Invalid arguments and unexpected failures: each returns an error, and the server stays up."""

import json
import logging
from typing import Any, cast

import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

import bethink
from bethink.errors import DatabaseBusyError
from bethink.host.backend import Backend
from bethink.mcp import Grant, make_server, results
from bethink.mcp.reading import Reading
from bethink.model.operations.base import Operation, RequestT, ResultT
from tests.doors.mcp_kit import TOOLS, in_process, problem, seed, structure

ALL = Grant(space="alice", may_write=True, may_erase=True)
LONG = "x" * 70_000
WRONG: list[dict[str, Any]] = [
    {},
    {"question": None, "text": None, "ref": None, "query": None, "id": None},
    {"question": 5, "text": 5, "ref": 5, "query": 5, "id": 5},
    {"question": ["a"], "text": {"a": 1}, "ref": [], "query": {}, "id": [1]},
    {"question": LONG, "text": LONG, "ref": LONG, "query": LONG, "id": LONG},
]
REFS = [
    "", "fact", "fact:", "fact::1", "fact:x:-1", "fact:x:1.5", "fact:x:99999999999999999999", "message:ses_x:0",
    "robot:x:1", "fact:\0:1", "fact:\x1b[2J:1", "fact:x:1\n", "document:x:1; DROP TABLE facts",
    "fact:" + "y" * 300 + ":1", "~/", "~/../..", "~/memory/\0", "memory://", "memory://%00", "\u202eevil",
]  # fmt: skip


async def test_wrong_arguments_are_named_and_never_quoted(target: str) -> None:
    await seed(target, "alice")
    async with in_process(target, "alice") as client:
        schemas = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
        for arguments in WRONG:
            for name in TOOLS:
                known = {key: value for key, value in arguments.items() if key in schemas[name]["properties"]}
                if not known and not schemas[name].get("required"):
                    continue
                said = problem(await client.call_tool(name, known))
                assert len(said) < 1_000
                assert "xxxx" not in said
        assert structure(await client.call_tool("recall", {"question": "cello"}))["items"]


async def test_unknown_argument_error_lists_valid_ones(target: str) -> None:
    async with in_process(target, "alice") as client:
        wrong = problem(await client.call_tool("recall", {"query": "cello"}))
        elsewhere = problem(await client.call_tool("recall", {"question": "cello", "user_id": "bob"}))

    assert "recall does not take query; it takes question, limit, budget, as_of, kinds, known_at, only." in wrong
    assert "space" not in wrong
    assert "The connection sets the space" in elsewhere


async def test_argument_outside_its_limits_is_explained_plainly(target: str) -> None:
    async with in_process(target, "alice") as client:
        said = problem(await client.call_tool("recall", {"question": "cello", "limit": 0}))

    assert "limit" in said
    assert "Input should" not in said


async def test_names_that_name_nothing_are_refused(target: str) -> None:
    await seed(target, "alice")
    async with in_process(target, "alice") as client:
        for ref in REFS:
            for name, arguments in [
                ("read_memory", {"ref": ref}),
                ("fetch", {"id": ref}),
                ("explain", {"ref": ref}),
                ("forget", {"ref": ref}),
                ("update_memory", {"ref": ref, "text": "new"}),
            ]:
                said = problem(await client.call_tool(name, arguments))
                assert "Unexpected error" not in said, (name, ref)
            if ref:
                said = problem(await client.call_tool("timeline", {"around": ref}))
                assert "Unexpected error" not in said, ref


async def test_odd_texts_are_answered_or_refused_and_never_crash(target: str) -> None:
    odd = ["\0", "\x1b[31m", '" OR 1=1 --', "((((((", "NEAR(a b)", "%", "*", "\u202e\u200b", "🙂" * 1_000, "a " * 2_000]
    async with in_process(target, "alice") as client:
        for text in odd:
            for name, argument in [("recall", "question"), ("search", "query"), ("remember", "text")]:
                answer = await client.call_tool(name, {argument: text})
                assert "Unexpected error" not in json.dumps(answer.model_dump(mode="json")), (name, text[:20])
        for arguments in [
            {"question": "x", "as_of": "yesterday"},
            {"question": "x", "as_of": "9999-12-31T23:59:59+14:00"},
            {"question": "x", "limit": 0},
            {"question": "x", "limit": 10**12},
            {"question": "x", "budget": -1},
            {"question": "x", "kinds": ["robot"]},
            {"question": "x", "kinds": "message; DROP"},
        ]:
            answer = await client.call_tool("recall", arguments)
            assert "Unexpected error" not in json.dumps(answer.model_dump(mode="json")), arguments
        assert "does not take" in problem(await client.call_tool("recall", {"question": "x", "y" * 10_000: 1}))
        assert "`text` is empty" in problem(await client.call_tool("remember", {"text": " \n\t"}))
        (note,) = structure(await client.call_tool("remember", {"text": "short"}))["refs"]
        beyond = await client.call_tool("read_memory", {"ref": note, "offset": 10**9})
        assert "the text of 5 characters" in problem(beyond)
        assert "Unknown tool" in problem(await client.call_tool("z" * 10_000, {}))
        for arguments in ({"question": LONG}, {"space": "bob"}):
            with pytest.raises(MCPError, match="invalid arguments"):
                await client.get_prompt("load_context", arguments)


class Failing(Backend):
    """Fails at every request."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def run(self, operation: Operation[RequestT, ResultT], space: str, request: RequestT) -> ResultT:
        raise self._error


@pytest.mark.parametrize("raised", [RuntimeError, ValueError, KeyError, ZeroDivisionError])
async def test_an_unexpected_error_does_not_leak(caplog: pytest.LogCaptureFixture, raised: type[Exception]) -> None:
    memory = bethink.Memory(Failing(raised("the secret of alice is 1234")))
    async with Client(make_server(memory, grant=lambda: ALL)) as client:
        said = problem(await client.call_tool("recall", {"question": "secret"}))
        with pytest.raises(MCPError) as listed:
            await client.list_resources()
        with pytest.raises(MCPError) as prompted:
            await client.get_prompt("load_context", {})
        with pytest.raises(MCPError) as read:
            await client.read_resource("memory://fact:x:1")

    for text in (said, str(listed.value), str(prompted.value), str(read.value), caplog.text):
        assert "1234" not in text
        assert "Unexpected error" in text or raised.__name__ in text


async def test_invalid_tool_result_is_an_unexpected_error(
    memory: bethink.Memory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def misfit(self: object, query: str) -> Any:
        del self, query
        return results.SearchHits(results=cast("Any", "the secret is 1234"))

    misfit.__name__ = "search"
    monkeypatch.setattr(Reading, "search", misfit)
    async with Client(make_server(memory, grant=lambda: ALL)) as client:
        said = problem(await client.call_tool("search", {"query": "x"}))

    assert "Unexpected error" in said
    assert "1234" not in said + caplog.text


async def test_bethink_error_keeps_its_hint() -> None:
    memory = bethink.Memory(Failing(DatabaseBusyError("another writer held the file.")))
    async with Client(make_server(memory, grant=lambda: ALL)) as client:
        said = problem(await client.call_tool("recall", {"question": "x"}))
        with pytest.raises(MCPError, match="Retry the call"):
            await client.get_prompt("load_context", {})
        with pytest.raises(MCPError, match="Retry the call"):
            await client.read_resource("memory://fact:x:1")

    assert said.endswith("another writer held the file. Nothing was written. Retry the call.")


async def test_a_memory_that_is_switched_off_is_empty() -> None:
    async with Client(make_server(bethink.connect(enabled=False), grant=lambda: ALL)) as client:
        assert structure(await client.call_tool("recall", {"question": "x"}))["missing"] == "Memory is disabled"
        assert structure(await client.call_tool("list_memories", {"kind": "fact"}))["items"] == []
        assert structure(await client.call_tool("timeline", {}))["items"] == []
        assert structure(await client.call_tool("timeline", {"around": "message:x:1"}))["items"] == []
        assert (await client.list_resources()).resources == []
        for ref in ("fact:x:1", "document:x:1", "message:x:1"):
            problem(await client.call_tool("read_memory", {"ref": ref}))
            problem(await client.call_tool("update_memory", {"ref": ref, "text": "new"}))


def test_making_a_server_leaves_the_logging_of_its_process_alone() -> None:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    root.handlers[:] = []
    try:
        make_server(bethink.connect(enabled=False), grant=lambda: ALL)
        assert root.handlers == []
        assert root.level == level
    finally:
        root.handlers[:] = before
