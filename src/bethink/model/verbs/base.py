"""What a verb is: a request, its result, who may call it, and whether it may be sent again."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar

from bethink.errors import BethinkError
from bethink.model.access import Scope
from bethink.model.checks import Between, Bytes, Length, Printable, check
from bethink.model.moments import moment
from bethink.model.records import MAX_CONVERSATION

BIGGEST = 2**53 - 1
"""The largest whole number that every reader of JSON takes as it is."""

Name = Annotated[str, Length(1, 200), Printable()]
IdempotencyKey = Annotated[str, Length(1, 180), Printable()]
Conversation = Annotated[str, Bytes(MAX_CONVERSATION)]
Question = Annotated[str, Length(0, 1_000_000)]
"""Long enough for the whole message of a user, with a page pasted into it. It travels in a body."""
Query = Annotated[str, Length(0, 10_000)]
"""What fits into an address."""
Limit = Annotated[int, Between(1, 1_000)]
Number = Annotated[int, Between(0, BIGGEST)]
Budget = Annotated[int, Between(1, 10_000_000)]


class _ReadsMoment:
    """Lets JSON say a time the way Python does: ISO 8601, and a day means its end."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> dict[str, Any]:
        return {
            "type": "function-before",
            "function": {"type": "no-info", "function": _read_moment},
            "schema": handler(source),
        }


def _read_moment(given: Any) -> datetime:
    try:
        return moment(given)
    except BethinkError as error:
        raise ValueError(f"is not a date or time in ISO 8601. {error.hint}") from error


Moment = Annotated[datetime, _ReadsMoment()]


@dataclass(frozen=True, slots=True)
class LocalOnly:
    """Marks a field that only code in the same process may set: no door reads it from a caller."""


class Retry(StrEnum):
    """Whether a request may be sent again when its answer was lost."""

    SAFE = "safe"
    """It changes nothing."""
    IDEMPOTENT = "idempotent"
    """Carrying it out twice has the effect of once."""
    ONCE = "once"
    """It is never sent twice."""


class MemoryOperation(StrEnum):
    """What a verb does to memory, in the words of OpenTelemetry's GenAI conventions. It names the span."""

    CREATE = "create_memory"
    UPDATE = "update_memory"
    UPSERT = "upsert_memory"
    SEARCH = "search_memory"
    DELETE = "delete_memory"
    DELETE_STORE = "delete_memory_store"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The base of all requests. A field is declared once, with its default, its limits and its description."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = {"extra": "forbid", "use_attribute_docstrings": True}

    def __post_init__(self) -> None:
        check(self)

    def from_outside(self) -> Self:
        """Return what remains of the request when it comes from another process: nobody vouches for its origin."""
        return self

    def repeatable(self) -> Self:
        """Return the request with whatever it needs so that sending it twice has the effect of once."""
        return self

    def retry(self, declared: Retry) -> Retry:
        """Return whether this request may be sent again, given what its verb declares."""
        return declared


@dataclass(frozen=True, slots=True, kw_only=True)
class Empty(Request):
    """A request without parameters."""


RequestT = TypeVar("RequestT", bound=Request)
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Verb(Generic[RequestT, ResultT]):
    """One thing that can be asked of a memory."""

    name: str
    """`handle.method`, such as `facts.search`. Its doors derive their names from it."""
    request: type[RequestT]
    result: Any
    """The type that comes back: `type[ResultT]`, or such as `list[Fact]`, which has no better spelling."""
    route: str
    """Its HTTP method and path below `/v1`, such as `POST /spaces/{space}/recall`."""
    scope: Scope
    """What a key must allow."""
    retry: Retry
    summary: str
    """What it does, in one sentence: the first line of its documentation everywhere."""
    also_reads: bool = False
    """Whether the result holds what others stored, so that the key must allow reading, too."""
    everywhere: bool = False
    """Whether it concerns all spaces, so that the key must be for all of them."""
    status: int = 200
    operation: MemoryOperation | None = None
    raises: str = ""
    """Errors worth naming beyond those that any verb may raise."""
    details: str = ""
    """What may surprise."""
    positional: tuple[str, ...] = ()
    """Fields with a default that may be passed by position in Python; required ones always may."""
    timed: bool = True
    """Whether a client gives up waiting after its timeout."""

    @property
    def handle(self) -> str:
        """The handle that carries it in Python: memory, space, session, facts, documents, threads or keys."""
        return self.name.partition(".")[0]

    @property
    def method_name(self) -> str:
        """Its name in Python."""
        return self.name.partition(".")[2]

    @property
    def http_method(self) -> str:
        """GET, POST, PUT or DELETE."""
        return self.route.partition(" ")[0]

    @property
    def path(self) -> str:
        """Its path below `/v1`, with names in braces."""
        return self.route.partition(" ")[2]

    @property
    def in_space(self) -> bool:
        """Whether it is asked of one space."""
        return "{space}" in self.path
