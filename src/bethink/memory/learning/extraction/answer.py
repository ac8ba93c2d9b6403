"""Parse an untrusted answer of a model: one JSON object, its dates, and file names."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from bethink.errors import ModelResponseError

_MAX_ANSWER = 1_000_000
_SLUG = re.compile(r"[^a-z0-9]+")
_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")


def loads(text: str) -> dict[str, Any]:
    """Parse one JSON object, with or without a code fence. Raises `ModelResponseError` for anything else."""
    if len(text) > _MAX_ANSWER:
        raise ModelResponseError("The answer is longer than a million characters.")
    try:
        tree = json.loads(_strip_fence(text), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise ModelResponseError("The answer is not valid JSON.") from None
    if not isinstance(tree, dict):
        raise ModelResponseError("The answer is not a JSON object.")
    return cast("dict[str, Any]", tree)


def _strip_fence(text: str) -> str:
    stripped = text.strip()
    if stripped.startswith("```") and stripped.endswith("```"):
        return stripped[3:-3].removeprefix("json")
    return stripped


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not valid JSON")


def fields_of(entry: object) -> Mapping[str, object]:
    """Return the fields of an object in an answer; none for any other value."""
    return cast("Mapping[str, object]", entry) if isinstance(entry, Mapping) else dict[str, object]()


def slugify(text: str) -> str:
    """Turn a few words into a file name: at most 60 characters of a-z, 0-9 and hyphens."""
    return _SLUG.sub("-", text.lower()).strip("-")[:60].strip("-")


def moment(value: object, *, end: bool = False) -> datetime | None:
    """Parse a date or time in ISO format, or only a month or year; return None for anything else.

    With `end`, a day, month or year stands for its end, which is the beginning of the next.
    """
    if not isinstance(value, str):
        return None
    text = value.strip()
    try:
        if match := _DATE.fullmatch(text):
            return _period(*match.groups(), end=end)
        parsed = datetime.fromisoformat(text)
        return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def span(value: object) -> tuple[datetime | None, datetime | None]:
    """Parse a day, month, year, or two of them with a slash between; return its start and its end."""
    if not isinstance(value, str):
        return None, None
    first, _, last = value.partition("/")
    start, end = moment(first), moment(last or first, end=True)
    if start is None or end is None or end < start:
        return None, None
    return start, end


def _period(year: str, month: str | None, day: str | None, *, end: bool) -> datetime:
    first = datetime(int(year), int(month or 1), int(day or 1), tzinfo=UTC)
    if not end:
        return first
    if day is not None:
        return first + timedelta(days=1)
    if month is not None:
        return (first.replace(day=28) + timedelta(days=4)).replace(day=1)
    return first.replace(year=first.year + 1)
