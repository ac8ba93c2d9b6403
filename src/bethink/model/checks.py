"""Limits on request fields, checked when a request is created and published in every schema."""

from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import (
    Any,
    NamedTuple,
    Protocol,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    runtime_checkable,
)

from bethink.base.frozen import frozen
from bethink.errors import InvalidFieldError
from bethink.model.text import clean

_IN_RANGE = "Pass a value in this range."
EnumT = TypeVar("EnumT", bound=StrEnum)


@runtime_checkable
class Limit(Protocol):
    """A rule for the values of a field."""

    def check(self, name: str, value: Any) -> None:
        """Raise `InvalidFieldError` for a value that breaks the rule."""
        ...

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]: ...


@frozen(kw_only=False)
class Between:
    """The minimum and maximum number of a field: `Annotated[int, Between(1, 1_000)]`."""

    low: int
    high: int

    def check(self, name: str, value: float) -> None:
        """Raise `InvalidFieldError` for a number outside the range."""
        if not self.low <= value <= self.high:
            message = f"must be between {self.low:,} and {self.high:,}, not {value:,}."
            raise InvalidFieldError(name, message, hint=_IN_RANGE)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {**handler(schema), "minimum": self.low, "maximum": self.high}


@frozen(kw_only=False)
class Length:
    """The minimum and maximum length of a text or a list: `Annotated[str, Length(1, 200)]`."""

    low: int
    high: int

    def check(self, name: str, value: Sized) -> None:
        """Raise `InvalidFieldError` for a value that is shorter or longer."""
        if not self.low <= len(value) <= self.high:
            message = f"must have a length of {self.low:,} to {self.high:,}, not {len(value):,}."
            raise InvalidFieldError(name, message, hint=_IN_RANGE)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        json_schema = handler(schema)
        unit = "Items" if json_schema.get("type") == "array" else "Length"
        return {**json_schema, f"min{unit}": self.low, f"max{unit}": self.high}


@frozen(kw_only=False)
class Bytes:
    """The maximum size of a text in UTF-8, for text that a database indexes in full. It must not be empty."""

    high: int

    def check(self, name: str, value: str) -> None:
        """Raise `InvalidFieldError` for a text that is empty, too long, or impossible to store."""
        if not value or clean(value) != value or len(value.encode()) > self.high:
            rule = f"must be 1 to {self.high:,} bytes of text: {value[:20]!r}."
            raise InvalidFieldError(name, rule, hint="Shorten the text, and remove control characters.")

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {**handler(schema), "minLength": 1, "maxLength": self.high}


@frozen(kw_only=False)
class Printable:
    """Only printable characters, for names that appear in databases, paths and logs."""

    def check(self, name: str, value: str) -> None:
        """Raise `InvalidFieldError` for control characters and line breaks."""
        if not value.isprintable():
            raise InvalidFieldError(name, "must be printable.", hint="Remove control characters and line breaks.")

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {**handler(schema), "pattern": r"^[^\x00-\x1f\x7f]*$"}


@frozen(kw_only=False)
class KnownWord:
    """Only words and kinds of refs that this version supports. Those of a newer version appear only in results."""

    def check(self, name: str, value: Any) -> None:
        """Raise `InvalidFieldError` for an unknown word."""
        for word in cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,):
            if not getattr(word, "is_known", True):
                raise InvalidFieldError(
                    name, f"cannot be {str(word)!r}.", hint="This version does not support that value."
                )

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return handler(schema)


@frozen(kw_only=False)
class Cleaned:
    """Marks a field in which lone surrogates are replaced instead of rejected, so that no text is lost."""


class Rule(NamedTuple):
    """Rule for the value of a field, from its annotation. `items` is the rule for the items of a tuple or mapping."""

    kinds: tuple[type, ...] = (str,)
    optional: bool = False
    limits: tuple[Limit, ...] = ()
    is_text: bool = True
    is_record: bool = False
    items: "Rule | None" = None


def check(record: object, within: str = "") -> None:
    """Check every field of a request, and of the records in it.

    Raises:
        InvalidFieldError: for the first field of the wrong type or outside its limits, a time without a time zone, or a
            text with lone surrogates.
    """
    for name, rule in rules_of(type(record)):
        value = getattr(record, name)
        if value is not None or not rule.optional:
            _check(within + name, value, rule)


def _check(name: str, value: Any, rule: Rule) -> None:
    kinds = rule.kinds
    if kinds and (not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds)):
        expected = " or ".join(_KIND_NAMES.get(kind, kind.__name__) for kind in kinds)
        raise InvalidFieldError(name, f"must be {expected}, not {type(value).__name__}.", hint=f"Pass {expected}.")
    if isinstance(value, datetime) and value.tzinfo is None:
        raise InvalidFieldError(name, "needs a time zone.", hint="Write it as 2026-03-01T12:00:00Z.")
    for limit in rule.limits:
        limit.check(name, value)
    if rule.is_text and isinstance(value, str) and not value.isascii():
        _check_text(name, value)
    if rule.is_record:
        check(value, f"{name}.")
    if rule.items is not None:
        _check_items(name, value, rule.items)


