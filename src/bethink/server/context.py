"""What the routes of one server share."""

from fastapi import Request

from bethink.audit.keys import KeyService
from bethink.frozen import frozen
from bethink.handles import Backend
from bethink.model.access import KeyInfo
from bethink.server.auth import authenticate
from bethink.server.concurrency import Concurrency
from bethink.server.limits import Buckets
from bethink.server.metrics import Metrics
from bethink.server.middleware import HANDLED
from bethink.server.options import ServerOptions
from bethink.server.tracing import Tracing


@frozen
class Context:
    """What the routes of one server share."""

    backend: Backend
    keys: KeyService
    options: ServerOptions
    buckets: Buckets
    concurrency: Concurrency
    metrics: Metrics
    tracing: Tracing


async def identify(request: Request, context: Context) -> KeyInfo:
    """Return what the key of a request allows. Refuses with 401 without a valid key, with 429 if it asks too often."""
    key = await authenticate(context.keys, request.headers.get("authorization"))
    request.scope[HANDLED]["key"] = key.prefix
    context.buckets.take(key.prefix)
    return key
