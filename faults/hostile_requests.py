"""Requests that are allowed and expensive, for every interface: the largest ones, full of what takes the longest."""

import base64
import gzip
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import exports_kit
from tests.pdf_kit import pdf

SPACE = "hostile"
TRIGGERS = "secret &#65;secret my password is "
_BODY = 900_000
_MESSAGE = 65_000
_JSON = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of request: sent to the server, or made by a command on the same database."""

    name: str
    path: str = ""
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    command: tuple[str, ...] = ()
    prepare: Callable[[Path], Path] | None = None
    """Writes the file that the command reads, or the home that it runs in."""


def _remember(text: str) -> bytes:
    count = _BODY // len(text[:_MESSAGE].encode())
    return json.dumps({"messages": [{"role": "user", "content": text[:_MESSAGE]}] * count}, ensure_ascii=False).encode()


def _repeated(text: str, length: int) -> str:
    return (text * (length // len(text) + 1))[:length]


def _distinct_words() -> bytes:
    dice = random.Random(1)
    texts = [" ".join(f"{dice.getrandbits(32):08x}" for _ in range(_MESSAGE // 9)) for _ in range(_BODY // _MESSAGE)]
    return json.dumps({"messages": [{"role": "user", "content": text} for text in texts]}).encode()


def _characters() -> bytes:
    dice = random.Random(2)
    texts = ["".join(chr(dice.randrange(0x4E00, 0x9FA5)) for _ in range(_MESSAGE // 3)) for _ in range(13)]
    messages = [{"role": "user", "content": text} for text in texts]
    return json.dumps({"messages": messages}, ensure_ascii=False).encode()


def _messages(messages: list[Any]) -> bytes:
    return json.dumps({"messages": messages}).encode()


def _question(text: str) -> bytes:
    return json.dumps({"question": text}).encode()


def _file(name: str, text: str) -> bytes:
    return json.dumps({"name": name, "text": text}).encode()


def _pdf() -> bytes:
    page = "\n".join([_repeated("my password is ", 90)] * 50)
    data = pdf(*[page] * 120)
    return json.dumps({"name": "a.pdf", "data": base64.b64encode(data).decode()}).encode()


def _chat(messages: list[Any]) -> bytes:
    return json.dumps({"model": "m", "messages": messages}).encode()


def _says(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def _mcp(text: str) -> bytes:
    call = {"name": "remember", "arguments": {"text": text}}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode()


def _http() -> list[Kind]:
    at = f"/v1/spaces/{SPACE}"
    nested = {f"password {number}": f"secret {number}" for number in range(1_800)}
    draft = {"slug": "a", "title": "a", "body": _repeated(TRIGGERS, 65_000)}
    return [
        Kind(name="remember triggers", path=f"{at}/remember", body=_remember(_repeated(TRIGGERS, _MESSAGE))),
        Kind(name="remember distinct words", path=f"{at}/remember", body=_distinct_words()),
        Kind(name="remember characters", path=f"{at}/remember", body=_characters()),
        Kind(
            name="remember metadata",
            path=f"{at}/remember",
            body=_messages([{**_says("x"), "metadata": nested}] * 14),
        ),
        Kind(name="many messages", path=f"{at}/remember", body=_messages([_says("x")] * 12_000)),
        Kind(name="many values", path=f"{at}/remember", body=b'{"messages":[' + b"[]," * 300_000 + b"[]]}"),
        Kind(name="document", path=f"{at}/documents", body=json.dumps({"draft": draft}).encode()),
        Kind(name="recall", path=f"{at}/recall", body=_question(_repeated("1st May ", _BODY))),
        Kind(name="file text", path=f"{at}/files", body=_file("a.txt", _repeated("my password is ", _BODY))),
        Kind(name="file html", path=f"{at}/files", body=_file("a.html", _repeated("<a ", _BODY))),
        Kind(name="file markdown", path=f"{at}/files", body=_file("a.md", _repeated("> ", _BODY))),
        Kind(name="file pdf", path=f"{at}/files", body=_pdf()),
    ]


def _other_interfaces() -> list[Kind]:
    accepts = (("accept", "application/json, text/event-stream"),)
    chat, packed = "/v1/chat/completions", (("content-encoding", "gzip"),)
    return [
        Kind(name="mcp remember", path="/mcp", body=_mcp(_repeated(TRIGGERS, _BODY)), headers=accepts),
        Kind(name="mcp values", path="/mcp", body=b'{"jsonrpc":"2.0","id":1,"params":[' + b"[]," * 300_000 + b"[]]}"),
        Kind(name="proxy many messages", path=chat, body=_chat([_says("x")] * 300_000)),
        Kind(name="proxy one message", path=chat, body=_chat([_says(_repeated(TRIGGERS, 30_000_000))])),
        Kind(name="proxy frames", path=chat, body=_chat([_says("<bethink-memory>" * 8_000)] * 60)),
        Kind(name="proxy nested", path=chat, body=b'{"model":"m","messages":' + b"[" * 200_000 + b"]" * 200_000 + b"}"),
        Kind(name="proxy gzip", path=chat, body=gzip.compress(b"[" * 30_000_000), headers=packed),
    ]


def _lines(path: Path) -> Path:
    line = json.dumps({"role": "user", "content": _repeated(TRIGGERS, _MESSAGE)})
    file = path / "lines.jsonl"
    file.write_text(f"{line}\n" * 40)
    return file


def _transcripts(path: Path) -> Path:
    exports_kit.transcripts(path, 4_000, agent="claude-code")
    return path


def _commands() -> list[Kind]:
    return [
        Kind(name="importer", command=("data", "import", "jsonl", "--yes"), prepare=_lines),
        Kind(name="coding agents", command=("data", "import", "claude-code", "--yes"), prepare=_transcripts),
    ]


def kinds() -> list[Kind]:
    """Return every kind of request."""
    return [*_http(), *_other_interfaces(), *_commands()]


SHORT = ("remember triggers", "many values", "file html", "mcp remember", "proxy frames", "proxy one message")
"""The kinds of a short run: one for each part of the server that reads bodies."""


def path_of(kind: Kind) -> str:
    """Return the path of a request."""
    return f"/mcp/spaces/{SPACE}" if kind.path == "/mcp" else kind.path


def headers_for(kind: Kind, key: str) -> dict[str, str]:
    """Return the headers of a request."""
    name = "x-bethink-key" if kind.path.startswith("/v1/chat") else "authorization"
    value = key if name == "x-bethink-key" else f"Bearer {key}"
    return {"content-type": _JSON, name: value, "x-bethink-space": SPACE, **dict(kind.headers)}
