"""The routes: every operation at its path, behind the scope that it needs."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from fastapi import FastAPI, Request, Response

from bethink.errors import Invalid
from bethink.host import codec
from bethink.host.codec import Unreadable
from bethink.http.context import Context, admit
from bethink.http.limits import check_depth, check_messages, read_body
from bethink.http.middleware import HANDLED
from bethink.http.openapi import described
from bethink.http.problems import refused
from bethink.http.streams import waited
from bethink.model.operations import VERBS
from bethink.model.operations.base import Verb

PREFIX = "/v1"
_WITHOUT_BODY = ("GET", "DELETE")
_MOST_PARAMETERS = 50
_KEY = re.compile("[!-~]{1,180}")


def add_verbs(app: FastAPI, context: Context) -> None:
    """Add the routes of all verbs. A router that is included would match every path twice."""
    for verb in VERBS:
        app.add_api_route(
            PREFIX + verb.path,
            _endpoint(verb, context),
            methods=[verb.http_method],
            status_code=verb.status,
            **described(verb),
        )


def _endpoint(verb: Verb[Any, Any], context: Context) -> Callable[[Request], Awaitable[Response]]:
    read = _read_query if verb.http_method in _WITHOUT_BODY else read_posted
    media_type = None if verb.result is None else "application/json"
    route = PREFIX + verb.path

    async def endpoint(request: Request) -> Response:
        key, space, names = await admit(request, context, verb, route=route)
        asked = await read(verb, request, names, context)
        with context.tracing.of(verb, space, request.headers.get("traceparent"), asked) as traced:
            result = await _carry_out(verb, space, asked, context, key.prefix)
            request.scope[HANDLED]["count"] = traced.count(result)
        return Response(codec.encode_result(verb, result), verb.status, media_type=media_type)

    return endpoint


async def _carry_out(verb: Verb[Any, Any], space: str, asked: Any, context: Context, key: str) -> Any:
    if not getattr(asked, "wait", 0):
        return await context.backend.run(verb, space, asked)
    asked = replace(asked, wait=min(asked.wait, context.options.max_wait))
    return await waited(partial(context.backend.run, verb, space, asked), context, key)


async def _read_query(verb: Verb[Any, Any], request: Request, names: dict[str, str], context: Context) -> Any:
    del context
    return codec.decode_query(verb, names, _query(request.scope["query_string"]))


async def read_posted(verb: Verb[Any, Any], request: Request, names: dict[str, str], context: Context) -> Any:
    """Read a request from its body and the names in its path."""
    if request.scope["query_string"]:
        raise Invalid("this path takes no query parameters.", hint="Put them into the JSON body.")
    headers, options = request.headers, context.options
    with context.concurrency.reading(request.scope[HANDLED]["key"]):
        body = await read_body(request.receive, headers, options.max_body)
    if body and headers.get("content-type", "").lower().partition(";")[0].strip() != "application/json":
        hint = "Send Content-Type: application/json."
        raise refused(415, "Unsupported media type", "The body is not declared as JSON.", hint=hint)
    check_depth(body, options.max_depth)
    asked = codec.decode_body(verb, names, body or b"{}")
    check_messages(getattr(asked, "messages", ()), options)
    return _keyed(asked, headers.get("idempotency-key"))


def _keyed(asked: Any, key: str | None) -> Any:
    """Take the key from the header `Idempotency-Key`, as other HTTP APIs do."""
    if key is None or not hasattr(asked, "idempotency_key"):
        return asked
    if not _KEY.fullmatch(key):
        raise _in_header("must be 1 to 180 ASCII characters without spaces")
    if asked.idempotency_key not in (None, key):
        raise _in_header("differs from idempotency_key in the body; send one of them")
    return asked.with_key(key)


def _in_header(message: str) -> Unreadable:
    return Unreadable([{"at": "Idempotency-Key", "message": message}])


def _query(text: bytes) -> dict[str, str]:
    try:
        given = parse_qsl(
            text.decode("latin-1"), keep_blank_values=True, max_num_fields=_MOST_PARAMETERS, errors="strict"
        )
    except UnicodeDecodeError:
        raise Invalid("the query is not UTF-8.", hint="Encode it as UTF-8.") from None
    except ValueError:
        raise Invalid(f"the query has more than {_MOST_PARAMETERS} parameters.", hint="Send fewer.") from None
    if any("\0" in part for pair in given for part in pair):
        raise Invalid("the query contains a NUL.", hint="Leave it out.")
    found = dict(given)
    if len(found) < len(given):
        raise Invalid("a query parameter is given twice.", hint="Send each of them once.")
    return found
