"""Services: a class marks its methods with the operations they handle, and is created from a host.

The first request for an operation imports the module that its declaration names, and nothing else.
"""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from bethink.base.frozen import frozen
from bethink.model.operations.base import Operation, RequestT, ResultT

if TYPE_CHECKING:
    from bethink.config.settings import Settings
    from bethink.extend import Redactor
    from bethink.memory.access.keys import KeyRing
    from bethink.memory.answering.answerer import Answerer
    from bethink.memory.log.listeners import Listeners
    from bethink.memory.recall.search import Searcher
    from bethink.memory.working.memory import WorkingMemory
    from bethink.store.db import Database

ServiceT = TypeVar("ServiceT")
Method = Callable[[ServiceT, str, RequestT], Coroutine[Any, Any, ResultT]]
Handler = Callable[[str, Any], Awaitable[Any]]

_HANDLES, _ACROSS = "__handles__", "__across__"


class Host(Protocol):
    """An open memory in this process. A service is created from it with `from_host(host)`.

    A service of a higher layer may need more: its layer then has a protocol that extends this one.
    """

    @property
    def database(self) -> "Database":
        """The database."""
        ...

    @property
    def redactor(self) -> "Redactor":
        """Removes secrets from texts before they are stored."""
        ...

    @property
    def settings(self) -> "Settings":
        """The settings that the memory was built from."""
        ...

    def searcher(self) -> "Searcher":
        """Return the searcher, with the embedder and the reranker of the settings."""
        ...

    def answerer(self) -> "Answerer | None":
        """Return the answerer, which answers questions with the model; None without a model."""
        ...

    def keys(self) -> "KeyRing":
        """Return the API keys. It is always the same object, because it caches which keys are valid."""
        ...

    def listeners(self) -> "Listeners":
        """Return the callbacks that run after messages are stored."""
        ...

    def working(self, space: str) -> "WorkingMemory":
        """Return the working memory of a space."""
        ...

    def learns_with_model(self) -> bool:
        """Return whether sessions are learned from with a model."""
        ...

    def start_learning(self) -> None:
        """Start background learning, if this process learns."""
        ...

    async def run(self, operation: Operation[RequestT, ResultT], space: str, request: RequestT) -> ResultT:
        """Run another operation."""
        ...


def handles(
    operation: Operation[RequestT, ResultT],
) -> Callable[[Method[ServiceT, RequestT, ResultT]], Method[ServiceT, RequestT, ResultT]]:
    """Mark the method of a service that handles an operation. Its types must be those of the operation."""

    def mark(method: Method[ServiceT, RequestT, ResultT]) -> Method[ServiceT, RequestT, ResultT]:
        setattr(method, _HANDLES, (*getattr(method, _HANDLES, ()), operation.name))
        return method

    return mark


@frozen
class InSpace:
    """A space, and how to run an operation in it, wherever it is stored."""

    name: str
    run: Callable[[Operation[Any, Any], Any], Awaitable[Any]]


Across = Callable[[RequestT, Sequence[InSpace]], Coroutine[Any, Any, ResultT]]


def handles_across(
    operation: Operation[RequestT, ResultT],
) -> Callable[[Across[RequestT, ResultT]], Across[RequestT, ResultT]]:
    """Mark a function of the module that handles an operation space by space, in any database."""

    def mark(function: Across[RequestT, ResultT]) -> Across[RequestT, ResultT]:
        setattr(function, _ACROSS, operation.name)
        return function

    return mark


def across(operation: Operation[RequestT, ResultT]) -> Across[RequestT, ResultT] | None:
    """Return the function that handles an operation space by space, if it has one."""
    functions = vars(import_module(operation.service)).values()
    return next((function for function in functions if getattr(function, _ACROSS, None) == operation.name), None)


def handlers_for(operation: Operation[Any, Any], host: Host) -> dict[str, Handler]:
    """Import the module of an operation, create its services, and return their methods by operation."""
    module = import_module(operation.service)
    return {
        name: handler
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == operation.service
        for name, handler in _handlers(value, host).items()
    }


def _handlers(service: type[Any], host: Host) -> dict[str, Handler]:
    marked = {operation: name for name, method in vars(service).items() for operation in getattr(method, _HANDLES, ())}
    if not marked:
        return {}
    instance = service.from_host(host)  # it must not raise or open anything: the call is not recorded yet
    return {operation: getattr(instance, name) for operation, name in marked.items()}
