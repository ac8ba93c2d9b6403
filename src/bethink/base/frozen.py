"""What every record is made with."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@overload
@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def frozen(cls: type[T], /) -> type[T]: ...


@overload
@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def frozen(*, kw_only: bool) -> Callable[[type[T]], type[T]]: ...


def frozen(cls: type[T] | None = None, /, *, kw_only: bool = True) -> Any:
    """Make a class a frozen dataclass with slots, whose fields are keyword-only.

    `dataclass` writes and compiles the text of six methods for each class, which was most of what a ready
    `bethink.connect` cost. Three of them are shared here; they give the same results.
    """

    def make(plain: type[T]) -> type[T]:
        own = vars(plain)
        made = dataclass(frozen=True, slots=True, kw_only=kw_only, repr=False, eq=False)(plain)
        for name, method in _shared(made).items():
            if own.get(name) is None:  # a class with its own __eq__ has None for __hash__
                setattr(made, name, method)
        return made

    return make if cls is None else make(cls)


def _shared(made: Any) -> dict[str, Callable[..., Any]]:
    shown = tuple(each.name for each in fields(made) if each.repr)
    compared = tuple(each.name for each in fields(made) if each.compare)
    values: Callable[[Any], Any] = attrgetter(*compared) if compared else lambda _: ()

    def shown_as(self: object) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    def equal(self: object, other: object) -> bool:
        return values(self) == values(other) if type(self) is type(other) else NotImplemented

    def hashed(self: object) -> int:
        return hash(values(self))

    return {"__repr__": shown_as, "__eq__": equal, "__hash__": hashed}
