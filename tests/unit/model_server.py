"""A scripted loopback HTTP server, and the two APIs it can imitate."""

import json
import os
import socket
import struct
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from bethink.extend import Model
from bethink.model.calls import ModelCall
from bethink.providers.anthropic_model import AnthropicModel
from bethink.providers.openai_model import OpenAIModel

KEY = "sk-loopback-4711"
PROMPT = "My sister's birthday is the ninth of May."
SYSTEM = "You keep notes about people."
ANSWER = "Noted: the ninth of May."
CALL = ModelCall(system=SYSTEM, prompt=PROMPT, max_tokens=77, timeout=10)

Deed = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Request:
    """What one request held."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


@dataclass
class Server:
    """Where it listens, what it does next, and what it was asked."""

    url: str
    does: Deed
    over: threading.Event = field(default_factory=threading.Event)
    requests: list[Request] = field(default_factory=list[Request])

    @property
    def request(self) -> Request:
        (request,) = self.requests
        return request


@contextmanager
def serving(does: Deed) -> Generator[Server]:
    """Serve until the block ends; whatever still hangs is let go then."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            server.requests.append(Request(self.path, headers, json.loads(body)))
            self.close_connection = True
            with suppress(ConnectionError):  # the client may give up first, which is what some tests are about
                server.does(self)

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listener:
        server = Server(f"http://127.0.0.1:{listener.server_port}", does)
        thread = threading.Thread(target=listener.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            listener.shutdown()
            thread.join()


def sends(body: object, status: int = 200, **headers: str) -> Deed:
    """Answer with a body: JSON, unless it is bytes."""

    def deed(handler: BaseHTTPRequestHandler) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        _head(handler, status, {"content-length": str(len(data)), **headers})
        handler.wfile.write(data)

    return deed


def fails(status: int, code: str = "", message: str = "", **headers: str) -> Deed:
    """Answer with an error that quotes the key and the prompt, as some servers do."""
    said = f"{message} key {KEY} may not say {PROMPT} to get {ANSWER}"
    return sends({"error": {"message": said, "code": code, "type": code}}, status, **headers)


def sends_raw(data: bytes) -> Deed:
    """Write bytes that need not be HTTP, and close."""
    return lambda handler: _write(handler, data)


def resets(handler: BaseHTTPRequestHandler) -> None:
    """Break the connection in the middle of the answer."""
    _head(handler, 200, {"content-length": "1000"})
    _write(handler, b'{"choices": [')
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def floods(handler: BaseHTTPRequestHandler) -> None:
    """Send more than anyone should read."""
    _head(handler, 200, {})
    for _ in range(4096):
        handler.wfile.write(b" " * 65_536)


def drips(server: Server, status: int = 200) -> Deed:
    """Send a byte now and then, for ever."""

    def deed(handler: BaseHTTPRequestHandler) -> None:
        _head(handler, status, {})
        while not server.over.wait(0.02):
            _write(handler, b" ")

    return deed


def hangs(server: Server) -> Deed:
    """Say nothing at all."""
    return lambda handler: _ignore(server.over.wait(60))


def _head(handler: BaseHTTPRequestHandler, status: int, headers: Mapping[str, str]) -> None:
    handler.send_response(status)
    for name, value in {"content-type": "application/json", "connection": "close", **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()


def _write(handler: BaseHTTPRequestHandler, data: bytes) -> None:
    handler.wfile.write(data)
    handler.wfile.flush()


def _ignore(_: object) -> None:
    pass


def isolate(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Keep a test from the keys, profiles and proxies of whoever runs it."""
    for name in [name for name in os.environ if name.startswith(("OPENAI_", "ANTHROPIC_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.setenv("NO_PROXY", "*")


def _with_key(options: dict[str, Any]) -> dict[str, Any]:
    return {"api_key": KEY, **options}


class OpenAIApi:
    """Chat completions."""

    path = "/v1/chat/completions"
    variables = "OPENAI_API_KEY", "OPENAI_BASE_URL"
    root = "/v1"

    def model(self, url: str = "", **options: Any) -> Model:
        return OpenAIModel("tiny", base_url=url and f"{url}/v1", **_with_key(options))

    def reply(self, text: str | None = ANSWER, stop: str = "stop", **message: Any) -> dict[str, Any]:
        choice = {"index": 0, "finish_reason": stop, "message": {"role": "assistant", "content": text, **message}}
        usage = {"prompt_tokens": 21, "completion_tokens": 8, "total_tokens": 29}
        return {"id": "1", "object": "chat.completion", "model": "tiny-0726", "choices": [choice], "usage": usage}

    def asked(self, body: dict[str, Any]) -> dict[str, Any]:
        said = {message["role"]: message["content"] for message in body["messages"]}
        return {"system": said.get("system"), "prompt": said["user"], "max_tokens": body["max_tokens"]}

    def schema(self, body: dict[str, Any]) -> object:
        return body["response_format"]["json_schema"]["schema"]


class AnthropicApi:
    """Messages."""

    path = "/v1/messages"
    variables = "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"
    root = ""

    def model(self, url: str = "", **options: Any) -> Model:
        return AnthropicModel("tiny", base_url=url, **_with_key(options))

    def reply(self, text: str | None = ANSWER, stop: str = "end_turn", **message: Any) -> dict[str, Any]:
        content = [{"type": "thinking", "thinking": "hm"}, *([{"type": "text", "text": text}] if text else [])]
        usage = {"input_tokens": 15, "cache_read_input_tokens": 6, "output_tokens": 8}
        rest = {"content": content, "stop_reason": stop, "usage": usage, **message}
        return {"id": "1", "type": "message", "role": "assistant", "model": "tiny-0726", **rest}

    def asked(self, body: dict[str, Any]) -> dict[str, Any]:
        (message,) = body["messages"]
        return {"system": body.get("system"), "prompt": message["content"], "max_tokens": body["max_tokens"]}

    def schema(self, body: dict[str, Any]) -> object:
        return body["output_config"]["format"]["schema"]


Api = OpenAIApi | AnthropicApi
