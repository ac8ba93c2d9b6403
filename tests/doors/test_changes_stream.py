"""The change feed over HTTP: read, waited for and streamed; an interrupted reader resumes without gaps."""

import json
import random
import socket
import threading
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
import uvicorn

import bethink
from bethink import Fact
from bethink.http import ServerOptions, create_app, streams
from bethink.http.app import uvicorn_server
from bethink.model.access import Scope
from bethink.sync import Memory as BlockingMemory
from bethink.sync import connect
from tests.conftest import Quiet

PATIENCE = 30.0
STREAM = "/v1/spaces/alice/changes/stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A server on a thread, as `serve` runs one."""

    port: int
    key: str
    server: uvicorn.Server

    def client(self) -> BlockingMemory:
        return connect(f"http://127.0.0.1:{self.port}", api_key=self.key)

    def stream(self, path: str = STREAM, *, key: str | None = None, **headers: str) -> socket.socket:
        """Open a stream; nothing is read yet."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        lines = [f"GET {path} HTTP/1.1", "host: localhost", f"authorization: Bearer {key or self.key}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        return connection


@pytest.fixture
def running(target: str) -> Iterator[Running]:
    with served(target) as found:
        yield found


@contextmanager
def served(target: str) -> Generator[Running]:
    app = create_app(
        bethink.connect(target, redactor=Quiet(), learn_in_background=False), options=ServerOptions(mcp=False)
    )  # fmt: skip
    key = anyio.run(_key, target)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn_server(app, host="127.0.0.1", port=0)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield Running(port=listener.getsockname()[1], key=key, server=server)
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
            assert not thread.is_alive()


async def _key(target: str) -> str:
    async with bethink.connect(target, learn_in_background=False) as memory:
        return (await memory.admin.keys.create("tests", list(Scope))).key


def events(connection: socket.socket) -> Iterator[dict[str, str]]:
    """Read the events of a stream, with comments as `comment`, until it ends."""
    file = connection.makefile("rb")
    event: dict[str, str] = {}
    for line in file:
        text = line.decode().rstrip("\r\n")
        name, _, value = text.partition(":")
        if name in ("id", "data") or text.startswith(":"):
            event[name or "comment"] = value.strip()
        elif not text and event:
            yield event
            event = {}


def changes(connection: socket.socket, count: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for event in events(connection):
        if "data" in event:
            found.append(json.loads(event["data"]))
            assert event["id"] == str(found[-1]["number"])
        if len(found) >= count:
            break
    return found


def save(memory: BlockingMemory, number: int) -> None:
    memory.space("alice").facts.save(Fact(id=f"f{number}", text=f"Number {number}."))


def test_a_client_reads_waits_and_follows_as_in_the_process(running: Running) -> None:
    with running.client() as memory:
        save(memory, 1)
        space = memory.space("alice")
        assert [each.kind for each in space.admin.changes.list(after=0)] == ["fact.added"]
        following = space.admin.changes.follow(after=0)
        assert next(following).ref == "fact:f1:1"
        save(memory, 2)
        assert next(following).ref == "fact:f2:1"
        stored = space.remember("I keep a macaw.")
        assert not space.sessions.get(stored.session.id).wait_until_learned(timeout=0.1).done


def test_stream_sends_stored_changes_then_new_ones(running: Running) -> None:
    with running.client() as memory, closing(running.stream(f"{STREAM}?after=0")) as connection:
        save(memory, 1)
        save(memory, 2)
        assert [each["ref"] for each in changes(connection, 2)] == ["fact:f1:1", "fact:f2:1"]


def test_a_reader_that_is_cut_off_at_random_misses_none(running: Running) -> None:
    dice, total, seen = random.Random(7), 60, list[int]()
    done = threading.Event()

    def write() -> None:
        with running.client() as memory:
            for number in range(total):
                save(memory, number)
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    while len(seen) < total:
        last = {"last_event_id": str(seen[-1])} if seen else {}
        with closing(running.stream(f"{STREAM}?after=0", **last)) as connection:
            seen += [each["number"] for each in changes(connection, min(dice.randint(1, 9), total - len(seen)))]
    writer.join()

    assert done.is_set()
    assert seen == list(range(1, total + 1))


def test_stream_begins_with_its_current_position(running: Running) -> None:
    with running.client() as memory:
        save(memory, 1)
        with closing(running.stream()) as connection:
            assert next(events(connection)) == {"id": "1"}


def test_idle_stream_sends_keepalive_comments(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT", 0.0)
    with closing(running.stream()) as connection:
        found = events(connection)
        assert next(found) == {"id": "0"}
        assert next(found) == {"comment": ""}


def test_a_stream_ends_when_its_key_is_revoked(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT", 0.0)
    with running.client() as memory:
        made = memory.admin.keys.create("reader", [Scope.READ], spaces=["alice"])
        with closing(running.stream(key=made.key)) as connection:
            found = events(connection)
            next(found)
            memory.admin.keys.revoke(made.info.prefix)
            assert {"comment"} >= {name for event in found for name in event}


def test_streams_and_waiting_requests_end_when_the_server_stops(running: Running) -> None:
    with (
        closing(running.stream()) as connection,
        closing(running.stream("/v1/spaces/alice/changes?after=0&wait=60")) as waiting,
    ):
        found = events(connection)
        next(found)
        running.server.should_exit = True
        assert list(found) == []
        assert b" 503 " in waiting.recv(65_536).splitlines()[0]


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        (f"{STREAM}?after=99", {}, b"409"),
        (f"{STREAM}?after=-1", {}, b"422"),
        (f"{STREAM}?since=1", {}, b"422"),
        (STREAM, {"last_event_id": "x"}, b"422"),
        ("/v1/spaces/bob/changes/stream", {"key": "reader"}, b"404"),
        (STREAM, {"key": "writer"}, b"403"),
        (STREAM, {"key": "bt_none"}, b"401"),
    ],
)
def test_a_stream_that_cannot_be_is_refused_with_a_status(
    running: Running, path: str, headers: dict[str, str], status: bytes
) -> None:
    with running.client() as memory:
        keys = {
            "reader": memory.admin.keys.create("reader", [Scope.READ], spaces=["alice"]).key,
            "writer": memory.admin.keys.create("writer", [Scope.WRITE], spaces=["alice"]).key,
        }
    given = {**headers, "key": keys.get(headers.get("key", ""), headers.get("key"))}
    with closing(running.stream(path, **given)) as connection:  # pyright: ignore[reportArgumentType]
        assert connection.recv(65_536).split(b" ")[1] == status
