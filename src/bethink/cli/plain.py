"""Turns records into plain JSON values and times into words."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any, cast

from bethink.model.moments import iso


def when(at: datetime | None) -> str:
    """Write a moment for people, to the minute, in UTC; nothing for none."""
    return "" if at is None else f"{at:%Y-%m-%d %H:%M}"


def plain(value: object) -> Any:
    """Return a record as plain values: refs as they are written, moments as ISO 8601."""
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, str):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {_key(key): plain(item) for key, item in cast("Mapping[object, object]", value).items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        items = cast("list[object]", sorted(cast("set[str]", value)) if isinstance(value, (set, frozenset)) else value)
        return [plain(item) for item in items]
    return value


def _key(key: object) -> str:
    # Counts are kept by pairs of words.
    return " ".join(map(str, cast("tuple[object, ...]", key))) if isinstance(key, tuple) else str(key)
