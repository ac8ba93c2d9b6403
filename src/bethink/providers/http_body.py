"""Reads the JSON that a model behind HTTP answers with, believing neither its size nor its shape."""

import json
from collections.abc import AsyncIterator
from typing import cast

from bethink.errors import ModelUnavailable

MAX_BODY = 16 * 1024 * 1024
_MAX_NAME = 200


async def read_json(model: str, chunks: AsyncIterator[bytes], *, limit: int = MAX_BODY) -> object:
    """Read a whole body of at most `limit` bytes. Raises `ModelUnavailable` if it is longer, or not JSON."""
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > limit:
            raise ModelUnavailable(f"{model} sent more than {limit} bytes.", hint="Check the model's address.")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise not_an_answer(model) from None


def not_an_answer(model: str) -> ModelUnavailable:
    """Say that something else than the model's API seems to have answered."""
    return ModelUnavailable(f"what {model} sent is not an answer of its API.", hint="Check the model's address.")


def at(value: object, *path: str | int) -> object:
    """Follow keys and indexes into JSON; None where there is nothing."""
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
    """Read a count of tokens; 0 where there is none."""
    found = at(value, *path)
    return max(found, 0) if isinstance(found, int) else 0


def name_at(value: object, *path: str | int, default: str) -> str:
    """Read the name of the model that answered, cut to a length that can be recorded."""
    found = at(value, *path)
    return found[:_MAX_NAME] if isinstance(found, str) and found else default


def text_in(blocks: object) -> str:
    """Join the texts among the blocks of an answer; what is thought or called between them is left out."""
    if isinstance(blocks, str):
        return blocks
    if not isinstance(blocks, list):
        return ""
    texts = (at(block, "text") for block in cast("list[object]", blocks) if at(block, "type") == "text")
    return "".join(text for text in texts if isinstance(text, str))
