"""What a search is narrowed to: checked and read once, and compiled to SQL by the store."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import cast

from bethink.base.frozen import frozen
from bethink.model.checks import InvalidField
from bethink.model.text import clean

Scalar = str | int | float | bool | None
"""A value that a condition can compare with. Text is compared with text, a number with a number."""

MOST_CONDITIONS = 20
MOST_VALUES = 100
LONGEST_KEY = 200
LONGEST_VALUE = 2_000
BIGGEST = 2**53 - 1
"""The largest number in a condition: beyond it, the two databases would round differently."""

_HINT = 'Write {"key": value}, {"key": [values]} or {"key": {"gte": 3, "lt": 9}}.'


class Op(StrEnum):
    """How a value in metadata is compared. `in` is what a list of values means."""

    EQ = "eq"
    NE = "ne"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    CONTAINS = "contains"
    IN = "in"


_WRITTEN = tuple(op for op in Op if op is not Op.IN)
_ORDERED = (Op.GT, Op.GTE, Op.LT, Op.LTE)


@frozen(kw_only=False)
class Condition:
    """One condition on the value under a key of the metadata. A missing key meets only `ne`."""

    key: str
    op: Op
    value: Scalar | tuple[Scalar, ...]


@frozen
class Filter:
    """What a search is narrowed to. Everything given must hold; what is None or empty narrows nothing."""

    origins: tuple[str, ...] | None = None
    """One of these; `tool` stands for every tool."""
    tags: tuple[str, ...] = ()
    """All of these."""
    agent: str | None = None
    conversation: str | None = None
    speaker: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    where: tuple[Condition, ...] = ()


def conditions(where: Mapping[str, object]) -> tuple[Condition, ...]:
    """Read conditions on metadata, as callers write them.

    Raises:
        InvalidField: for an unknown comparison, or a value that cannot be compared.
    """
    found = [each for key, wanted in where.items() for each in _of_key(key, wanted)]
    if len(found) > MOST_CONDITIONS:
        raise InvalidField("where", f"has more than {MOST_CONDITIONS} conditions.", hint="Use fewer.")
    return tuple(found)


def _of_key(key: object, wanted: object) -> list[Condition]:
    if not isinstance(key, str) or not key or len(key) > LONGEST_KEY:
        raise InvalidField("where", f"has a key that is not text of 1 to {LONGEST_KEY} characters.", hint=_HINT)
    name = clean(key)
    if isinstance(wanted, Mapping):
        return _compared(name, cast("Mapping[object, object]", wanted))
    if isinstance(wanted, Sequence) and not isinstance(wanted, (str, bytes, bytearray)):
        values = cast("Sequence[object]", wanted)
        if not 1 <= len(values) <= MOST_VALUES:
            raise _refused(name, f"must list 1 to {MOST_VALUES} values.", hint=f"It listed {len(values)}.")
        return [Condition(name, Op.IN, tuple(_scalar(name, each) for each in values))]
    return [Condition(name, Op.EQ, _scalar(name, wanted))]


def _compared(name: str, wanted: Mapping[object, object]) -> list[Condition]:
    if not wanted:
        raise _refused(name, "compares with nothing.", hint=_HINT)
    found: list[Condition] = []
    for word, value in wanted.items():
        if word not in _WRITTEN:
            raise _refused(name, f"cannot be compared by {str(word)[:40]!r}.", hint=f"Use {', '.join(_WRITTEN)}.")
        op = Op(cast("str", word))
        given = _scalar(name, value)
        if op in _ORDERED and (given is None or isinstance(given, bool)):
            raise _refused(name, f"cannot be compared by {op} with {_spelt(given)}.", hint="Use a number or a text.")
        found.append(Condition(name, op, given))
    return found


def _scalar(name: str, value: object) -> Scalar:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        if len(value) > LONGEST_VALUE:
            raise _refused(name, f"has a text of more than {LONGEST_VALUE:,} characters.", hint="Use a shorter one.")
        return clean(value)
    if isinstance(value, (int, float)):
        if not math.isfinite(value) or abs(value) > BIGGEST:
            hint = "Store identifiers as text."
            raise _refused(name, f"has a number beyond ±{BIGGEST:,}, which is not exact everywhere.", hint=hint)
        return value
    raise _refused(name, f"cannot be compared with a {type(value).__name__}.", hint=_HINT)


def _spelt(value: bool | None) -> str:  # noqa: FBT001 - it is spelt, not a switch
    return "null" if value is None else str(value).lower()


def _refused(name: str, message: str, *, hint: str) -> InvalidField:
    return InvalidField(f"where.{name[:40]}", message, hint=hint)
