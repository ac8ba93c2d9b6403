"""The `@frozen` dataclass decorator."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")
_REPR_WIDTH = 120
_MIN_TEXT = 20


def converted_field(*, converter: Callable[[Any], Any], default: object, compare: bool = True) -> Any:
    """Declare a field that `__init__` also accepts in other types, for type checkers only.

    The record's `__post_init__` applies the converter: with `dataclass`, a field cannot have one.
    """
    del converter
    return field(default=default, compare=compare)


@overload
@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field, converted_field))
def frozen(cls: type[T], /) -> type[T]: ...


@overload
@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field, converted_field))
def frozen(*, kw_only: bool) -> Callable[[type[T]], type[T]]: ...


def frozen(cls: type[T] | None = None, /, *, kw_only: bool = True) -> Any:
    """Make a class a frozen dataclass with slots, whose fields are keyword-only.

    `dataclass` generates and compiles six methods for each class, which took most of the startup time of
    `bethink.connect`. Three of them are shared here, with the same results.
    """

    def make(plain: type[T]) -> type[T]:
        own = vars(plain)
        record_class = dataclass(frozen=True, slots=True, kw_only=kw_only, repr=False, eq=False)(plain)
        for name, method in _shared_methods(record_class).items():
            if own.get(name) is None:  # a class with its own __eq__ has None for __hash__
                setattr(record_class, name, method)
        return record_class

    return make if cls is None else make(cls)


def short_repr(record: object, ref: object, text: str | None, *notes: object) -> str:
    """Return the `repr` of a record with a long text, shortened so that it fits a line."""
    head, tail = f"{type(record).__qualname__}({ref!s}: ", "".join(f", {note!s}" for note in notes) + ")"
    room = max(_REPR_WIDTH - len(head) - len(tail), _MIN_TEXT)
    excerpt = repr(text if text is None else text[:room])
    if text is not None and (len(excerpt) > room or len(text) > room):
        excerpt = f"{excerpt[: room - 2]}…{excerpt[-1]}"
    return head + excerpt + tail


def _shared_methods(record_class: Any) -> dict[str, Callable[..., Any]]:
    repr_fields = tuple(member.name for member in fields(record_class) if member.repr)
    compared_fields = tuple(member.name for member in fields(record_class) if member.compare)
    values: Callable[[Any], Any] = attrgetter(*compared_fields) if compared_fields else lambda _: ()

    def to_repr(self: object) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in repr_fields)})"

    def is_equal(self: object, other: object) -> bool:
        return values(self) == values(other) if type(self) is type(other) else NotImplemented

    def to_hash(self: object) -> int:
        return hash(values(self))

    return {"__repr__": to_repr, "__eq__": is_equal, "__hash__": to_hash}
