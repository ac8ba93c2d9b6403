"""Our records as plain JSON values, and back: one walk each way, driven by the types they are declared with."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from bethink.errors import BethinkError, Invalid, Misconfigured
from bethink.model.moments import iso, moment
from bethink.model.recall import Ref
from bethink.model.records import ConversationKey
from bethink.model.text import canonical_json

T = TypeVar("T")
_Reader = Callable[[Any], Any]
_BY_TEXT = (Ref, ConversationKey)


def plain(value: object) -> Any:
    """Write a value as JSON has it: records by their field names, names such as `Ref` as their text."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, _BY_TEXT):
        return str(value)
    if isinstance(value, datetime):
        return iso(moment(value))
    if isinstance(value, Mapping):
        return _plain_mapping(cast("Mapping[object, object]", value))
    names = _names_of(type(value))
    if names is not None:
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, AbstractSet):
        return sorted(plain(each) for each in cast("AbstractSet[object]", value))
    if isinstance(value, (bytes, bytearray)) or not isinstance(value, Sequence):
        raise Invalid(f"a {type(value).__name__} cannot be sent.", hint="Use text, numbers, lists and mappings.")
    return [plain(each) for each in cast("Sequence[object]", value)]


def checked(value: object) -> Any:
    """Take JSON of the caller's as it is stored: what a Memory would refuse is refused here, too."""
    return json.loads(canonical_json(value))


def read(kind: type[T], tree: object) -> T:
    """Read a value of a type from what `plain` wrote. Raises `Misconfigured` for anything else.

    Members that the type does not know are passed over: a newer server may say more.
    """
    try:
        return _reader(kind)(tree)
    except (TypeError, ValueError, LookupError, AttributeError, BethinkError) as error:
        name = getattr(kind, "__name__", str(kind))
        raise Misconfigured(
            f"the server's answer is no {name}: {error}",
            hint="Is this the address of a Bethink server, and is it as new as this client?",
        ) from error


@cache
def _names_of(kind: Any) -> tuple[str, ...] | None:
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None


def _plain_mapping(value: Mapping[object, object]) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for key, each in value.items():
        if isinstance(key, tuple):  # a pair is an object in an object
            first, second = cast("tuple[object, object]", key)
            written.setdefault(str(first), {})[str(second)] = plain(each)
        else:
            written[str(key)] = plain(each)
    return written


@cache
def _reader(kind: Any) -> _Reader:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in {Union, UnionType}:
        return _either(inner)
    if origin is not None:
        return _collection(origin, inner)
    if kind in {Any, object}:
        return lambda tree: tree
    if kind in _BY_TEXT:
        return kind.parse
    if kind is datetime:
        return moment
    if is_dataclass(kind):
        return _record(cast("type", kind))
    return _scalar(kind)


def _either(kinds: tuple[Any, ...]) -> _Reader:
    # Of several types the first is the one that is stored; the others are for whoever writes.
    first = _reader(next(kind for kind in kinds if kind is not NoneType))
    return (lambda tree: None if tree is None else first(tree)) if NoneType in kinds else first


def _collection(origin: Any, inner: tuple[Any, ...]) -> _Reader:
    if issubclass(origin, Counter):
        count = _reader(int)
        return lambda tree: Counter({str(key): count(each) for key, each in _object(tree).items()})
    if issubclass(origin, Mapping):
        return _mapping(inner[0], inner[1])
    make: Any = origin if origin in {list, frozenset} else tuple
    each = _reader(inner[0])
    return lambda tree: make(each(one) for one in _array(tree))


def _mapping(key_kind: Any, kind: Any) -> _Reader:
    if get_origin(key_kind) is tuple:
        outer, inner = get_args(key_kind)
        nested = _mapping(outer, Mapping[inner, kind])
        return lambda tree: {
            (first, second): each for first, more in nested(tree).items() for second, each in more.items()
        }
    key, item = _reader(key_kind), _reader(kind)
    return lambda tree: {key(name): item(each) for name, each in _object(tree).items()}


def _record(kind: type) -> _Reader:
    names = [field.name for field in fields(kind) if field.init]
    needed = {field.name for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING}
    readers: dict[str, _Reader] = {}

    def record(tree: Any) -> Any:
        if not readers:  # made when the first one is read: a record may hold others of its kind
            hints = get_type_hints(kind)
            readers.update({name: _reader(hints[name]) for name in names})
        members = _object(tree)
        missing = needed - members.keys()
        if missing:
            raise ValueError(f"{', '.join(sorted(missing))} is missing")
        return kind(**{name: readers[name](each) for name, each in members.items() if name in readers})

    return record


def _scalar(kind: Any) -> _Reader:
    base = str if issubclass(kind, str) else kind
    allowed = (int, float) if base is float else (base,)

    def scalar(tree: Any) -> Any:
        if not isinstance(tree, allowed) or (isinstance(tree, bool) and base is not bool):
            raise TypeError(f"{base.__name__} expected, not {type(tree).__name__}")
        return tree if kind is base else kind(tree)

    return scalar


def _object(tree: Any) -> dict[str, Any]:
    if not isinstance(tree, dict):
        raise TypeError(f"an object expected, not {type(tree).__name__}")
    return cast("dict[str, Any]", tree)


def _array(tree: Any) -> list[Any]:
    if not isinstance(tree, list):
        raise TypeError(f"an array expected, not {type(tree).__name__}")
    return cast("list[Any]", tree)
