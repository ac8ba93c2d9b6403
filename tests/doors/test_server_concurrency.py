"""One key must not block others: a body in transit takes no slot."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from bethink.http.concurrency import Concurrency
from bethink.http.problems import RefusedRequest
from tests.doors.server_kit import PLAIN, Served, serving

S = "/v1/spaces/bob"
MOST = 4


@asynccontextmanager
async def withheld(served: Served, path: str, key: str, count: int) -> AsyncGenerator[list[int]]:
    """Send requests whose bodies do not come until the block ends; gives what they were answered by then."""
    ended = anyio.Event()
    statuses: list[int] = []
    waiting = 0

    async def one() -> None:
        async def receive() -> dict[str, Any]:
            nonlocal waiting
            waiting += 1
            await ended.wait()
            return {"type": "http.request", "body": b'{"question": "figs"}', "more_body": False}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        headers = [
            (b"host", b"localhost"),
            (b"authorization", f"Bearer {key}".encode()),
            (b"content-type", b"application/json"),
            (b"content-length", b"20"),
        ]
        scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "root_path": ""}
        await served.app({**scope, "headers": headers}, receive, send)

    async with anyio.create_task_group() as tasks:
        for _ in range(count):
            tasks.start_soon(one)
        while waiting + len(statuses) < count:
            await anyio.lowlevel.checkpoint()
        yield statuses
        ended.set()


@pytest.mark.parametrize("path", ["/v1/spaces/alice/recall", "/mcp"])
async def test_withheld_bodies_take_no_slot_of_other_keys(tmp_path: Path, path: str) -> None:
    async with serving(str(tmp_path / "m.db"), replace(PLAIN, mcp=path == "/mcp", max_concurrency=MOST)) as served:
        alice = await served.key_for("read", spaces=["alice"])
        bob = await served.key_for("read", spaces=["bob"])

        async with withheld(served, path, alice, 3 * MOST) as statuses:
            assert statuses == [503] * (2 * MOST)  # of one key no more may be on their way
            assert [(await served("POST", f"{S}/recall", {"question": "x"}, key=bob)).status for _ in range(9)] == [
                200
            ] * 9
            assert (await served("POST", "/v1/spaces/alice/recall", {"question": "x"}, key=alice)).status == 503

        assert (await served("POST", "/v1/spaces/alice/recall", {"question": "x"}, key=alice)).status == 200
        assert served.app.state.context.concurrency.active == 0


async def test_concurrent_bodies_fill_all_slots(tmp_path: Path) -> None:
    async with serving(str(tmp_path / "m.db"), replace(PLAIN, max_concurrency=MOST)) as served:
        keys = [await served.key_for("read") for _ in range(2)]
        async with (
            withheld(served, f"{S}/recall", keys[0], MOST) as first,
            withheld(served, f"{S}/recall", keys[1], MOST) as second,
        ):
            assert first == second == []
        # Those of the second were all at work before those of the first came.
        assert first == second == [200] * MOST


def test_concurrency_slot_is_held_only_while_working() -> None:
    concurrency = Concurrency(2)
    concurrency.active = 3
    with pytest.raises(RefusedRequest):
        concurrency.check()
    body = concurrency.reading("a")
    body.__enter__()
    assert concurrency.active == 2
    concurrency.active += 1  # somebody came in meanwhile
    with pytest.raises(RefusedRequest) as crowded:
        body.__exit__(None, None, None)
    assert crowded.value.problem.status == 503
    assert concurrency.active == 4

    with pytest.raises(ZeroDivisionError), concurrency.reading("a"):
        raise ZeroDivisionError
    assert (concurrency.active, concurrency._reading) == (4, {})


def test_all_keys_together_have_four_times_as_many_on_their_way_as_at_work() -> None:
    concurrency = Concurrency(2)
    held = [concurrency.reading(key) for key in "aabbccdd"]
    for each in held:
        each.__enter__()

    for key in "ae":
        with pytest.raises(RefusedRequest), concurrency.reading(key):
            pass
    assert concurrency.active == -8