def _check_items(name: str, value: Any, rule: Rule) -> None:
    if isinstance(value, Mapping):
        for key, item in cast("Mapping[object, object]", value).items():
            _check(f"a key of {name}", key, _TEXT)
            _check(f"{name}.{key}", item, rule)
    else:
        is_plain = not (rule.limits or rule.is_text or rule.is_record or rule.items)
        for index, item in enumerate(value):
            if not (is_plain and type(item) in rule.kinds):  # for speed: there may be a thousand messages
                _check(f"{name}.{index}", item, rule)


def _check_text(name: str, value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        hint = "Decode the text with errors='replace', or remove that character."
        raise InvalidFieldError(name, "contains a lone surrogate (half of a character).", hint=hint) from None


_KIND_NAMES: Mapping[type, str] = {tuple: "a list", Mapping: "a mapping"}
_TEXT = Rule()


@cache
def rules_of(kind: Any) -> list[tuple[str, Rule]]:
    """Return the rule of each field of a record, by name."""
    hints = get_type_hints(kind, include_extras=True)
    return [(member.name, _rule(hints[member.name])) for member in fields(kind)]


def _rule(hint: Any, *, cleaned: bool = False) -> Rule:
    kinds = _kinds(hint)
    cleaned = cleaned or any(isinstance(mark, Cleaned) for mark in getattr(hint, "__metadata__", ()))
    items = next(_items(hint), None)
    return Rule(
        kinds=kinds,
        optional=_optional(hint),
        limits=tuple(_limits(hint)),
        is_text=not cleaned,
        is_record=not cleaned and any(map(is_dataclass, kinds)),
        items=None if items is None else _rule(items, cleaned=cleaned),
    )


def _items(hint: Any) -> Iterator[Any]:
    """Yield the annotation of the items of a tuple or the values of a mapping. Yield nothing if any value is valid."""
    hint = _bare(hint)
    if get_origin(hint) in (Union, UnionType):
        for option in get_args(hint):
            yield from _items(option)
    elif get_origin(hint) is tuple:
        yield get_args(hint)[0]
    elif get_origin(hint) is Mapping and get_args(hint)[1] is not Any:
        yield get_args(hint)[1]


def _limits(hint: Any) -> Iterator[Limit]:
    yield from (item for item in getattr(hint, "__metadata__", ()) if isinstance(item, Limit))
    if get_origin(hint) in (Union, UnionType):
        for item in get_args(hint):
            yield from _limits(item)
    elif any(hasattr(item, "is_known") for item in get_args(_bare(hint)) or (hint,)):
        yield KnownWord()


def _bare(hint: Any) -> Any:
    while hasattr(hint, "__metadata__"):
        hint = hint.__origin__
    return hint


def _optional(hint: Any) -> bool:
    hint = _bare(hint)
    return get_origin(hint) in (Union, UnionType) and type(None) in get_args(hint)


def _kinds(hint: Any) -> tuple[type, ...]:
    """Return the classes that a field allows, or an empty tuple if only pydantic can check it."""
    hint = _bare(hint)
    if get_origin(hint) in (Union, UnionType):
        return tuple(kind for option in get_args(hint) if option is not type(None) for kind in _kinds(option))
    base = get_origin(hint) or hint
    if base is float:
        return (float, int)
    return (base,) if isinstance(base, type) else ()


def tuple_from(name: str, value: object) -> tuple[Any, ...]:
    """Convert a collection to a tuple.

    Raises:
        InvalidFieldError: for a single string, or a value that is not a collection.
    """
    if isinstance(value, tuple):
        return cast("tuple[Any, ...]", value)
    if isinstance(value, str) or not isinstance(value, Sequence | frozenset | set):
        raise InvalidFieldError(name, f"must be a list, not {type(value).__name__}.", hint="Pass a list.")
    return tuple(cast("Sequence[Any]", value))


def member_of(name: str, value: object, kind: type[EnumT]) -> EnumT:
    """Convert a word to a member of an enumeration. Raises `InvalidFieldError` for an unknown word."""
    return any_of(name, (value,), kind)[0]


def any_of(name: str, value: object, kind: type[EnumT]) -> tuple[EnumT, ...]:
    """Convert a collection of words to members of an enumeration.

    Raises:
        InvalidFieldError: for an unknown word, or a single string instead of a collection.
    """
    if isinstance(value, str) or not isinstance(value, Sequence | frozenset | set):
        raise InvalidFieldError(name, "must be a list.", hint=f"Use any of {', '.join(word.value for word in kind)}.")
    members: list[EnumT] = []
    for word in cast("Sequence[object]", value):
        try:
            members.append(kind[kind(word).name])
        except (KeyError, ValueError):
            raise InvalidFieldError(
                name, f"cannot be {str(word)!r}.", hint=f"Use {', '.join(word.value for word in kind)}."
            ) from None
    return tuple(dict.fromkeys(members))
