"""The server as a real process on loopback."""

import asyncio  # noqa: TID251 - what uvicorn serves with
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import anyio
import apsw
import pytest

import bethink
from bethink.config.settings import load_settings
from bethink.errors import DatabaseUnavailableError
from bethink.extend import Redactor
from bethink.http import app
from bethink.http.address import listen
from bethink.http.options import ServerOptions, options_from
from bethink.model.access import Scope

COMMAND = "from bethink.config.settings import load_settings; from bethink.http import serve; serve(load_settings())"


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def make_key(path: Path) -> str:
    async def make() -> str:
        async with bethink.connect(path) as memory:
            return (await memory.admin.keys.create(name="test", scopes=[Scope.READ, Scope.WRITE])).key

    return anyio.run(make)


@contextmanager
def server(path: Path, **settings: str) -> Generator[tuple[int, "subprocess.Popen[str]"]]:
    port = free_port()
    environ = {
        **os.environ,
        "BETHINK_SQLITE_PATH": str(path),
        "BETHINK_SERVER_PORT": str(port),
        "BETHINK_LEARN_IN_BACKGROUND": "false",
        **settings,
    }
    process = subprocess.Popen([sys.executable, "-c", COMMAND], env=environ, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        assert any("serving at" in line for line in process.stderr), process.wait()
        yield port, process
    finally:
        process.kill()
        process.communicate()


def send(port: int, method: str, path: str, key: str = "", body: object = None) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    text = b"" if body is None else json.dumps(body).encode()
    head = [f"{method} {path} HTTP/1.1", "host: localhost", "connection: close", f"content-length: {len(text)}"]
    head += [f"authorization: Bearer {key}"] if key else []
    head += ["content-type: application/json"] if text else []
    connection.sendall("\r\n".join([*head, "", ""]).encode() + text)
    return connection


def receive(connection: socket.socket) -> tuple[int, bytes]:
    parts: list[bytes] = []
    with connection:
        while part := connection.recv(65536):
            parts.append(part)
    head, _, body = b"".join(parts).partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]), body


def ask(port: int, method: str, path: str, key: str = "", body: object = None) -> tuple[int, bytes]:
    return receive(send(port, method, path, key, body))


@pytest.mark.slow
def test_stopping_server_finishes_accepted_requests(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    key = make_key(path)
    with server(path) as (port, process):
        assert ask(port, "POST", "/v1/spaces/alice/remember", key, {"messages": "before"})[0] == 201
        blocker: Any = apsw.Connection(str(path))
        blocker.execute("BEGIN IMMEDIATE")
        waiting = [send(port, "POST", "/v1/spaces/alice/remember", key, {"messages": f"held {n}"}) for n in range(3)]
        while b"requests_in_progress 4.0" not in ask(port, "GET", "/metrics", key)[1]:
            pass  # until they are inside, waiting for the writer

        process.send_signal(signal.SIGTERM)
        while _listening(port):
            pass
        assert process.poll() is None
        blocker.execute("ROLLBACK")

        assert [receive(connection)[0] for connection in waiting] == [201, 201, 201]
        assert process.wait(20) in (0, -signal.SIGTERM)
        with pytest.raises(ConnectionRefusedError):
            ask(port, "GET", "/healthz")

    async def stored() -> list[str]:
        async with bethink.connect(path) as memory:
            [entry] = await memory.space("alice").sessions.list()
            session = await memory.space("alice").sessions.get(entry.session.id)
            return [record.message.content for record in await session.messages()]

    assert sorted(anyio.run(stored)) == ["before", "held 0", "held 1", "held 2"]


@pytest.mark.slow
def test_server_listens_on_loopback_and_logs_no_content(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    key = make_key(path)
    with server(path) as (port, process):
        status, body = ask(port, "POST", "/v1/spaces/alice/remember", key, {"messages": "zanzibar"})
        assert (status, b"refs" in body) == (201, True)
        assert ask(port, "POST", "/mcp", "", {"jsonrpc": "2.0", "id": 1, "method": "ping"})[0] == 401
        assert ask(port, "GET", "/openapi.json")[0] == 200
        listening = {line.split()[1].partition(":")[0] for line in _listening(port)}
        assert listening == {"0100007F"}
        process.send_signal(signal.SIGTERM)
        _, logged = process.communicate(timeout=20)

    lines = [json.loads(line) for line in logged.splitlines() if line.startswith("{")]
    assert [line["status"] for line in lines if line.get("route") == "/v1/spaces/{space}/remember"] == [201]
    assert "zanzibar" not in logged
    assert key.partition(".")[2] not in logged


def _listening(port: int) -> list[str]:
    rows = Path("/proc/net/tcp").read_text().splitlines() + Path("/proc/net/tcp6").read_text().splitlines()
    return [row for row in rows if f":{port:04X} " in row and " 0A " in row]


@pytest.mark.parametrize("host", ["192.0.2.1", "no-such-host.invalid"])
def test_foreign_address_is_reported(host: str) -> None:
    with pytest.raises(DatabaseUnavailableError, match="is not an address of this machine") as refused:
        listen(host, 0)

    assert "--host" in refused.value.hint


def test_every_address_of_a_name_is_listened_at_or_none_is() -> None:
    with (
        closing(socket.create_server(("127.0.0.1", 0))) as taken,
        pytest.raises(DatabaseUnavailableError, match="is already in use"),
    ):
        listen("localhost", taken.getsockname()[1])
    for each in listen("127.0.0.1", 0):
        with each:
            assert each.getsockname()[0] == "127.0.0.1"


def test_accepted_connections_have_tcp_nodelay() -> None:
    async def connected() -> int:
        [listener] = listen("127.0.0.1", 0)
        nodelay: list[int] = []

        class Connection(asyncio.Protocol):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                server_side: socket.socket = transport.get_extra_info("socket")
                nodelay.append(server_side.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
                transport.close()

        async with await asyncio.get_running_loop().create_server(Connection, sock=listener):
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            await reader.read()
            writer.close()
        return nodelay[0]

    assert asyncio.run(connected()) == 1


def test_the_settings_say_what_the_server_takes() -> None:
    settings = load_settings(
        environ={},
        server_allowed_hosts="memory.example, Localhost",
        server_allowed_origins="https://app.example",
        server_rate_limit=5.0,
        server_max_body=10,
    )

    options = options_from(settings)

    assert options == ServerOptions(
        allowed_hosts=frozenset({"memory.example", "localhost"}),
        allowed_origins=frozenset({"https://app.example"}),
        rate=5.0,
        max_body=10,
    )
    assert options_from(load_settings(environ={})) == ServerOptions()


def test_server_log_redacts_configured_personal_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(redactor: Redactor, **given: object) -> None:
        raise SystemExit(redactor.redact("mira@acme.test"))

    def listen_nowhere(host: str, port: int) -> list[socket.socket]:
        return []

    monkeypatch.setattr(app, "log_to_stderr", stop)
    monkeypatch.setattr(app, "listen", listen_nowhere)
    environ = {"BETHINK_REDACT_PERSONAL": "email"}
    with pytest.raises(SystemExit, match="REDACTED:email"):
        app.serve(load_settings(environ=environ, sqlite_path=str(tmp_path / "memory.db")))
