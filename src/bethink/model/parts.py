"""Converts a message in parts, as model APIs write it, to one text, and keeps the other parts in its metadata."""

from collections.abc import Mapping, Sequence
from typing import cast

from bethink.errors import Invalid

_TEXT = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
"""The types of parts that are text, and the key of their text."""
_FILES = ("data", "file_data")
_DEPTH = 32
_Part = Mapping[str, object]


def whole(message: Mapping[str, object]) -> dict[str, object]:
    """Return a message without null fields, with one text as content; other parts go into metadata, under `parts`.

    Tool calls are added to `tool_calls`. A user's message that only holds tool results becomes a message of the tool.
    """
    fields = {name: value for name, value in message.items() if value is not None}
    content = message.get("content", "")
    if content is None:
        return fields | {"content": ""}
    if not isinstance(content, (list, tuple)):
        return fields
    parts = [_part(each) for each in cast("Sequence[object]", content)]
    if parts and fields.get("role") == "user" and all(part.get("type") == "tool_result" for part in parts):
        return fields | _result(fields, parts)
    calls = [_lean(part) for part in parts if part.get("type") == "tool_use"]
    others = [_lean(part) for part in parts if _text(part) is None and part.get("type") != "tool_use"]
    made: dict[str, object] = {"content": _joined(parts), **_kept(fields, others)}
    before = fields.get("tool_calls", ())
    if calls and isinstance(before, (list, tuple)):  # the message itself refuses other types
        made["tool_calls"] = [*cast("Sequence[object]", before), *calls]
    return fields | made


def _part(value: object) -> _Part:
    if not isinstance(value, Mapping):
        raise Invalid(
            f"cannot read {type(value).__name__} as a part of a message.", hint="Pass a text or an object with a type."
        )
    return cast("_Part", value)


def _text(part: _Part) -> str | None:
    said = part.get(_TEXT.get(str(part.get("type")), ""))
    return said if isinstance(said, str) else None


def _joined(parts: Sequence[_Part]) -> str:
    return "\n".join(said for part in parts if (said := _text(part)))


def _result(fields: Mapping[str, object], results: Sequence[_Part]) -> dict[str, object]:
    """Return the texts of tool results as one, with the id of the call if there is exactly one."""
    inner: list[_Part] = []
    for result in results:
        held = result.get("content") or ""
        several = cast("Sequence[object]", held if isinstance(held, (list, tuple)) else [])
        inner += [{"type": "text", "text": held}] if isinstance(held, str) else [_part(each) for each in several]
    others = [_lean(part) for part in inner if _text(part) is None]
    ids = [result.get("tool_use_id") for result in results]
    if len(ids) > 1:
        others.append({"type": "tool_results", "tool_use_ids": ids})
    named: dict[str, object] = {"tool_call_id": ids[0]} if len(ids) == 1 else {}
    failed = any(result.get("is_error") is True for result in results)
    return {"role": "tool", "content": _joined(inner), "is_error": failed, **named, **_kept(fields, others)}


def _kept(fields: Mapping[str, object], others: Sequence[object]) -> dict[str, object]:
    metadata = fields.get("metadata", {})
    if not others or not isinstance(metadata, Mapping):  # the message itself refuses other types
        return {}
    if "parts" in metadata:
        raise Invalid("metadata already has the key parts.", hint="Rename it: the parts of the content go there.")
    return {"metadata": {**cast("Mapping[str, object]", metadata), "parts": list(others)}}


def _lean(value: object, depth: int = _DEPTH) -> object:
    """Return a part with the bytes of files replaced by their length."""
    if isinstance(value, (bytes, bytearray)):
        return f"[{len(value)} bytes]"
    if isinstance(value, str) and value[:5].lower() == "data:":
        head, _, held = value.partition(",")
        return f"{head[:100]},[{len(held)} characters]"
    if depth and isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {key: _file(item) if key in _FILES else _lean(item, depth - 1) for key, item in items}
    if depth and isinstance(value, (list, tuple)):
        return [_lean(item, depth - 1) for item in cast("Sequence[object]", value)]
    return value


def _file(value: object) -> object:
    if isinstance(value, str) and value[:5].lower() != "data:":
        return f"[{len(value)} characters]"
    return _lean(value)
