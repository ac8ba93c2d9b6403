"""Connections of strangers: half a request holds nothing for long, and a crowd of them keeps nobody out."""

import io
import json
import logging
import socket
import threading
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
import uvicorn

import bethink
from bethink import sync
from bethink.providers.default_redactor import redactor_for
from bethink.server import create_app, logs, one_write
from bethink.server.logs import Seldom
from bethink.server.one_write import OneWrite
from tests.doors.server_kit import PLAIN

HALF = b"GET /healthz HTTP/1.1\r\nHost: l"
WHOLE = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
LARGE = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
PATIENCE = 20.0


@contextmanager
def listening(path: Path, *, most: int = 100) -> Generator[int]:
    """Serve on a thread, with our own protocol."""
    app = create_app(bethink.connect(path, learn_at_start=False), options=PLAIN)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=5,
            timeout_keep_alive=60,
            http=cast("Any", partial(OneWrite, most=most)),
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


def sent(port: int, data: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    connection.sendall(data)
    return connection


def rest(connection: socket.socket) -> bytes:
    """Read until the other side closes; raises `TimeoutError` if it does not."""
    parts: list[bytes] = []
    with suppress(ConnectionResetError):
        while part := connection.recv(65_536):
            parts.append(part)
    return b"".join(parts)


def answered(port: int) -> int:
    with closing(sent(port, WHOLE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))) as connection:
        return int(rest(connection).split(b" ")[1])


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_write, "HEAD", 0.2)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_write, "HEAD", 1_000.0)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize(
    ("data", "answers"),
    [(b"", 0), (HALF, 0), (WHOLE + HALF, 1), (WHOLE * 3 + b"G", 3), (b"POST /v1/learn HTTP/1.1\r\nHost: l\r\n", 0)],
)
def test_who_does_not_send_the_head_of_a_request_in_time_is_sent_away(
    tmp_path: Path, data: bytes, answers: int
) -> None:
    with listening(tmp_path / "m.db") as port, closing(sent(port, data)) as connection:
        assert rest(connection).count(b"HTTP/1.1 200") == answers


@pytest.mark.usefixtures("hasty")
def test_bytes_that_trickle_in_buy_no_time(tmp_path: Path) -> None:
    with listening(tmp_path / "m.db") as port, closing(sent(port, HALF)) as connection:
        ended = threading.Event()

        def trickle() -> None:
            with suppress(OSError):
                while not ended.wait(0.01):
                    connection.sendall(b"x")

        thread = threading.Thread(target=trickle)
        thread.start()
        try:
            assert rest(connection) == b""
        finally:
            ended.set()
            thread.join()


@pytest.mark.usefixtures("hasty")
def test_who_asks_in_time_may_wait_for_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = threading.Event()

    async def slow(self: bethink.Memory, **more: Any) -> list[str]:
        del self, more
        await anyio.to_thread.run_sync(free.wait)
        return []

    monkeypatch.setattr(bethink.Memory, "spaces", slow)
    with listening(tmp_path / "m.db") as port, closing(sent(port, WHOLE.replace(b"healthz", b"readyz"))) as connection:
        with closing(sent(port, b"")) as idle:
            assert rest(idle) == b""  # its time is up, and that of the first has been longer
        free.set()
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200")


@pytest.mark.usefixtures("patient")
def test_a_crowd_of_half_requests_keeps_nobody_out(tmp_path: Path) -> None:
    with listening(tmp_path / "m.db", most=10) as port, ExitStack() as stack:
        held = [stack.enter_context(closing(sent(port, HALF))) for _ in range(30)]

        assert [answered(port) for _ in range(20)] == [200] * 20
        assert [rest(connection) for connection in held[:20]] == [b""] * 20  # the oldest had to go


