"""Declares operations. Each is a `Verb`: a request, its result, who may call it, and whether it may be retried."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar

from bethink.base.frozen import frozen
from bethink.model.access import Scope
from bethink.model.checks import Between, Bytes, Cleaned, Length, Printable, check
from bethink.model.ids import new_id
from bethink.model.records import MAX_CONVERSATION

BIGGEST = 2**53 - 1
"""The largest integer that every JSON parser reads exactly."""

Name = Annotated[str, Length(1, 200), Printable()]
IdempotencyKey = Annotated[str, Length(1, 180), Printable()]
Conversation = Annotated[str, Bytes(MAX_CONVERSATION)]
Question = Annotated[str, Length(0, 1_000_000), Cleaned()]
"""Long enough for a user's entire message with a page pasted into it. It is sent in the body."""
Query = Annotated[str, Length(0, 10_000), Cleaned()]
"""Short enough for a URL."""
Cursor = Annotated[str, Length(0, 2_000), Printable()]
"""Where a page ended, as it was returned."""
Limit = Annotated[int, Between(1, 1_000)]
Number = Annotated[int, Between(0, BIGGEST)]
Budget = Annotated[int, Between(1, 10_000_000)]


@frozen(kw_only=False)
class LocalOnly:
    """Marks a field that only code in the same process may set: it is never read from a remote caller."""


class Retry(StrEnum):
    """Whether a request may be sent again when its response was lost."""

    SAFE = "safe"
    """It changes nothing."""
    IDEMPOTENT = "idempotent"
    """Running it twice has the same effect as running it once."""
    ONCE = "once"
    """It is never sent twice."""


class MemoryOperation(StrEnum):
    """What an operation does to memory, in the terms of OpenTelemetry's GenAI conventions. It names the span."""

    CREATE = "create_memory"
    UPDATE = "update_memory"
    UPSERT = "upsert_memory"
    SEARCH = "search_memory"
    DELETE = "delete_memory"
    DELETE_STORE = "delete_memory_store"


@frozen
class Request:
    """The base class of all requests. A field is declared once, with its default, its limits and its description."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = {"extra": "forbid", "use_attribute_docstrings": True}

    def __post_init__(self) -> None:
        check(self)

    def from_outside(self) -> Self:
        """Return the request as accepted from another process: without what only local code may claim."""
        return self

    def repeatable(self) -> Self:
        """Return the request with everything it needs to have the same effect when sent twice."""
        return self

    def retry(self, declared: Retry) -> Retry:
        """Return whether this request may be sent again. `declared` is what its operation says."""
        return declared

    def named_space(self) -> str:
        """Return the space that a request outside any space concerns; empty if it concerns all of them."""
        return ""


@frozen
class KeyedRequest(Request):
    """The base of requests that store messages: an idempotency key makes it safe to repeat them."""

    idempotency_key: IdempotencyKey | None = None
    """Repeating a request with the same key stores nothing twice."""

    def repeatable(self) -> Self:
        """Return it with an idempotency key of its own."""
        return self if self.idempotency_key else self.with_key(new_id("req"))

    def with_key(self, key: str) -> Self:
        """Return it with an idempotency key."""
        return replace(self, idempotency_key=key)


@frozen
class Empty(Request):
    """A request without parameters."""


RequestT = TypeVar("RequestT", bound=Request)
ResultT = TypeVar("ResultT")


@frozen(kw_only=False)
class Verb(Generic[RequestT, ResultT]):
    """One operation on a memory, such as `RECALL`."""

    name: str
    """`handle.method`, such as `facts.search`. The names in the CLI, HTTP API and MCP derive from it."""
    request: type[RequestT]
    result: Any
    """The type of the result: `type[ResultT]`, or a type such as `list[Fact]`, which has no precise annotation."""
    route: str
    """Its HTTP method and path below `/v1`, such as `POST /spaces/{space}/recall`."""
    scope: Scope
    """What a key must allow."""
    retry: Retry
    summary: str
    """What it does, in one sentence: the first line of its documentation everywhere."""
    also_reads: bool = False
    """Whether the result contains what others stored, so that the key must allow reading, too."""
    everywhere: bool = False
    """Whether it concerns all spaces, so that the key must be for all of them."""
    status: int = 200
    operation: MemoryOperation | None = None
    raises: str = ""
    """Errors to document in addition to those that any operation may raise."""
    details: str = ""
    """What may surprise."""
    positional: tuple[str, ...] = ()
    """Fields with a default that may be passed by position in Python; required fields always may."""
    timed: bool = True
    """Whether a client gives up waiting after its timeout."""
    service: str = ""
    """The module of the service that handles it: see `served_by`."""
    merge: Callable[[RequestT, Sequence[ResultT]], ResultT] | None = None
    """Combines the results of several databases into one, for an operation on all spaces."""

    @property
    def handle(self) -> str:
        """The Python handle that has the method, such as space, session or facts."""
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
        """Whether it applies to one space."""
        return "{space}" in self.path


@frozen
class HandleClass:
    """The class of the public API that a feature adds, declared as `HANDLE` next to its operations.

    The class is generated into the folder of the feature, and `parent` gets a property that returns it.
    """

    name: str
    """The name of the property, and the first part of its operations' names: `retention` of `retention.set`."""
    class_name: str
    parent: str
    """`space` or `memory`."""
    summary: str
    """One sentence about it: the docstring of class and property."""


def served_by(module: str, *verbs: Verb[Any, Any]) -> tuple[Verb[Any, Any], ...]:
    """Name the module whose services handle some operations. The first request for one of them imports it."""
    for verb in verbs:
        object.__setattr__(verb, "service", module)
    return verbs
