"""Limits on the fields of requests: checked when a request is created, and published in every schema."""

from collections.abc import Iterator, Sequence, Sized
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import Any, Protocol, TypeVar, Union, cast, get_args, get_origin, get_type_hints, runtime_checkable

from bethink.errors import Invalid
from bethink.model.text import clean

EnumT = TypeVar("EnumT", bound=StrEnum)


class InvalidField(Invalid):
    """A field of a request breaks a rule."""

    def __init__(self, field: str, message: str, *, hint: str) -> None:
        super().__init__(f"{field} {message}", hint=hint)
        self.field = field


@runtime_checkable
class Limit(Protocol):
    """A rule for the values of a field."""

    def check(self, name: str, value: Any) -> None:
        """Raise `InvalidField` for a value that breaks the rule."""
        ...

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Between:
    """The lowest and the highest number that a field takes: `Annotated[int, Between(1, 1_000)]`."""

    low: int
    high: int

    def check(self, name: str, value: float) -> None:
        """Raise `InvalidField` for a number outside the range."""
        if not self.low <= value <= self.high:
            raise InvalidField(name, f"must be {self.low:,} to {self.high:,}.", hint=f"It was {value}.")

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {**handler(schema), "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True, slots=True)
class Length:
    """The minimum and maximum length of a text or a list: `Annotated[str, Length(1, 200)]`."""

    low: int
    high: int

    def check(self, name: str, value: Sized) -> None:
        """Raise `InvalidField` for a value that is shorter or longer."""
        if not self.low <= len(value) <= self.high:
            wanted = f"must have a length of {self.low:,} to {self.high:,}."
            raise InvalidField(name, wanted, hint=f"Its length was {len(value):,}.")

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        described = handler(schema)
        unit = "Items" if described.get("type") == "array" else "Length"
        return {**described, f"min{unit}": self.low, f"max{unit}": self.high}


@dataclass(frozen=True, slots=True)
class Bytes:
    """The maximum size of a text in UTF-8, for text that a database indexes in full. It must not be empty."""

    high: int

    def check(self, name: str, value: str) -> None:
        """Raise `InvalidField` for a text that is empty, too long, or has characters that a database cannot store."""
        if not value or clean(value) != value or len(value.encode()) > self.high:
            raise InvalidField(name, f"must be 1 to {self.high:,} bytes of text.", hint=f"It was {value[:20]!r}.")

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {**handler(schema), "minLength": 1, "maxLength": self.high}


@dataclass(frozen=True, slots=True)
class Printable:
    """Only printable characters, for names that appear in databases, paths and logs."""

    def check(self, name: str, value: str) -> None:
        """Raise `InvalidField` for control characters and line breaks."""
        if not value.isprintable():
            raise InvalidField(name, "must be printable.", hint="Leave out control characters and line breaks.")

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {**handler(schema), "pattern": r"^[^\x00-\x1f\x7f]*$"}


@dataclass(frozen=True, slots=True)
class KnownWord:
    """Only words, and refs of kinds, that this version knows: those of a newer one occur in results alone."""

    def check(self, name: str, value: Any) -> None:
        """Raise `InvalidField` for another."""
        for each in cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,):
            if not each.known:
                raise InvalidField(name, f"cannot be {str(each)!r}.", hint="This version does not know it.")

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return handler(schema)


def check(record: object) -> None:
    """Check every field of a request.

    Raises:
        InvalidField: for the first field of the wrong type or outside its limits, or a time without a time zone.
    """
    for name, kinds, optional, limits, each_limits in _rules_of(type(record)):
        value = getattr(record, name)
        if value is None and optional:
            continue
        if kinds and (not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds)):
            wanted = " or ".join("a list" if kind is tuple else kind.__name__ for kind in kinds)
            raise InvalidField(name, f"must be {wanted}.", hint=f"It was {type(value).__name__}.")
        if isinstance(value, datetime) and value.tzinfo is None:
            raise InvalidField(name, "has no time zone.", hint="Write it as 2026-03-01T12:00:00Z.")
        for limit in limits:
            limit.check(name, value)
        if each_limits:
            for place, each in enumerate(cast("Sequence[object]", value)):
                for limit in each_limits:
                    limit.check(f"{name}.{place}", each)


_Rule = tuple[str, tuple[type, ...], bool, tuple[Limit, ...], tuple[Limit, ...]]


@cache
def _rules_of(kind: Any) -> list[_Rule]:
    hints = get_type_hints(kind, include_extras=True)
    return [_rule(each.name, hints[each.name]) for each in fields(kind)]


def _rule(name: str, hint: Any) -> _Rule:
    return name, _kinds(hint), _optional(hint), tuple(_declared(hint)), tuple(_declared_for_each(hint))


def _declared(hint: Any) -> Iterator[Limit]:
    yield from (each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Limit))
    if get_origin(hint) in (Union, UnionType):
        for each in get_args(hint):
            yield from _declared(each)
    elif any(hasattr(each, "known") for each in get_args(_bare(hint)) or (hint,)):
        yield KnownWord()


def _declared_for_each(hint: Any) -> Iterator[Limit]:
    """Yield the limits on the items of a tuple."""
    hint = _bare(hint)
    if get_origin(hint) is tuple:
        yield from _declared(get_args(hint)[0])
    elif get_origin(hint) in (Union, UnionType):
        for each in get_args(hint):
            yield from _declared_for_each(each)


def _bare(hint: Any) -> Any:
    while hasattr(hint, "__metadata__"):
        hint = hint.__origin__
    return hint


def _optional(hint: Any) -> bool:
    hint = _bare(hint)
    return get_origin(hint) in (Union, UnionType) and type(None) in get_args(hint)


def _kinds(hint: Any) -> tuple[type, ...]:
    """Return the classes that the value of a field may have; empty if only pydantic can check it."""
    hint = _bare(hint)
    if get_origin(hint) in (Union, UnionType):
        return tuple(kind for each in get_args(hint) if each is not type(None) for kind in _kinds(each))
    found = get_origin(hint) or hint
    if found is float:
        return (float, int)
    return (found,) if isinstance(found, type) else ()


def any_of(name: str, value: object, kind: type[EnumT]) -> tuple[EnumT, ...]:
    """Convert a collection of words to members of an enumeration.

    Raises:
        InvalidField: for an unknown word, or for a single text instead of a collection.
    """
    if isinstance(value, str) or not isinstance(value, Sequence | frozenset | set):
        raise InvalidField(name, "must be a list.", hint=f"Give some of {', '.join(each.value for each in kind)}.")
    found: list[EnumT] = []
    for each in cast("Sequence[object]", value):
        try:
            found.append(kind[kind(each).name])
        except (KeyError, ValueError):
            raise InvalidField(
                name, f"cannot be {str(each)!r}.", hint=f"Use {', '.join(each.value for each in kind)}."
            ) from None
    return tuple(dict.fromkeys(found))
