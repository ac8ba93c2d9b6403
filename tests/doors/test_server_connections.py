"""The server on a real connection, and its log."""

import io
import json
import logging
import socket
import threading
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

import bethink
from bethink.base import log_lines as logs
from bethink.base.log_lines import RepeatLimit
from bethink.http import create_app
from bethink.http.app import uvicorn_server
from bethink.providers.default_redactor import redactor_for
from tests.doors.server_kit import PLAIN

WHOLE = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
PATIENCE = 20.0


@contextmanager
def listening(path: Path, *, max_concurrency: int = 100) -> Generator[int]:
    """Serve on a thread, as `serve` does."""
    options = replace(PLAIN, max_concurrency=max_concurrency)
    app = create_app(bethink.connect(path, learn_in_background=False), options=options)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn_server(app, host="127.0.0.1", port=0)
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


def test_requests_on_one_connection_are_answered_in_order(tmp_path: Path) -> None:
    last = WHOLE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    with listening(tmp_path / "m.db") as port, closing(sent(port, WHOLE * 3 + last)) as connection:
        assert rest(connection).count(b"HTTP/1.1 200") == 4


def test_the_head_of_a_request_is_bounded(tmp_path: Path) -> None:
    with listening(tmp_path / "m.db") as port, closing(sent(port, WHOLE[:-2])) as connection:
        with suppress(ConnectionError):
            connection.sendall(b"X-Long: " + b"x" * 1_000_000)
        assert b"HTTP/1.1 200" not in rest(connection)


def test_beyond_four_times_the_concurrency_connections_are_refused(tmp_path: Path) -> None:
    with listening(tmp_path / "m.db", max_concurrency=1) as port:
        held = [sent(port, WHOLE) for _ in range(3)]
        assert [connection.recv(65_536)[:12] for connection in held] == [b"HTTP/1.1 200"] * 3
        with closing(sent(port, WHOLE)) as one_more:
            head, _, body = rest(one_more).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 503")
            assert b"connection: close" in head.lower()
            assert json.loads(body)["code"] == "DatabaseBusyError"  # a client knows by it that nothing was done
        for connection in held:
            connection.close()


@pytest.mark.parametrize("order", [1, -1])
def test_body_with_two_lengths_is_rejected_and_closed(tmp_path: Path, order: int) -> None:
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
    logs.log_to_stderr(redactor_for(None))
    yield stream
    for logger, handlers, propagate, level in before:
        logger.handlers[:], logger.propagate = handlers, propagate
        logger.setLevel(level)


@pytest.mark.parametrize("name", ["asyncio", "mcp.server.runner"])
def test_foreign_log_records_are_json_without_their_values(written: io.StringIO, name: str) -> None:
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


def test_repeated_foreign_log_line_is_limited(written: io.StringIO) -> None:
    for _ in range(1_000):
        logging.getLogger("asyncio").error("socket.accept() out of system resource")
        logging.getLogger("bethink").info("each of ours counts")
    logging.getLogger("asyncio").error("something else")

    told = [json.loads(line)["event"] for line in written.getvalue().splitlines()]
    assert (told.count("socket.accept() out of system resource"), told.count("something else")) == (20, 1)
    assert told.count("each of ours counts") == 1_000


def test_suppressed_log_lines_are_counted_after_a_while() -> None:
    seldom = RepeatLimit(max_records=2, seconds=60)

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
