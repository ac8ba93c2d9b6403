"""Turns records into plain JSON values and times into words, by their types."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, cast, get_args, get_type_hints

from bethink.model.records import Micros


def iso(moment: int) -> str:
    """Write a moment as ISO 8601 in UTC, to the microsecond where it has some."""
    read = _moment(moment)
    return str(moment) if read is None else read.isoformat().replace("+00:00", "Z")


def when(moment: int | None) -> str:
    """Write a moment for people, to the minute, in UTC; nothing for none."""
    read = None if moment is None else _moment(moment)
    return ("" if moment is None else str(moment)) if read is None else f"{read:%Y-%m-%d %H:%M}"


def _moment(moment: int) -> datetime | None:
    """Return the day and time of a moment; None for one that no calendar has."""
    seconds, rest = divmod(moment, 1_000_000)
    try:
        return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest)
    except (ValueError, OverflowError, OSError):
        return None


def plain(value: object) -> Any:
    """Return a record as plain values: refs as they are written, moments as ISO 8601."""
    if isinstance(value, str):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: _field(value, each.name) for each in fields(value)}
    if isinstance(value, Mapping):
        return {_key(key): plain(item) for key, item in cast("Mapping[object, object]", value).items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        items = cast("list[object]", sorted(cast("set[str]", value)) if isinstance(value, (set, frozenset)) else value)
        return [plain(item) for item in items]
    return value


def _key(key: object) -> str:
    # Counts are kept by pairs of words.
    return " ".join(map(str, cast("tuple[object, ...]", key))) if isinstance(key, tuple) else str(key)


def _field(record: object, name: str) -> Any:
    value = getattr(record, name)
    return iso(value) if value is not None and name in _moments(type(record)) else plain(value)


@cache
def _moments(kind: type) -> frozenset[str]:
    hints = get_type_hints(kind)
    return frozenset(name for name, hint in hints.items() if hint is Micros or Micros in get_args(hint))
