"""Shared state of the routes of a server."""

from typing import Any

from fastapi import Request
from starlette.types import Scope

from bethink.base.frozen import frozen
from bethink.host.backend import Backend
from bethink.http.auth import authenticate, authorize
from bethink.http.concurrency import Concurrency
from bethink.http.limits import Buckets, Guesses
from bethink.http.metrics import Metrics
from bethink.http.middleware import HANDLED
from bethink.http.options import ServerOptions
from bethink.http.slashes import restore_slashes
from bethink.http.tracing import Tracing
from bethink.memory.access.keys import KeyRing
from bethink.model.access import Caller, Interface, KeyInfo, caller
from bethink.model.operations.base import Operation
from bethink.model.operations.base import Request as OperationRequest
from bethink.model.records import checked_name
from bethink.store.lanes import Lanes


@frozen
class Context:
    """Shared state of the routes of a server."""

    backend: Backend
    keys: KeyRing
    lanes: Lanes
    options: ServerOptions
    buckets: Buckets
    guesses: Guesses
    concurrency: Concurrency
    metrics: Metrics
    tracing: Tracing


def address_of(scope: Scope) -> str:
    """Return the client address of a request; empty if it has none, as on a Unix socket."""
    client = scope.get("client")
    return client[0] if client else ""


async def identify(request: Request, context: Context) -> KeyInfo:
    """Return the key of a request. Rejects an invalid key with 401, and too many requests with 429."""
    key = await authenticate(
        context.keys, context.guesses, address_of(request.scope), request.headers.get("authorization")
    )
    caller.set(Caller(interface=Interface.HTTP, key=key))  # until the middleware resets it
    request.scope[HANDLED]["key"] = key.prefix
    context.buckets.take(key.prefix)
    return key


async def admit(
    request: Request, context: Context, operation: Operation[Any, Any], *, route: str
) -> tuple[KeyInfo, str, dict[str, str]]:
    """Check that the key of a request allows an operation. Returns the key, the space, and the other path names."""
    handled: dict[str, Any] = request.scope[HANDLED]
    handled.update(route=route, operation=operation.name)
    names = {name: restore_slashes(value) for name, value in request.path_params.items()}
    space = names.pop("space", None)
    key = await identify(request, context)
    authorize(key, operation, space=space)
    if space is not None:
        handled["space"] = checked_name(space, "a space")
    return key, space or "", names


def admit_spaces(key: KeyInfo, operation: Operation[Any, Any], request: OperationRequest) -> None:
    """Check that a key allows the other spaces that a request reads."""
    for space in request.other_spaces():
        authorize(key, operation, space=checked_name(space, "a space"))
