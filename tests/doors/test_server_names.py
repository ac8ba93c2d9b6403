"""Invalid names and texts: NUL, and bytes that are not UTF-8."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from bethink.errors import InvalidRequestError
from tests.doors.server_kit import CANARY, furnish, operations, serving

S = "/v1/spaces/alice"
NUL = "a\0b"
MORE: dict[str, dict[str, Any]] = {
    "space.remember": {
        "messages": [{"role": "tool", "name": "n", "content": "c", "tool_call_id": "i", "trace_parent": "t"}],
        "conversation": "a:b:c",
        "session_id": "s",
        "agent": "g",
    },
    "space.recall": {"question": "q", "origins": ["tool:x"], "session_id": "s", "as_of": "2024-01-01"},
    "space.context": {"question": "q", "session_id": "s"},
    "space.admin.context_log.mark_used": {"refs": ["fact:f:1"]},
    "space.forget": {"ref": "fact:f:1", "everything": False},
    "space.facts.save": {
        "fact": {
            "id": "f",
            "content": "c",
            "tags": ["t"],
            "metadata": {"k": "v"},
            "source": "s",
            "entities": ["e"],
            "slot": "s",
        },
    },
    "space.documents.create": {
        "draft": {"slug": "n", "title": "N", "body": "b", "parent": "p", "links": ["l"]},
        "document_id": "i",
    },
    "space.threads.open": {"thread_id": "t", "session_id": "s"},
    "space.threads.fork": {"at": 1, "into": "i"},
    "memory.admin.keys.create": {"name": "n", "scopes": ["read"], "spaces": ["s"]},
}


def spoilt(value: Any) -> Iterator[Any]:
    """Every way to put a NUL into one text of a value."""
    if isinstance(value, str):
        yield NUL
    elif isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        for name, each in members.items():
            yield from ({**members, name: other} for other in spoilt(each))
    elif isinstance(value, list):
        items = cast("list[Any]", value)
        for place, each in enumerate(items):
            yield from ([*items[:place], other, *items[place + 1 :]] for other in spoilt(each))


async def test_nul_in_a_body_never_causes_a_server_error(target: str) -> None:
    async with serving(target) as served:
        things = await furnish(served.memory, "alice")
        for operation in operations():
            path = things.path(operation.path) + operation.query
            body: dict[str, Any] = {**(operation.body or {}), **MORE.get(operation.name, {})}
            for each in spoilt(body):
                answer = await served(operation.method, path, each)
                assert answer.status < 500, (operation.name, each)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("threads", {"thread_id": NUL}),
        ("threads/{thread_id}/fork", {"at": 1, "into": NUL}),
        ("threads/{thread_id}/events", {"event": {"type": NUL}}),
    ],
)
async def test_a_name_with_a_nul_is_refused_on_either_database(target: str, path: str, body: dict[str, Any]) -> None:
    async with serving(target) as served:
        things = await furnish(served.memory, "alice")

        answer = await served("POST", things.path(f"{S}/{path}"), body)

        assert (answer.status, answer.json()["code"]) == (422, "InvalidRequestError")


@pytest.mark.parametrize("name", [NUL, "line\nbreak"])
async def test_thread_cannot_be_opened_with_an_invalid_name(target: str, name: str) -> None:
    async with serving(target) as served:
        desk = served.memory.backend.local().working("alice")
        thread = await desk.open_thread("t")
        with pytest.raises(InvalidRequestError):
            await desk.open_thread(name)
        with pytest.raises(InvalidRequestError):
            await desk.fork(thread.id, at=0, into=name)
        assert [each.id for each in await desk.threads()] == ["t"]


@pytest.mark.parametrize("name", ["%ff", "%fe", "%c3", "a%ffb", "%ED%A0%80", "%00", "a%00", "%C0%80", "%2F%ff"])
@pytest.mark.parametrize("path", ["/v1/spaces/{}/facts", S + "/facts/{}", S + "/threads/{}", "/mcp/spaces/{}"])
async def test_non_text_path_is_rejected(tmp_path: Path, path: str, name: str) -> None:
    async with serving(str(tmp_path / "m.db")) as served:
        answer = await served("GET", path.format(name))

        assert answer.status == 400
        assert answer.headers["connection"] == "close"
        assert answer.json()["code"] == "BadRequest"


async def test_different_bad_bytes_do_not_share_a_space(target: str) -> None:
    async with serving(target) as served:
        stored = [await served("POST", f"/v1/spaces/{bad}/remember", {"messages": CANARY}) for bad in ("%ff", "%fe")]
        fine = await served("POST", "/v1/spaces/%EF%BF%BD%C3%A9/remember", {"messages": CANARY})

        assert [answer.status for answer in (*stored, fine)] == [400, 400, 201]
        assert [space.name for space in await served.memory.spaces.list()] == ["\ufffdé"]


@pytest.mark.parametrize("query", ["after=%ff", "after=a%00b", "as_of=%c3", "%ff=1", "a%00=1"])
async def test_non_text_query_is_rejected(target: str, query: str) -> None:
    async with serving(target) as served:
        answer = await served("GET", f"{S}/facts?{query}")

        assert (answer.status, answer.json()["code"]) == (422, "InvalidRequestError")
