"""Normal form of text and JSON for both databases: without NUL and lone surrogates, with sorted keys."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from bethink.errors import InvalidRequestError

JsonObject = Mapping[str, Any]

_MAX_DEPTH = 32
_MAX_WORD_LENGTH = 200
_REPLACEMENT = "\ufffd"
_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True)


def clean(text: str) -> str:
    """Replace NUL and lone surrogates, which one of the databases cannot store, by U+FFFD."""
    if "\0" in text:
        text = text.replace("\0", _REPLACEMENT)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def text_schema(parse: Callable[[str], object], handler: Callable[[type], Any]) -> dict[str, Any]:
    """Return a pydantic core schema for a subclass of str, for its `__get_pydantic_core_schema__`.

    A core schema is a plain dict, so pydantic itself is not imported. Pydantic reports only a ValueError as invalid
    input, so `InvalidRequestError` is converted to one.
    """

    def parse_text(text: str) -> object:
        try:
            return parse(text)
        except InvalidRequestError as error:
            raise ValueError(str(error)) from error

    return {"type": "function-after", "function": {"type": "no-info", "function": parse_text}, "schema": handler(str)}


def canonical_json(value: object, rewrite: Callable[[str], str] = clean) -> str:
    """Serialize JSON in its normal form, with `rewrite` applied to every string in it, including keys."""
    try:
        return _encoder.encode(_rewrite_json(value, rewrite, _MAX_DEPTH))
    except (TypeError, ValueError) as error:
        raise InvalidRequestError(
            f"Cannot store this value as JSON: {error}.",
            hint="Use objects, lists, strings, finite numbers, booleans and null, at most 32 levels deep.",
        ) from error


def _rewrite_json(value: object, rewrite: Callable[[str], str], depth: int) -> object:
    if isinstance(value, str):
        return rewrite(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if depth == 0:
        raise ValueError("nested too deeply")
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {_key(key, rewrite): _rewrite_value(key, item, rewrite, depth - 1) for key, item in items}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [_rewrite_json(item, rewrite, depth - 1) for item in cast("Sequence[object]", value)]
    raise TypeError(f"{type(value).__name__} is not JSON")


def _rewrite_value(key: object, value: object, rewrite: Callable[[str], str], depth: int) -> object:
    # A password may be recognizable only together with its key.
    if isinstance(value, str) and len(value) <= _MAX_WORD_LENGTH and not any(map(str.isspace, value)):
        pair = rewrite(f"{key}={value}")
        if pair.startswith(f"{key}="):
            return pair[len(f"{key}=") :]
    return _rewrite_json(value, rewrite, depth)


def _key(key: object, rewrite: Callable[[str], str]) -> str:
    if not isinstance(key, str):
        raise TypeError(f"object keys must be strings, not {type(key).__name__}")
    return rewrite(key)
