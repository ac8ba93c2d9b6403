"""What the routes of one server share."""

from typing import Any

from fastapi import Request
from starlette.types import Scope

from bethink.base.frozen import frozen
from bethink.host.backend import Backend
from bethink.http.auth import authenticate, authorise
from bethink.http.concurrency import Concurrency
from bethink.http.limits import Buckets, Guesses
from bethink.http.metrics import Metrics
from bethink.http.middleware import HANDLED
from bethink.http.options import ServerOptions
from bethink.http.slashes import unescaped
from bethink.http.tracing import Tracing
from bethink.memory.access.keys import KeyRing
from bethink.model.access import Caller, Door, KeyInfo, caller
from bethink.model.operations.base import Verb
from bethink.model.records import checked_name


@frozen
class Context:
    """What the routes of one server share."""

    backend: Backend
    keys: KeyRing
    options: ServerOptions
    buckets: Buckets
    guesses: Guesses
    concurrency: Concurrency
    metrics: Metrics
    tracing: Tracing


def address_of(scope: Scope) -> str:
    """Return the address that a request came from; empty where it has none, as on a socket file."""
    client = scope.get("client")
    return client[0] if client else ""


async def identify(request: Request, context: Context) -> KeyInfo:
    """Return what the key of a request allows. Refuses with 401 without a valid key, with 429 if it asks too often."""
    key = await authenticate(
        context.keys, context.guesses, address_of(request.scope), request.headers.get("authorization")
    )
    caller.set(Caller(door=Door.HTTP, key=key))  # until the middleware takes it back
    request.scope[HANDLED]["key"] = key.prefix
    context.buckets.take(key.prefix)
    return key


async def admit(
    request: Request, context: Context, verb: Verb[Any, Any], *, route: str
) -> tuple[KeyInfo, str, dict[str, str]]:
    """Check that the key of a request allows a verb. Returns the key, the space, and the other names in the path."""
    handled: dict[str, Any] = request.scope[HANDLED]
    handled.update(route=route, verb=verb.name)
    names = {name: unescaped(value) for name, value in request.path_params.items()}
    space = names.pop("space", None)
    key = await identify(request, context)
    authorise(key, verb, space=space)
    if space is not None:
        handled["space"] = checked_name(space, "a space")
    return key, space or "", names
