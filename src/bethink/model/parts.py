"""Converts messages with content parts, as in model APIs, to text with the other parts in the metadata."""

from collections.abc import Mapping, Sequence
from typing import cast

from bethink.errors import InvalidRequestError

_TEXT = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
"""Types of text parts, and the key of their text."""
_FILES = ("data", "file_data")
_DEPTH = 32
_Part = Mapping[str, object]


def normalize_message(message: Mapping[str, object]) -> dict[str, object]:
    """Return a message without null fields, with text as content and other parts in `metadata` under `parts`.

    Tool calls are added to `tool_calls`. A user message with only tool results becomes a tool message.
    """
    fields = {name: value for name, value in message.items() if value is not None}
    content = message.get("content", "")
    if content is None:
        return fields | {"content": ""}
    if not isinstance(content, (list, tuple)):
        return fields
    parts = [_part(part) for part in cast("Sequence[object]", content)]
    if parts and fields.get("role") == "user" and all(part.get("type") == "tool_result" for part in parts):
        return fields | _result(fields, parts)
    calls = [_without_file_data(part) for part in parts if part.get("type") == "tool_use"]
    others = [_without_file_data(part) for part in parts if _text(part) is None and part.get("type") != "tool_use"]
    changes: dict[str, object] = {"content": _join_texts(parts), **_metadata_with_parts(fields, others)}
    before = fields.get("tool_calls", ())
    if calls and isinstance(before, (list, tuple)):  # the message itself refuses other types
        changes["tool_calls"] = [*cast("Sequence[object]", before), *calls]
    return fields | changes


def _part(value: object) -> _Part:
    if not isinstance(value, Mapping):
        raise InvalidRequestError(
            f"Cannot read {type(value).__name__} as a content part.", hint="Pass text or an object with a `type`."
        )
    return cast("_Part", value)


def _text(part: _Part) -> str | None:
    value = part.get(_TEXT.get(str(part.get("type")), ""))
    return value if isinstance(value, str) else None


def _join_texts(parts: Sequence[_Part]) -> str:
    return "\n".join(text for part in parts if (text := _text(part)))


def _result(fields: Mapping[str, object], results: Sequence[_Part]) -> dict[str, object]:
    """Return tool results as one message, with the id of the call if there is exactly one."""
    inner: list[_Part] = []
    for result in results:
        content = result.get("content") or ""
        items = cast("Sequence[object]", content if isinstance(content, (list, tuple)) else [])
        inner += [{"type": "text", "text": content}] if isinstance(content, str) else [_part(item) for item in items]
    others = [_without_file_data(part) for part in inner if _text(part) is None]
    ids = [result.get("tool_use_id") for result in results]
    if len(ids) > 1:
        others.append({"type": "tool_results", "tool_use_ids": ids})
    call_id: dict[str, object] = {"tool_call_id": ids[0]} if len(ids) == 1 else {}
    failed = any(result.get("is_error") is True for result in results)
    return {
        "role": "tool",
        "content": _join_texts(inner),
        "is_error": failed,
        **call_id,
        **_metadata_with_parts(fields, others),
    }


def _metadata_with_parts(fields: Mapping[str, object], others: Sequence[object]) -> dict[str, object]:
    metadata = fields.get("metadata", {})
    if not others or not isinstance(metadata, Mapping):  # the message itself refuses other types
        return {}
    if "parts" in metadata:
        raise InvalidRequestError(
            "`metadata` already has the key 'parts'.", hint="Rename it: content parts are stored there."
        )
    return {"metadata": {**cast("Mapping[str, object]", metadata), "parts": list(others)}}


def _without_file_data(value: object, depth: int = _DEPTH) -> object:
    """Return a part with the bytes of files replaced by their length."""
    if isinstance(value, (bytes, bytearray)):
        return f"[{len(value)} bytes]"
    if isinstance(value, str) and value[:5].lower() == "data:":
        head, _, payload = value.partition(",")
        return f"{head[:100]},[{len(payload)} characters]"
    if depth and isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {key: _file(item) if key in _FILES else _without_file_data(item, depth - 1) for key, item in items}
    if depth and isinstance(value, (list, tuple)):
        return [_without_file_data(item, depth - 1) for item in cast("Sequence[object]", value)]
    return value


def _file(value: object) -> object:
    if isinstance(value, str) and value[:5].lower() != "data:":
        return f"[{len(value)} characters]"
    return _without_file_data(value)
