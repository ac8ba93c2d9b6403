"""How our records look as JSON, and what may be sent: everything that crosses the wire is described here."""

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Header, Path, Query
from pydantic import TypeAdapter

from bethink.errors import Invalid
from bethink.model.jobs import Usage
from bethink.worker import Audit

T = TypeVar("T")

MAX_LIMIT = 1_000
_BIGGEST = 2**53 - 1
"""The biggest whole number that every reader of JSON takes as it is."""

Name = Annotated[str, Path(min_length=1, max_length=200)]
RefText = Annotated[str, Path(min_length=1, max_length=300, description="kind:id:number, as in results")]
Number = Annotated[int, Path(ge=0, le=_BIGGEST)]
Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT)]
TopK = Annotated[int, Query(ge=1, le=MAX_LIMIT)]
After = Annotated[int, Query(ge=0, le=_BIGGEST)]
Version = Annotated[int, Query(ge=0, le=_BIGGEST)]
Tokens = Annotated[int, Query(ge=1, le=10_000_000)]
Cursor = Annotated[str | None, Query(max_length=400, description="`next` of the page before")]
Question = Annotated[str | None, Query(max_length=10_000)]
SessionId = Annotated[str | None, Query(max_length=200)]
AsOf = Annotated[
    str | None,
    Query(max_length=40, description="ISO 8601; a bare day means its end, UTC"),
]
IdempotencyKey = Annotated[
    str | None,
    Header(
        pattern=r"^[\x21-\x7e]{1,180}$", description="Makes a repetition harmless: messages get the keys k:0, k:1, …"
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """Some of many. `next` is the cursor of the page after this one, null if this is the last."""

    items: list[T]
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Items(Generic[T]):
    """All there is."""

    items: list[T]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree(Generic[T]):
    """All there is, by path."""

    items: dict[str, T]


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """The numbers of messages that are stored."""

    numbers: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """Whether there was something to do."""

    done: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """How many there were."""

    counted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer without its citations."""

    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """What changed, line by line."""

    diff: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Whether the server is up."""

    status: str = "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditView:
    """What an audit found; `counts` are jobs by kind and status."""

    counts: dict[str, dict[str, int]]
    overdue: int
    abandoned: int
    facts_without_source: int
    broken_sessions: int
    spaces_checked: int
    spent_today: Usage
    daily_cap: int | None
    violations: int

    @classmethod
    def of(cls, audit: Audit) -> "AuditView":
        """Write the pairs of an audit as objects in objects."""
        counts: dict[str, dict[str, int]] = {}
        for (kind, status), count in audit.counts.items():
            counts.setdefault(str(kind), {})[str(status)] = count
        return cls(
            counts=counts,
            overdue=audit.overdue,
            abandoned=audit.abandoned,
            facts_without_source=audit.facts_without_source,
            broken_sessions=audit.broken_sessions,
            spaces_checked=audit.spaces_checked,
            spent_today=audit.spent_today,
            daily_cap=audit.daily_cap,
            violations=audit.violations,
        )


def page(items: list[T], *, limit: int, place: Callable[[T], object]) -> Page[T]:
    """Make a page; a full one has a cursor to where it ended."""
    return Page(items=items, next=cursor_to(str(place(items[-1]))) if items and len(items) >= limit else None)


def cursor_to(place: str) -> str:
    """Write a place as a cursor."""
    return base64.urlsafe_b64encode(place.encode()).decode().rstrip("=")


def place_of(cursor: str) -> str:
    """Read back what `cursor_to` wrote."""
    try:
        place = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        place = ""
    if not place or cursor_to(place) != cursor:
        raise Invalid("this is no cursor.", hint="Give `next` of the page before, as it is.")
    return place


def number_of(cursor: str) -> int:
    """Read a cursor that is a number."""
    place = place_of(cursor)
    if not place.isdecimal() or not place.isascii() or int(place) > _BIGGEST:
        raise Invalid("this is no cursor.", hint="Give `next` of the page before, as it is.")
    return int(place)


@cache
def adapter_for(kind: Any) -> TypeAdapter[Any]:
    """Return what writes a type as JSON; made once."""
    return TypeAdapter(kind)
