"""Read the JSON of an HTTP model API, without trusting its size or its shape."""

import json
from collections.abc import AsyncIterator
from typing import cast

from bethink.errors import ModelUnavailableError

MAX_BODY = 16 * 1024 * 1024
_MAX_NAME = 200
_DATA = b"data:"


async def read_json(model: str, chunks: AsyncIterator[bytes], *, limit: int = MAX_BODY) -> object:
    """Return the parsed body. Raises `ModelUnavailableError` if it is longer than `limit` bytes, or not JSON."""
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > limit:
            raise ModelUnavailableError(
                f"{model} sent more than {limit} bytes.", hint="Check the address of the model."
            )
    return _parse(model, bytes(body))


async def read_events(model: str, chunks: AsyncIterator[bytes], *, limit: int = MAX_BODY) -> AsyncIterator[object]:
    """Yield the parsed data of each Server-Sent Event. A server that does not stream yields one event."""
    buffer, total = b"", 0
    async for chunk in chunks:
        total += len(chunk)
        if total > limit:
            raise ModelUnavailableError(
                f"{model} sent more than {limit} bytes.", hint="Check the address of the model."
            )
        buffer += chunk
        if buffer.lstrip().startswith(b"{"):  # no stream: a JSON body may contain line breaks
            continue
        *lines, buffer = buffer.split(b"\n")
        for line in filter(_is_data, lines):
            yield _parse(model, line[len(_DATA) :])
    if buffer.lstrip().startswith(b"{"):
        yield _parse(model, buffer)


def _is_data(line: bytes) -> bool:
    return line.startswith(_DATA) and line[len(_DATA) :].strip() != b"[DONE]"


def _parse(model: str, data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise invalid_response_error(model) from None


def invalid_response_error(model: str) -> ModelUnavailableError:
    """Return the error for a response that does not match the model's API."""
    return ModelUnavailableError(
        f"The response of {model} does not match its API.", hint="Check the address of the model."
    )


def at(value: object, *path: str | int) -> object:
    """Return the value at a path of keys and indexes in JSON, or None."""
    for step in path:
        if isinstance(value, dict):
            value = cast("dict[object, object]", value).get(step)
        elif isinstance(value, list) and isinstance(step, int):
            items = cast("list[object]", value)
            value = items[step] if step < len(items) else None
        else:
            return None
    return value


def count_at(value: object, *path: str | int) -> int:
    """Return a token count, or 0 if there is none."""
    count = at(value, *path)
    return max(count, 0) if isinstance(count, int) else 0


def name_at(value: object, *path: str | int, default: str) -> str:
    """Return the name of the model that answered, cut to a length that can be stored."""
    name = at(value, *path)
    return name[:_MAX_NAME] if isinstance(name, str) and name else default


def text_in(blocks: object) -> str:
    """Return the text blocks of an answer as one string, without thinking and tool calls."""
    if isinstance(blocks, str):
        return blocks
    if not isinstance(blocks, list):
        return ""
    texts = (at(block, "text") for block in cast("list[object]", blocks) if at(block, "type") == "text")
    return "".join(text for text in texts if isinstance(text, str))
