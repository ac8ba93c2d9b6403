"""A stand-in for models that records its requests, and a server that forwards calls to it."""

import gzip
import json
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

import httpx2

import bethink
from bethink.config.groups import ProxySettings
from bethink.http.app import Mount
from bethink.http.proxy import add_proxy
from bethink.model.access import Scope
from tests.doors.client_kit import Served, aside, connected, serving

BEFORE = "before"
"""The conversation of what was said before."""
ANSWER = "Lisbon it is, with café and 🐦."
HOME = "I live in Lisbon, near the river."
QUESTION = "Where do I live?"
FRAME = "<bethink-memory>"
PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}


WIRES = sorted(PATHS)


def asking(wire: str, *messages: Any, **more: Any) -> dict[str, Any]:
    """A call in the shape of its protocol. A text is a message of the user, a pair a role and its content."""
    listed: list[Any] = [{"role": "user", "content": each} if isinstance(each, str) else each for each in messages]
    listed = [{"role": each[0], "content": each[1]} if isinstance(each, tuple) else each for each in listed]
    name = "input" if wire == "responses" else "messages"
    limit = {"max_tokens": 100} if wire == "messages" else {}
    return {"model": "m", **limit, name: listed, **more}


def items(wire: str, sent: "Sent") -> list[Any]:
    return sent.json["input" if wire == "responses" else "messages"]


def sse(*events: Any) -> list[bytes]:
    """Events as a server sends them, cut at odd places: within a line, and within a letter."""
    told = b""
    for each in events:
        data = each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)
        name = "" if isinstance(each, str) or "type" not in each else f"event: {each['type']}\n"
        told += f"{name}data: {data}\n\n".encode()
    return [told[at : at + 37] for at in range(0, len(told), 37)]