@pytest.mark.usefixtures("patient")
def test_a_connection_that_is_at_work_is_never_the_one_to_go(tmp_path: Path) -> None:
    post = b"POST /v1/spaces/alice/recall HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
    with listening(tmp_path / "m.db", most=3) as port, ExitStack() as stack:
        key = _key(tmp_path / "m.db").encode()
        head = post % key + b"Content-Type: application/json\r\nContent-Length: 16\r\n\r\n"
        working = [stack.enter_context(closing(sent(port, head))) for _ in range(2)]
        for _ in range(10):
            assert answered(port) == 200
        for connection in working:
            connection.sendall(b'{"question":"x"}')
            assert connection.recv(65_536).startswith(b"HTTP/1.1 200")


def _key(path: Path) -> str:
    with sync.connect(path) as memory:
        return memory.keys.create(name="test", scopes=["read"]).key


@pytest.mark.usefixtures("patient")
def test_who_takes_nothing_of_the_answers_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_write, "STUCK", 0.2)
    with listening(tmp_path / "m.db") as port, closing(socket.socket()) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        connection.settimeout(PATIENCE)
        connection.connect(("127.0.0.1", port))

        def ask_on() -> None:
            while True:  # never reads; TimeoutError if the server keeps what it cannot send
                connection.sendall(LARGE * 10)

        with pytest.raises(ConnectionError):
            ask_on()


@pytest.mark.parametrize("order", [1, -1])
def test_a_body_of_two_lengths_is_refused_and_what_follows_it_is_not_read(tmp_path: Path, order: int) -> None:
    lengths = [b"Content-Length: 4\r\n", b"Transfer-Encoding: chunked\r\n"][::order]
    data = b"POST /v1/learn HTTP/1.1\r\nHost: localhost\r\n" + b"".join(lengths) + b"\r\n0\r\n\r\n" + WHOLE
    with listening(tmp_path / "m.db") as port, closing(sent(port, data)) as connection:
        answer = rest(connection)

    assert answer.startswith(b"HTTP/1.1 400")
    assert answer.count(b"HTTP/1.1") == 1
    assert b"connection: close" in answer.lower()


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What a server writes to stderr."""
    names = ("bethink", "uvicorn", "asyncio", "mcp")
    before = [(each, each.handlers[:], each.propagate, each.level) for each in map(logging.getLogger, names)]
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    logs.to_stderr(redactor_for(None))
    yield stream
    for logger, handlers, propagate, level in before:
        logger.handlers[:], logger.propagate = handlers, propagate
        logger.setLevel(level)


@pytest.mark.parametrize("name", ["asyncio", "mcp.server.runner"])
def test_what_others_log_is_a_line_of_json_without_what_it_quotes(written: io.StringIO, name: str) -> None:
    try:
        int("zanzibar")
    except ValueError:
        logging.getLogger(name).exception("handler for %r raised\nfuture: zanzibar", "zanzibar")
    logging.getLogger(name).info("zanzibar")

    [line] = map(json.loads, written.getvalue().splitlines())
    assert (line["logger"], line["level"], line["event"]) == (name, "error", "handler for %r raised")
    assert line["error"] == "ValueError"
    assert line["where"].startswith("test_server_connections.py:")
    assert "zanzibar" not in written.getvalue()


def test_what_can_be_said_without_end_is_said_some_times_and_then_counted(written: io.StringIO) -> None:
    for _ in range(1_000):
        logging.getLogger("asyncio").error("socket.accept() out of system resource")
        logging.getLogger("bethink").info("each of ours counts")
    logging.getLogger("asyncio").error("something else")

    told = [json.loads(line)["event"] for line in written.getvalue().splitlines()]
    assert (told.count("socket.accept() out of system resource"), told.count("something else")) == (20, 1)
    assert told.count("each of ours counts") == 1_000


def test_after_a_while_it_is_said_how_much_was_left_out() -> None:
    seldom = Seldom(most=2, seconds=60)

    def said(at: float) -> tuple[bool, object]:
        record = logging.LogRecord("asyncio", logging.ERROR, "file.py", 1, "again", None, None)
        record.created = at
        return seldom.filter(record), getattr(record, "fields", {}).get("left_out")

    assert [said(0), said(1), said(2), said(59), said(60), said(61), said(62)] == [
        (True, None),
        (True, None),
        (False, None),
        (False, None),
        (True, 2),
        (True, None),
        (False, None),
    ]
