"""Read the answer of a model while its bytes are passed on unchanged."""

import json
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from bethink.agents.transcripts.lines import as_object, mapping, objects, text_at, value_at
from bethink.http.proxy.upstream import Wire

_MAX_SIZE = 8_000_000
"""Maximum bytes of an answer that is read."""
_EVENTS = "text/event-stream"


class AnswerReader:
    """Parses the bytes of an answer as they arrive. `text` is final when the answer is `complete`."""

    def __init__(self, wire: Wire, *, media_type: str, encoding: str) -> None:
        self._unpack = _decompressor(encoding)
        self._streamed = media_type.lower().startswith(_EVENTS)
        self._parts: dict[Any, list[str]] = {}
        self._take: Callable[[dict[str, Any]], None] = {
            Wire.CHAT: self._chat,
            Wire.RESPONSES: self._responses,
            Wire.MESSAGES: self._messages,
        }[wire]
        self._wire = wire
        self._rest = bytearray()
        self._size = 0
        self._abandoned = self._unpack is None
        self.complete = False
        self.id = ""

    @property
    def text(self) -> str:
        """The text of the answer."""
        return "\n".join(filter(None, ("".join(part) for part in self._parts.values()))).strip()

    def feed(self, data: bytes) -> None:
        """Parse some bytes. It never raises: an unreadable answer is not stored."""
        if self._abandoned or self._unpack is None:
            return
        try:
            plain = self._unpack(data)
            self._size += len(plain)
            if self._size > _MAX_SIZE:
                raise ValueError("too long")  # noqa: TRY301 - handled below like other failures
            self._rest += plain
            if self._streamed:
                for event in self._events():
                    self._take(event)
        except (ValueError, TypeError, RecursionError, zlib.error):
            self._abandoned, self.complete = True, False

    def close(self) -> None:
        """Parse an answer that was not streamed."""
        if self._abandoned or self._streamed:
            return
        tree = as_object(bytes(self._rest))
        if tree is None:
            return
        self.id = text_at(tree, "id") or ""
        if self._wire is Wire.CHAT:
            self._parts[0] = [
                text_at(mapping(item), "message", "content") or "" for item in objects(tree.get("choices"))[:1]
            ]
        elif self._wire is Wire.RESPONSES:
            self._output(objects(tree.get("output")))
        else:
            self._parts[0] = [text_at(item, "text") or "" for item in objects(tree.get("content"))]
        self.complete = True

    def _events(self) -> Iterator[dict[str, Any]]:
        *lines, remainder = bytes(self._rest).replace(b"\r\n", b"\n").split(b"\n")
        self._rest = bytearray(remainder)
        for line in lines:
            if not line.startswith(b"data:"):
                continue
            data = line[5:].strip()
            if data == b"[DONE]":
                self.complete = True
            elif data:
                event = json.loads(data)
                if isinstance(event, dict):
                    yield event

    def _chat(self, event: dict[str, Any]) -> None:
        self.id = self.id or text_at(event, "id") or ""
        for choice in objects(event.get("choices")):
            if choice.get("index") == 0:
                self._parts.setdefault(0, []).append(text_at(choice, "delta", "content") or "")
                self.complete = self.complete or choice.get("finish_reason") is not None

    def _responses(self, event: dict[str, Any]) -> None:
        self.id = self.id or text_at(event, "response", "id") or ""
        if event.get("type") == "response.output_item.done":
            self._output([mapping(event.get("item"))])
        elif event.get("type") in ("response.completed", "response.incomplete"):
            self.complete = True

    def _output(self, items: list[Any]) -> None:
        for item in items:
            if item.get("type") == "message":
                texts = [text_at(part, "text") or "" for part in objects(item.get("content"))]
                self._parts[len(self._parts)] = texts

    def _messages(self, event: dict[str, Any]) -> None:
        kind, index = event.get("type"), event.get("index")
        if kind == "message_start":
            self.id = text_at(event, "message", "id") or ""
        elif kind == "content_block_start" and value_at(event, "content_block", "type") == "text":
            self._parts[index] = [text_at(event, "content_block", "text") or ""]
        elif kind == "content_block_delta" and value_at(event, "delta", "type") == "text_delta":
            self._parts.setdefault(index, []).append(text_at(event, "delta", "text") or "")
        elif kind == "message_stop":
            self.complete = True


def _decompressor(encoding: str) -> Callable[[bytes], bytes] | None:
    """Return the decompressor of an encoding, limited to the maximum size, or None for an unknown encoding."""
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return lambda data: data
    if name not in ("gzip", "x-gzip", "deflate"):
        return None
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 32)  # detects which of the two it is
    return lambda data: unpacking.decompress(data, _MAX_SIZE + 1)


def decompress(body: bytes, encoding: str, *, limit: int) -> bytes | None:
    """Decompress a body. Return None if the encoding is unknown, or the result is longer than `limit`."""
    if encoding.strip().lower() in ("", "identity"):
        return body
    if encoding.strip().lower() not in ("gzip", "x-gzip", "deflate"):
        return None
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 32)
    try:
        plain = unpacking.decompress(body, limit)
    except zlib.error:
        return None
    return plain if unpacking.eof and not unpacking.unused_data else None
