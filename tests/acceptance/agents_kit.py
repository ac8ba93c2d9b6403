"""The real Claude Code and Codex in a temporary home with a local stand-in for their models."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

PACKAGES = ("@anthropic-ai/claude-code", "@openai/codex")
ANSWER = "Understood."


class ModelStandIn(ThreadingHTTPServer):
    """Answers every request for a model with one sentence, and keeps what it was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.sent: list[str] = []
        self.when_asked: Callable[[], None] = lambda: None
        """Called while an agent waits for its answer."""
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def take(self) -> str:
        """Return all that was sent since the last time."""
        sent, self.sent = "\n".join(self.sent), []
        return sent


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the standard library names it
        pass

    def do_HEAD(self) -> None:
        self._send(b"", "application/json")

    def do_GET(self) -> None:
        self._send(b'{"data": [], "object": "list", "models": []}', "application/json")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        server = cast("ModelStandIn", self.server)
        if "/responses" in self.path:
            server.sent.append(body.decode())
            server.when_asked()
            self._send(_events(_responses()), "text/event-stream")
        elif "count_tokens" in self.path:
            self._send(b'{"input_tokens": 10}', "application/json")
        elif "/v1/messages" in self.path:
            server.sent.append(body.decode())
            server.when_asked()
            if json.loads(body).get("stream"):
                self._send(_events(_messages()), "text/event-stream")
            else:
                whole = {**_MESSAGE, "content": [{"type": "text", "text": ANSWER}], "stop_reason": "end_turn"}
                self._send(json.dumps(whole).encode(), "application/json")
        else:
            self._send(b"{}", "application/json")

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


_MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "stand-in",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}


def _messages() -> list[dict[str, Any]]:
    return [
        {"type": "message_start", "message": _MESSAGE},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": ANSWER}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]


def _responses() -> list[dict[str, Any]]:
    content = [{"type": "output_text", "text": ANSWER}]
    usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None}
    return [
        {"type": "response.created", "response": {"id": "r1"}},
        {
            "type": "response.output_item.done",
            "item": {"type": "message", "role": "assistant", "id": "m1", "content": content},
        },
        {"type": "response.completed", "response": {"id": "r1", "usage": {**usage, "total_tokens": 2}}},
    ]


def _events(events: list[dict[str, Any]]) -> bytes:
    return "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events).encode()


def installed(folder: Path) -> Path:
    """Install both programs into a folder, and return the folder of their commands."""
    (folder / "package.json").write_text("{}")
    subprocess.run(
        ["npm", "install", "--no-audit", "--no-fund", *PACKAGES],
        cwd=folder,
        check=True,
        capture_output=True,
        timeout=600,
    )
    return folder / "node_modules" / ".bin"


@dataclass
class Laptop:
    """A home with both programs connected, and projects in it."""

    home: Path
    commands: Path
    models: ModelStandIn
    front: str = ""
    """Where the models are called, if something stands before them."""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    """What is sent there with each call."""

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return {
            **kept,
            "PATH": f"{self.commands}:{kept['PATH']}",
            "HOME": str(self.home),
            "ANTHROPIC_BASE_URL": self.front or self.models.address,
            "ANTHROPIC_CUSTOM_HEADERS": "\n".join(f"{name}: {value}" for name, value in self.headers.items()),
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "STAND_IN_KEY": "none",
        }

    @property
    def state(self) -> Path:
        return self.home / ".local" / "share" / "bethink" / "agents"

    def call_models_at(self, address: str, headers: dict[str, str]) -> None:
        """Let both programs call their models somewhere else."""
        self.front, self.headers = address, headers
        self._set_up_codex()

    def _set_up_codex(self) -> None:
        sent = ", ".join(f'"{name}" = "{value}"' for name, value in self.headers.items())
        (self.home / ".codex" / "config.toml").write_text(
            'model = "stand-in"\nmodel_provider = "stand-in"\n\n[model_providers.stand-in]\nname = "Stand-in"\n'
            f'base_url = "{self.front or self.models.address}/v1"\nenv_key = "STAND_IN_KEY"\nwire_api = "responses"\n'
            + (f"http_headers = {{ {sent} }}\n" if sent else "")
        )

    def set_up(self) -> None:
        (self.home / ".codex").mkdir(parents=True)
        (self.home / ".claude").mkdir()
        self._set_up_codex()
        (self.home / ".claude" / "settings.json").write_text('{\n  "cleanupPeriodDays": 99\n}\n')

    def project(self, name: str) -> Path:
        folder = self.home / name
        (folder / ".git").mkdir(parents=True)
        (folder / ".git" / "config").write_text(f'[remote "origin"]\n\turl = https://git.example/{name}.git\n')
        (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        return folder

    def bethink(self, *words: str) -> str:
        run = [sys.executable, "-m", "bethink", *words]
        done = subprocess.run(
            run, env=self.environment, cwd=self.home, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def claude(self, prompt: str, folder: Path, *more: str) -> str:
        """Say something to Claude Code, and return what its model was sent."""
        return self._say([str(self.commands / "claude"), "-p", prompt, *more], folder)

    def codex(self, prompt: str, folder: Path) -> str:
        """Say something to Codex, and return what its model was sent."""
        options = ("--skip-git-repo-check", "--dangerously-bypass-hook-trust")
        return self._say([str(self.commands / "codex"), "exec", *options, prompt], folder)

    def _say(self, command: list[str], folder: Path) -> str:
        self.models.take()
        nothing = subprocess.DEVNULL
        done = subprocess.run(
            command,
            env=self.environment,
            cwd=folder,
            stdin=nothing,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return self.models.take()

    def claude_command(self, *words: str) -> str:
        """Run a command of Claude Code, and return what it prints."""
        run = [str(self.commands / "claude"), *words]
        done = subprocess.run(run, env=self.environment, capture_output=True, text=True, timeout=300, check=False)
        return done.stdout + done.stderr

    def settle(self) -> None:
        """Wait until the spool is worked off."""
        until = time.monotonic() + 60
        while any((self.state / "spool").iterdir()) and time.monotonic() < until:
            threading.Event().wait(0.1)

    def resident(self) -> int | None:
        """Return the id of the resident process that serves this home, if there is one."""
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                if f"--agents\0{self.state}".encode() in path.read_bytes():
                    return int(path.parent.name)
        return None

    def kill_resident(self) -> None:
        found = self.resident()
        if found is not None:
            os.kill(found, signal.SIGKILL)
            with suppress(OSError):
                while (Path("/proc") / str(found)).exists() and "Z" not in (
                    Path("/proc") / str(found) / "stat"
                ).read_text():
                    threading.Event().wait(0.02)


@contextmanager
def laptop(home: Path, commands: Path) -> Generator[Laptop]:
    """A home that is set up, and no process of it left behind."""
    models = ModelStandIn()
    made = Laptop(home=home, commands=commands, models=models)
    made.set_up()
    try:
        yield made
    finally:
        made.kill_resident()
        models.shutdown()
        models.server_close()
        shutil.rmtree(home, ignore_errors=True)
