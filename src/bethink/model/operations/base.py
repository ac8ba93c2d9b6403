"""The `Operation` class: a request with its result, route, scope and retry class."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar

from bethink.base.frozen import frozen
from bethink.model.access import Scope
from bethink.model.checks import Between, Bytes, Cleaned, Length, Printable, check
from bethink.model.ids import new_id
from bethink.model.records import MAX_CONVERSATION

MAX_INTEGER = 2**53 - 1
"""The largest integer that every JSON parser reads exactly."""

Name = Annotated[str, Length(1, 200), Printable()]
IdempotencyKey = Annotated[str, Length(1, 180), Printable()]
Conversation = Annotated[str, Bytes(MAX_CONVERSATION)]
Question = Annotated[str, Length(0, 1_000_000), Cleaned()]
"""Text of a question, sent in the body. The maximum fits a message with a long pasted page."""
Query = Annotated[str, Length(0, 10_000), Cleaned()]
"""Text of a query. The maximum fits a URL."""
Cursor = Annotated[str, Length(0, 2_000), Printable()]
"""Cursor of the next page, as a list returned it."""
Limit = Annotated[int, Between(1, 1_000)]
Number = Annotated[int, Between(0, MAX_INTEGER)]
Budget = Annotated[int, Between(1, 10_000_000)]


@frozen(kw_only=False)
class LocalOnly:
    """Marks a field that only code in the same process can set. Requests from other processes ignore it."""


class Retry(StrEnum):
    """Rule for sending a request again after its response was lost."""

    SAFE = "safe"
    """Read-only: always safe to send again."""
    IDEMPOTENT = "idempotent"
    """Sending it twice has the same effect as sending it once."""
    ONCE = "once"
    """Never sent twice."""


class SpanName(StrEnum):
    """Span names for operations, from OpenTelemetry's GenAI conventions."""

    CREATE = "create_memory"
    UPDATE = "update_memory"
    UPSERT = "upsert_memory"
    SEARCH = "search_memory"
    DELETE = "delete_memory"
    DELETE_STORE = "delete_memory_store"


@frozen
class Request:
    """Base class of all requests. Each field is declared once, with its default, limits and description."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = {"extra": "forbid", "use_attribute_docstrings": True}

    def __post_init__(self) -> None:
        check(self)

    def from_outside(self) -> Self:
        """Return the request as accepted from another process, without fields that only local code can set."""
        return self

    def repeatable(self) -> Self:
        """Return the request with the keys and ids that make it safe to send twice."""
        return self

    def retry(self, declared: Retry) -> Retry:
        """Return the retry class of this request. `declared` is the retry class of its operation."""
        return declared

    def wait_seconds(self) -> float:
        """Return the number of seconds that the operation may wait for an event, in addition to its own work."""
        return 0.0

    def wait_at_most(self, seconds: float) -> Self:
        """Return the request with its wait limited to `seconds`."""
        del seconds
        return self

    def named_space(self) -> str:
        """Return the space named by a request on the whole memory, or an empty string for all spaces."""
        return ""

    def other_spaces(self) -> tuple[str, ...]:
        """Return the spaces that a request reads in addition to its own. The caller must be allowed to read each."""
        return ()


@frozen
class KeyedRequest(Request):
    """Base class of requests that write. An idempotency key makes them safe to repeat."""

    idempotency_key: IdempotencyKey | None = None
    """Key of this request. Repeating the request with the same key stores nothing twice (default: a new key)."""

    def repeatable(self) -> Self:
        """Return the request with an idempotency key."""
        return self if self.idempotency_key else self.with_key(new_id("req"))

    def with_key(self, key: str) -> Self:
        """Return the request with this idempotency key."""
        return replace(self, idempotency_key=key)


@frozen
class Empty(Request):
    """A request without parameters."""


RequestT = TypeVar("RequestT", bound=Request)
ResultT = TypeVar("ResultT")


@frozen(kw_only=False)
class Operation(Generic[RequestT, ResultT]):
    """Declaration of one operation, such as `RECALL`."""

    name: str
    """Path in Python, such as `space.facts.list`. The access log and the HTTP API use it too."""
    request: type[RequestT]
    result: Any
    """Type of the result: a class, or a generic type such as `list[Fact]`."""
    route: str
    """HTTP method and path below `/v1`, such as `POST /spaces/{space}/recall`."""
    scope: Scope
    """Scope that the key needs."""
    retry: Retry
    summary: str
    """First line of the documentation in every interface: one sentence of at most 110 characters."""
    also_reads: bool = False
    """Whether the result contains stored data, so the key also needs `read`."""
    everywhere: bool = False
    """Whether the operation covers all spaces, so the key must too."""
    status: int = 200
    span_name: SpanName | None = None
    raises: str = ""
    """Errors to document, in addition to those that every operation can raise: `Name: if ….`, joined by spaces."""
    details: str = ""
    """Behavior that may surprise, below the summary."""
    positional: tuple[str, ...] = ()
    """Fields with a default that Python accepts by position. It always accepts required fields by position."""
    timed: bool = True
    """Whether the client's timeout applies."""
    service: str = ""
    """Module of the service that handles the operation: see `served_by`."""
    merge: Callable[[RequestT, Sequence[ResultT]], ResultT] | None = None
    """Merges the results of several databases, for an operation on all spaces."""

    @property
    def handle(self) -> str:
        """Path of the Python handle with the method, such as `space`, `session` or `space.facts`."""
        return self.name.rpartition(".")[0]

    @property
    def method_name(self) -> str:
        """Name of the method in Python."""
        return self.name.rpartition(".")[2]

    @property
    def http_method(self) -> str:
        """GET, POST, PUT or DELETE."""
        return self.route.partition(" ")[0]

    @property
    def path(self) -> str:
        """HTTP path below `/v1`, with parameters in braces."""
        return self.route.partition(" ")[2]

    @property
    def in_space(self) -> bool:
        """Whether the operation works on one space."""
        return "{space}" in self.path


@frozen
class HandleClass:
    """A class that a feature adds to the public API, listed in `HANDLES` next to its operations.

    `tools/make_api.py` writes the class into the folder of the feature and adds a property to the parent handle.
    """

    path: str
    """Path in Python, such as `space.admin.retention`. Names of its operations start with this path."""
    class_name: str
    summary: str
    """Docstring of the class and the property: one sentence."""


def served_by(module: str, *operations: Operation[Any, Any]) -> tuple[Operation[Any, Any], ...]:
    """Set the module that handles these operations and return them. Their first request imports the module."""
    for operation in operations:
        object.__setattr__(operation, "service", module)
    return operations