def streamed(wire: str, text: str = ANSWER) -> list[bytes]:
    """An answer as a stream of each protocol."""
    half = len(text) // 2
    if wire == "chat":
        chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        deltas: list[Any] = [
            {"role": "assistant", "content": ""},
            {"content": text[:half]},
            {"content": text[half:]},
            {},
        ]
        ends = [None, None, None, "stop"]
        pairs = zip(deltas, ends, strict=True)
        return sse(*({**chunk, "choices": [{"index": 0, "delta": d, "finish_reason": e}]} for d, e in pairs), "[DONE]")
    if wire == "messages":
        return sse(
            {"type": "message_start", "message": {**whole("messages"), "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text[:half]}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text[half:]}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
            {"type": "message_stop"},
        )  # fmt: skip
    response = whole("responses", text)
    item, place = response["output"][0], {"output_index": 0, "content_index": 0, "item_id": "msg_1"}
    return sse(
        {"type": "response.created", "sequence_number": 0, "response": {**response, "output": []}},
        {"type": "response.output_text.delta", "sequence_number": 1, "delta": text, "logprobs": [], **place},
        {"type": "response.output_item.done", "sequence_number": 2, "output_index": 0, "item": item},
        {"type": "response.completed", "sequence_number": 3, "response": response},
    )  # fmt: skip


def whole(wire: str, text: str = ANSWER) -> dict[str, Any]:
    """An answer as one value of each protocol."""
    if wire == "chat":
        message = {"role": "assistant", "content": text, "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    if wire == "messages":
        usage = {"input_tokens": 1, "output_tokens": 1}
        about = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None}
        return {**about, "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "usage": usage}
    part: dict[str, Any] = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    item: dict[str, Any] = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }
    return {
        "id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status": "completed", "output": [item],
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None, "incomplete_details": None,
        "instructions": None, "metadata": {}, "temperature": 1, "top_p": 1,
    }  # fmt: skip


@dataclass
class Reply:
    """What the model answers with."""

    parts: Sequence[bytes]
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    breaks_off: bool = False
    hold: threading.Event | None = None
    """Waited for after the first part."""


@dataclass
class Sent:
    """What the model was sent."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Models(ThreadingHTTPServer):
    """Keeps what it is sent, and answers as it is told."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.sent: list[Sent] = []
        self.reply: Callable[[Sent], Reply] = answer
        self.broken_off = threading.Event()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        self.broken_off.set()


def answer(sent: Sent) -> Reply:
    """Answer as the protocol of the path has it, streamed if that is asked for, packed if that is allowed."""
    wire = next((name for name, path in PATHS.items() if sent.path.partition("?")[0] == path), "")
    if not wire:
        return Reply([b'{"data": []}'], headers={"content-type": "application/json"})
    if b'"stream":true' in sent.body.replace(b" ", b""):
        return Reply(streamed(wire), headers={"content-type": "text/event-stream"})
    body = json.dumps(whole(wire), ensure_ascii=False).encode()
    headers = {"content-type": "application/json", "x-request-id": "req_upstream"}
    if "gzip" in sent.headers.get("accept-encoding", ""):
        return Reply([gzip.compress(body)], headers={**headers, "content-encoding": "gzip"})
    return Reply([body], headers=headers)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the standard library names it
        pass

    def do_GET(self) -> None:
        self.do_POST()

    def do_DELETE(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        server = cast("Models", self.server)
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        sent = Sent(self.command, self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        server.sent.append(sent)
        reply = server.reply(sent)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for place, part in enumerate(filter(None, reply.parts)):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
                self.wfile.flush()
                if reply.hold is not None and place == 0:
                    reply.hold.wait(30)
            if not reply.breaks_off:
                self.wfile.write(b"0\r\n\r\n")
        except OSError:
            server.broken_off.set()
        self.close_connection = reply.breaks_off


@dataclass
class Proxy:
    """A server that passes calls on, and what it passes them to."""

    served: Served
    models: Models
    target: str
    space: str = "mira"

    @property
    def url(self) -> str:
        return self.served.url

    @property
    def headers(self) -> dict[str, str]:
        return {"x-bethink-key": self.served.key, "x-bethink-space": self.space, "authorization": "Bearer sk-theirs"}

    def post(self, wire: str, body: Any, **headers: str) -> httpx2.Response:
        """Call a model; a body becomes JSON unless it is bytes."""
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {
            **self.headers,
            "content-type": "application/json",
            **{k.replace("_", "-"): v for k, v in headers.items()},
        }
        return httpx2.post(self.url + PATHS.get(wire, wire), content=sent, headers=given, timeout=30)

    @property
    def last(self) -> Sent:
        return self.models.sent[-1]

    def stored(self, count: int) -> list[tuple[str, str, str]]:
        """Wait until as many messages are stored, and return each with its role and its conversation."""
        until = time.monotonic() + 20
        while len(found := aside(_stored, self.target, self.space)) < count and time.monotonic() < until:
            threading.Event().wait(0.02)
        return found

    def words(self, count: int, role: str = "user") -> list[str]:
        """What is stored of one role, once as many messages are."""
        return [text for said_by, text, _ in self.stored(count) if said_by == role]

    def remember(self, *lines: str, space: str = "") -> None:
        """Store something that was said before."""
        aside(_remember, self.target, space or self.space, lines)

    def forget(self, line: str) -> None:
        """Forget something that was said before."""
        aside(_forget, self.target, self.space, line)


async def _forget(target: str, space: str, line: str) -> None:
    async with connected(target) as memory:
        found = await memory.space(space).recall(line)
        await memory.space(space).forget(next(item.ref for item in found.items if item.text == line))


async def _stored(target: str, space: str) -> list[tuple[str, str, str]]:
    async with connected(target) as memory:
        found: list[tuple[str, str, str]] = []
        entries = [each for each in await memory.space(space).sessions.list() if each.conversation != BEFORE]
        for entry in reversed(entries):
            session = await memory.space(space).sessions.find(entry.conversation, agent=entry.agent)
            assert session is not None
            found += [
                (str(each.message.role), each.message.content, entry.conversation) for each in await session.messages()
            ]
        return found


async def _remember(target: str, space: str, lines: Sequence[str]) -> None:
    async with connected(target) as memory:
        for line in lines:
            await memory.space(space).remember(line, conversation=BEFORE)


async def _key(target: str, scopes: Sequence[Scope], spaces: Sequence[str] | None) -> str:
    async with connected(target) as memory:
        return (await memory.admin.keys.create(name="other", scopes=list(scopes), spaces=spaces)).key


def key_for(target: str, *scopes: Scope, spaces: Sequence[str] | None = None) -> str:
    """Make another key."""
    return aside(_key, target, scopes or (Scope.READ, Scope.WRITE), spaces)


@contextmanager
def proxying(target: str, *, changed: Callable[..., Any] | None = None, **settings: Any) -> Generator[Proxy]:
    """Serve a database with the proxy until the block ends. `changed` gets the context, and returns another."""
    models = Models()
    given: dict[str, Any] = {
        "openai_url": f"{models.url}/v1",
        "anthropic_url": models.url,
        "deadline": 20.0,
        **settings,
    }
    made = ProxySettings(**given)

    def mount(app: Any, context: Any, memory: bethink.Memory) -> Any:
        return add_proxy(made, app, changed(context) if changed else context, memory)

    mounts: list[Mount] = [mount if changed else partial(add_proxy, made)]
    try:
        with serving(target, mounts=mounts) as served:
            yield Proxy(served, models, target)
    finally:
        models.shutdown()
        models.server_close()


def without_memory(backend: Any) -> Callable[[Any], Any]:
    """Return what puts another backend in place of memory."""
    return lambda context: replace(context, backend=backend)
