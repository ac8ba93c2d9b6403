"""Filters of a search: validated and parsed once, and compiled to SQL by the store."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import cast

from bethink.base.frozen import frozen
from bethink.errors import InvalidFieldError
from bethink.model.text import clean

Scalar = str | int | float | bool | None
"""Value that a condition can compare with. Text is compared with text, and numbers with numbers."""

MAX_CONDITIONS = 20
MAX_VALUES = 100
MAX_KEY_LENGTH = 200
MAX_VALUE_LENGTH = 2_000
MAX_NUMBER = 2**53 - 1
"""Largest number in a condition. The two databases round larger numbers differently."""

_HINT = 'Write {"key": value}, {"key": [values]} or {"key": {"gte": 3, "lt": 9}}.'


class Op(StrEnum):
    """Comparison of a metadata value. A list of values means `in`."""

    EQ = "eq"
    NE = "ne"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    CONTAINS = "contains"
    IN = "in"


_CONNECTIVES = ("and", "or", "not")
_COMPARISONS = tuple(op for op in Op if op is not Op.IN)
_ORDERED = (Op.GT, Op.GTE, Op.LT, Op.LTE)


@frozen(kw_only=False)
class Condition:
    """A condition on a metadata value. A missing key matches only `ne`."""

    key: str
    op: Op
    value: Scalar | tuple[Scalar, ...]


@frozen
class Filter:
    """Filters of a search. All of them must match; None and empty values match everything."""

    origins: tuple[str, ...] | None = None
    """Any of these; `tool` matches every tool."""
    tags: tuple[str, ...] = ()
    """All of these."""
    agent: str | None = None
    conversation: str | None = None
    speaker: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    where: tuple[Condition, ...] = ()


def conditions(where: Mapping[str, object]) -> tuple[Condition, ...]:
    """Parse conditions on metadata.

    Raises:
        InvalidFieldError: for an unknown comparison, or an unsupported value.
    """
    parsed = [condition for key, value in where.items() for condition in _key_conditions(key, value)]
    if len(parsed) > MAX_CONDITIONS:
        raise InvalidFieldError("where", f"has more than {MAX_CONDITIONS} conditions.", hint="Remove some.")
    return tuple(parsed)


def _key_conditions(key: object, value: object) -> list[Condition]:
    if not isinstance(key, str) or not key or len(key) > MAX_KEY_LENGTH:
        raise InvalidFieldError("where", f"has a key that is not text of 1 to {MAX_KEY_LENGTH} characters.", hint=_HINT)
    name = clean(key)
    if name.lower() in _CONNECTIVES and _has_conditions(value):
        raise _invalid_field(
            name, "is not supported: all conditions of `where` must match.",
            hint="For alternatives of one key, write {\"key\": [values]}; otherwise search once for each condition.",
        )  # fmt: skip
    if isinstance(value, Mapping):
        return _comparison_conditions(name, cast("Mapping[object, object]", value))
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray)):
        values = cast("Sequence[object]", value)
        if not 1 <= len(values) <= MAX_VALUES:
            raise _invalid_field(
                name,
                f"must list 1 to {MAX_VALUES} values, not {len(values)}.",
                hint="Pass fewer values, or leave it out.",
            )
        return [Condition(name, Op.IN, tuple(_scalar(name, item) for item in values))]
    return [Condition(name, Op.EQ, _scalar(name, value))]


def _has_conditions(value: object) -> bool:
    """Return whether a value is a filter or a list of filters, as other systems nest them."""
    if isinstance(value, Mapping):
        return not any(word in tuple(Op) for word in cast("Mapping[object, object]", value))
    return isinstance(value, list) and any(isinstance(item, Mapping) for item in cast("list[object]", value))


def _comparison_conditions(name: str, comparisons: Mapping[object, object]) -> list[Condition]:
    if not comparisons:
        raise _invalid_field(name, "has no comparison.", hint=_HINT)
    parsed: list[Condition] = []
    for word, value in comparisons.items():
        if word not in _COMPARISONS:
            raise _invalid_field(
                name,
                f"has the unknown comparison {str(word)[:40]!r}.",
                hint=f"Use {', '.join(_COMPARISONS)}, or a list for in.",
            )
        op = Op(cast("str", word))
        scalar = _scalar(name, value)
        if op in _ORDERED and (scalar is None or isinstance(scalar, bool)):
            raise _invalid_field(
                name, f"cannot be compared with {_json_word(scalar)} ({op}).", hint="Use a number or text."
            )
        parsed.append(Condition(name, op, scalar))
    return parsed


def _scalar(name: str, value: object) -> Scalar:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        if len(value) > MAX_VALUE_LENGTH:
            raise _invalid_field(name, f"has a text of more than {MAX_VALUE_LENGTH:,} characters.", hint="Shorten it.")
        return clean(value)
    if isinstance(value, (int, float)):
        if not math.isfinite(value) or abs(value) > MAX_NUMBER:
            hint = "Store identifiers as text."
            raise _invalid_field(name, f"has a number beyond ±{MAX_NUMBER:,}, which some databases round.", hint=hint)
        return value
    raise _invalid_field(name, f"cannot be compared with a {type(value).__name__}.", hint=_HINT)


def _json_word(value: bool | None) -> str:  # noqa: FBT001 - a value, not a switch
    return "null" if value is None else str(value).lower()


def _invalid_field(name: str, message: str, *, hint: str) -> InvalidFieldError:
    return InvalidFieldError(f"where.{name[:40]}", message, hint=hint)
