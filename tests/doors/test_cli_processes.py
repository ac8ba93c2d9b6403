"""Long-running commands: worker, serve and mcp as real processes, stopped by real signals."""

import json
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from tests.doors.cli_kit import environment, items, ok, process, run
from tests.doors.proxy_kit import Models

pytestmark = pytest.mark.usefixtures("home")


def wait_for(child: "subprocess.Popen[str]", words: str) -> None:
    """Read what a process says on stderr until it says this, and let the rest flow away."""
    assert child.stderr
    for line in child.stderr:
        if words in line:
            break
    else:
        raise AssertionError(f"it ended without saying {words!r}")
    threading.Thread(target=child.stderr.read, daemon=True).start()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_worker_learns_until_stopped_and_exits_cleanly(home: Path, target: str, number: signal.Signals) -> None:
    on = ["--database", target, "--space", "alice"]
    session = ok("add", "I drink tea.", *on)["session"]
    with process(home, "worker", "--verbose", "--json", *on[:2]) as child:
        wait_for(child, "working")
        _until(lambda: run("show", f"session_summary:{session}:0", *on).code == 0)
        child.send_signal(number)
        assert child.stdout
        out = child.stdout.read()
        code = child.wait(timeout=300)

    assert code == 0
    assert json.loads(out) == {"ok": True, "data": {"stopped_by": number.name}, "error": None}
    assert "running" not in {job["status"] for job in items("learn", "jobs", *on)}


def _until(true: Callable[[], bool]) -> None:
    for _ in range(200):
        if true():
            return
        threading.Event().wait(0.1)
    raise AssertionError("it never came true")


def test_server_runs_until_stopped(home: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with process(home, "serve", "--port", str(port), "--json") as child:
        wait_for(child, f"serving at http://127.0.0.1:{port} (UI: /ui); stop with Ctrl-C")
        socket.create_connection(("127.0.0.1", port), timeout=10).close()
        child.send_signal(signal.SIGTERM)
        assert child.stdout
        out = child.stdout.read()
        code = child.wait(timeout=300)

    assert code == 0
    assert json.loads(out)["ok"] is True


def test_server_on_a_used_port_fails_in_the_envelope(home: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with process(home, "serve", "--port", str(port), "--json") as child:
            out, errors = child.communicate(timeout=300)

    assert (child.returncode, errors) == (1, "")
    told = json.loads(out)["error"]
    assert (told["code"], told["message"]) == ("database_unavailable", f"127.0.0.1:{port} is already in use.")
    assert "--port" in told["hint"]


def test_mcp_speaks_on_stdin_and_stdout_and_ends_with_them(home: Path) -> None:
    with process(home, "mcp", "--json") as child:
        out, _ = child.communicate(timeout=300)

    assert child.returncode == 0
    assert out == ""


def test_text_prompt_can_be_interrupted(home: Path) -> None:
    ours, theirs = os.openpty()
    try:
        with process(home, "add", stdin=theirs) as child:
            wait_for(child, "Type the text")
            child.send_signal(signal.SIGINT)
            code = child.wait(timeout=300)
    finally:
        os.close(ours)
        os.close(theirs)

    assert code == 130
    assert items("admin", "spaces") == []


def test_proxy_keeps_secrets_out_of_memory_and_logs(home: Path) -> None:
    secret = "sk-proj-4f9Kd2LmQ8rTzX1vB7nY3wHc6JpEa5Gs"
    made = ok("admin", "keys", "create", "proxy", "--scope", "read", "--scope", "write", "--space", "mira")
    models = Models()
    more = {"BETHINK_PROXY_OPENAI_URL": f"{models.url}/v1", "BETHINK_PROXY_OPENAI_KEY": "sk-of-the-settings"}
    more["BETHINK_LOG_LEVEL"] = "debug"
    with process(home, "serve", "--proxy", "--port", "0", "--workers", "2", env={**environment(home), **more}) as child:
        assert child.stderr
        said = next(line for line in child.stderr if "serving at" in line)
        assert "proxy: /v1" in said
        url = said.split("serving at ")[1].split()[0].rstrip(";")
        body = {"model": "m", "messages": [{"role": "user", "content": f"My key is {secret} and I like figs."}]}
        came = httpx2.post(f"{url}/v1/chat/completions", json=body, headers={"x-bethink-key": made["key"]}, timeout=60)
        child.send_signal(signal.SIGTERM)
        log = child.stderr.read()
        assert child.wait(timeout=300) == 0
    models.shutdown()
    models.server_close()

    assert came.status_code == 200
    assert models.sent[0].json == body  # nothing was remembered yet, and what is sent to the model stays as it is
    stored = (
        json.dumps(items("sessions", "--space", "mira"))
        + run("data", "export", "--format", "jsonl", "--space", "mira").out
    )
    assert "figs" in stored
    assert secret not in stored
    assert not [each for each in (secret, made["key"], "sk-of-the-settings", "figs") if each in said + log]
