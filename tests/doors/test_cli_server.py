"""Commands on a server: their requests, their requirements, and which ones need a local database."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from tests.doors.cli_kit import run

pytestmark = pytest.mark.usefixtures("home")


@contextmanager
def answering(body: object, *, status: int = 200) -> Generator[tuple[str, list[tuple[str, str]]]]:
    """A server that gives one answer to everything, and keeps the path and the key of each request."""
    asked: list[tuple[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers["authorization"]))
            told = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            del format, args

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_key_option_overrides_the_key_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BETHINK_API_KEY", "bt_environment")
    with answering({"items": [{"name": "alice"}, {"name": "bob"}]}) as (address, asked):
        done = run("admin", "spaces", "--database", address, "--json")
        run("admin", "spaces", "--database", address, "--api-key", "bt_option")

    assert [space["name"] for space in done.data["items"]] == ["alice", "bob"]
    assert [key for _, key in asked] == ["Bearer bt_environment", "Bearer bt_option"]


def test_without_a_key_nothing_is_sent_and_the_next_step_is_named() -> None:
    with answering({"items": []}) as (address, asked):
        done = run("admin", "spaces", "--database", address)

    assert done.code == 4
    assert f"error: {address} needs an API key." in done.err
    assert "--api-key" in done.err
    assert asked == []


def test_unknown_key_is_a_permission_error() -> None:
    with answering({"title": "Unauthorized", "status": 401}, status=401) as (address, _):
        done = run("admin", "spaces", "--database", address, "--api-key", "bt_wrong", "--json")

    assert (done.code, done.envelope["error"]["code"]) == (4, "permission_denied")


def test_a_server_that_is_away_is_an_error_of_one_line() -> None:
    done = run("sessions", "--database", "http://127.0.0.1:9", "--api-key", "bt_x", "--json")

    assert done.code == 1
    assert done.envelope["error"]["code"] == "database_unavailable"


@pytest.mark.parametrize(
    "words",
    [
        ["worker", "--once"],
        ["data", "reindex", "--yes"],
        ["doctor"],
        ["admin", "init"],
        ["serve"],
        ["admin", "config", "show"],
    ],
    ids=lambda words: words[0],
)
def test_database_command_rejects_a_server_address(words: list[str]) -> None:
    done = run(*words, "--database", "https://memory.example")

    assert done.code == 2
    assert "needs a local database, not a server" in done.err
    assert "hint: Run it where the server runs" in done.err


def test_the_key_is_masked_among_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BETHINK_API_KEY", "bt_verysecret")

    shown = run("admin", "config", "show")

    assert "verysecret" not in shown.out
    assert "key  " in shown.out
