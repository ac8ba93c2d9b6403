"""The routes: every verb of the table at its path, behind the scope that it needs."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from fastapi import APIRouter, Request, Response

from bethink import codec
from bethink.audit.keys import KeyService
from bethink.errors import Invalid
from bethink.handles import Backend
from bethink.model.verbs import VERBS
from bethink.model.verbs.base import Verb
from bethink.server.auth import authenticate, authorise
from bethink.server.concurrency import Concurrency
from bethink.server.limits import Buckets, check_depth, check_messages, read_body
from bethink.server.metrics import Metrics
from bethink.server.openapi import described
from bethink.server.options import ServerOptions
from bethink.server.problems import refused
from bethink.server.slashes import unescaped
from bethink.server.tracing import Tracing

_WITHOUT_BODY = ("GET", "DELETE")
_MOST_QUERIES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What the routes of one server share."""

    backend: Backend
    keys: KeyService
    options: ServerOptions
    buckets: Buckets
    concurrency: Concurrency
    metrics: Metrics
    tracing: Tracing


def router_of(context: Context) -> APIRouter:
    """Return the routes of all verbs."""
    router = APIRouter(prefix="/v1")
    for verb in VERBS:
        router.add_api_route(
            verb.path, _endpoint(verb, context), methods=[verb.http_method], status_code=verb.status, **described(verb)
        )
    return router


def _endpoint(verb: Verb[Any, Any], context: Context) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        names = {name: unescaped(value) for name, value in request.path_params.items()}
        space = names.pop("space", "")
        await admit(request, context, verb, space=space)
        asked = await _read(verb, request, names, context)
        with context.tracing.of(verb, space, request.headers.get("traceparent"), asked) as span:
            result = await context.backend.run(verb, space, asked)
            request.scope["bethink.count"] = span.count(result)
        media_type = None if verb.result is None else "application/json"
        return Response(codec.encode_result(verb, result), verb.status, media_type=media_type)

    return endpoint


async def admit(request: Request, context: Context, verb: Verb[Any, Any], *, space: str) -> None:
    """Let in only a caller whose key allows the verb, and who has requests left."""
    key = await authenticate(context.keys, request.headers.get("authorization"))
    request.scope["bethink.key"] = key.prefix
    context.buckets.take(key.prefix)
    authorise(key, verb, space=space or None)


async def _read(verb: Verb[Any, Any], request: Request, names: dict[str, str], context: Context) -> Any:
    if verb.http_method in _WITHOUT_BODY:
        return codec.decode_query(verb, names, _query(request.scope["query_string"]))
    if request.scope["query_string"]:
        raise Invalid("this path takes no query parameters.", hint="Put them into the JSON body.")
    options = context.options
    with context.concurrency.reading(request.scope.get("bethink.key", "")):
        body = await read_body(request.receive, request.headers, options.max_body)
    if body and request.headers.get("content-type", "").lower().partition(";")[0].strip() != "application/json":
        hint = "Send application/json."
        raise refused(415, "Unsupported media type", "The body is not declared as JSON.", hint=hint)
    check_depth(body, options.max_depth)
    asked = codec.decode_body(verb, names, body or b"{}")
    check_messages(getattr(asked, "messages", ()), options)
    return _keyed(asked, request.headers.get("idempotency-key"))


def _keyed(asked: Any, key: str | None) -> Any:
    """Take the key from the header `Idempotency-Key`, as other HTTP APIs do."""
    if key is None or not hasattr(asked, "idempotency_key"):
        return asked
    return asked.with_key(key)


def _query(text: bytes) -> dict[str, str]:
    try:
        given = parse_qsl(text.decode("latin-1"), keep_blank_values=True, max_num_fields=_MOST_QUERIES, errors="strict")
    except UnicodeDecodeError:
        raise Invalid("the query is not text in UTF-8.", hint="Encode it as UTF-8.") from None
    except ValueError:
        raise Invalid(f"the query has more than {_MOST_QUERIES} parts.", hint="Send fewer.") from None
    if any("\0" in part for pair in given for part in pair):
        raise Invalid("the query contains a NUL.", hint="Leave it out.")
    return dict(given)
