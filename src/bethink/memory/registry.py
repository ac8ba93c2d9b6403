"""Services: a class marks its methods with the operations they handle, and makes itself from a host.

The first request for an operation imports the module that its declaration names, and nothing else.
"""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from bethink.base.frozen import frozen
from bethink.model.operations.base import RequestT, ResultT, Verb

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

_MARK, _ACROSS = "__handles__", "__across__"


class Host(Protocol):
    """An open memory in this process, from which a service makes itself in `of(host)`.

    A service of a higher layer may ask for more: it names a protocol of its layer that extends this one.
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
        """Return what searches, with the embedder and the reranker of the settings."""
        ...

    def answerer(self) -> "Answerer | None":
        """Return what answers questions with the model; None without a model."""
        ...

    def keys(self) -> "KeyRing":
        """Return the API keys. It is always the same object, because it caches which keys are valid."""
        ...

    def listeners(self) -> "Listeners":
        """Return who is notified of stored messages."""
        ...

    def working(self, space: str) -> "WorkingMemory":
        """Return the working memory of a space."""
        ...

    def learns_with_model(self) -> bool:
        """Return whether sessions are learned from with a model."""
        ...

    def start_learning(self) -> None:
        """Start to learn in the background, if this process does that."""
        ...

    async def run(self, verb: Verb[RequestT, ResultT], space: str, request: RequestT) -> ResultT:
        """Carry out another operation."""
        ...


def handles(
    verb: Verb[RequestT, ResultT],
) -> Callable[[Method[ServiceT, RequestT, ResultT]], Method[ServiceT, RequestT, ResultT]]:
    """Mark the method of a service that handles an operation. Its types must be those of the operation."""

    def mark(method: Method[ServiceT, RequestT, ResultT]) -> Method[ServiceT, RequestT, ResultT]:
        setattr(method, _MARK, (*getattr(method, _MARK, ()), verb.name))
        return method

    return mark


@frozen
class InSpace:
    """A space, and how to run an operation in it, wherever it is stored."""

    name: str
    run: Callable[[Verb[Any, Any], Any], Awaitable[Any]]


Across = Callable[[RequestT, Sequence[InSpace]], Coroutine[Any, Any, ResultT]]


def handles_across(
    verb: Verb[RequestT, ResultT],
) -> Callable[[Across[RequestT, ResultT]], Across[RequestT, ResultT]]:
    """Mark a function of the module that handles an operation space by space, whatever databases they are in."""

    def mark(function: Across[RequestT, ResultT]) -> Across[RequestT, ResultT]:
        setattr(function, _ACROSS, verb.name)
        return function

    return mark


def across(verb: Verb[RequestT, ResultT]) -> Across[RequestT, ResultT] | None:
    """Return the function that handles an operation space by space, if it has one."""
    functions = vars(import_module(verb.service)).values()
    return next((function for function in functions if getattr(function, _ACROSS, None) == verb.name), None)


def handlers_for(verb: Verb[Any, Any], host: Host) -> dict[str, Handler]:
    """Import the module of an operation, make its services, and return their methods by operation."""
    module = import_module(verb.service)
    return {
        name: handler
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == verb.service
        for name, handler in _handlers(value, host).items()
    }


def _handlers(service: type[Any], host: Host) -> dict[str, Handler]:
    marked = {verb: name for name, method in vars(service).items() for verb in getattr(method, _MARK, ())}
    if not marked:
        return {}
    made = service.of(host)  # it must neither raise nor open anything: the call is not recorded yet
    return {verb: getattr(made, name) for verb, name in marked.items()}
