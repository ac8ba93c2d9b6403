"""The routes: every operation at its path, behind the scope that it needs."""

import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from fastapi import FastAPI, Request, Response

from bethink.errors import InvalidRequestError
from bethink.host import codec
from bethink.host.codec import Unreadable
from bethink.http.context import Context, admit, admit_spaces
from bethink.http.limits import check_messages, check_structure, read_body
from bethink.http.middleware import HANDLED
from bethink.http.openapi import route_arguments
from bethink.http.problems import refusal
from bethink.http.streams import run_waiting_call
from bethink.model.operations import OPERATIONS
from bethink.model.operations.base import Operation
from bethink.store.lanes import LONG

PREFIX = "/v1"
_WITHOUT_BODY = ("GET", "DELETE")
_MAX_PARAMETERS = 50
_KEY = re.compile("[!-~]{1,180}")


def add_operations(app: FastAPI, context: Context) -> None:
    """Add the routes of all operations. An included router would match every path twice."""
    for operation in OPERATIONS:
        app.add_api_route(
            PREFIX + operation.path,
            _endpoint(operation, context),
            methods=[operation.http_method],
            status_code=operation.status,
            **route_arguments(operation),
        )


def _endpoint(operation: Operation[Any, Any], context: Context) -> Callable[[Request], Awaitable[Response]]:
    read_request = _read_query if operation.http_method in _WITHOUT_BODY else read_posted
    media_type = None if operation.result is None else "application/json"
    route = PREFIX + operation.path

    async def endpoint(request: Request) -> Response:
        key, space, names = await admit(request, context, operation, route=route)
        async with context.concurrency.large(key.prefix, request.headers):
            operation_request = await read_request(operation, request, names, context)
            admit_spaces(key, operation, operation_request)
            with context.tracing.trace_request(
                operation, space, request.headers.get("traceparent"), operation_request
            ) as traced:
                result = await _run_operation(operation, space, operation_request, context, key.prefix)
                request.scope[HANDLED]["count"] = traced.count(result)
        return Response(codec.encode_result(operation, result), operation.status, media_type=media_type)

    return endpoint


async def _run_operation(operation: Operation[Any, Any], space: str, request: Any, context: Context, key: str) -> Any:
    if not request.wait_seconds():
        return await context.backend.run(operation, space, request)
    request = request.wait_at_most(context.options.max_wait)
    return await run_waiting_call(partial(context.backend.run, operation, space, request), context, key)


async def _read_query(operation: Operation[Any, Any], request: Request, names: dict[str, str], context: Context) -> Any:
    del context
    return codec.decode_query(operation, names, _query(request.scope["query_string"]))


async def read_posted(operation: Operation[Any, Any], request: Request, names: dict[str, str], context: Context) -> Any:
    """Read a request from its body and the names in the path."""
    if request.scope["query_string"]:
        raise InvalidRequestError("This path takes no query parameters.", hint="Put them into the JSON body.")
    headers, options = request.headers, context.options
    with context.concurrency.reading(request.scope[HANDLED]["key"]):
        body = await read_body(request.receive, headers, options.max_body)
    if body and headers.get("content-type", "").lower().partition(";")[0].strip() != "application/json":
        hint = "Send Content-Type: application/json."
        raise refusal(415, "Unsupported media type", "The Content-Type is not JSON.", hint=hint)

    def decode() -> Any:
        check_structure(body, options.max_depth)
        decoded = codec.decode_body(operation, names, body or b"{}")
        check_messages(getattr(decoded, "messages", ()), options)
        return decoded

    # Long bodies are decoded outside of the event loop, one at a time.
    turn = request.path_params.get("space") or request.scope[HANDLED]["key"]
    operation_request = decode() if len(body) <= LONG else await context.lanes.run(turn, len(body), decode)
    return _apply_idempotency_key(operation_request, headers.get("idempotency-key"))


def _apply_idempotency_key(request: Any, key: str | None) -> Any:
    """Use the key in the `Idempotency-Key` header, as other HTTP APIs do."""
    if key is None or not hasattr(request, "idempotency_key"):
        return request
    if not _KEY.fullmatch(key):
        raise _header_error("must be 1 to 180 ASCII characters without spaces")
    if request.idempotency_key not in (None, key):
        raise _header_error("differs from idempotency_key in the body; send one of them")
    return request.with_key(key)


def _header_error(message: str) -> Unreadable:
    return Unreadable([{"at": "Idempotency-Key", "message": message}])


def _query(text: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(
            text.decode("latin-1"), keep_blank_values=True, max_num_fields=_MAX_PARAMETERS, errors="strict"
        )
    except UnicodeDecodeError:
        raise InvalidRequestError("The query is not UTF-8.", hint="Encode it as UTF-8.") from None
    except ValueError:
        raise InvalidRequestError(
            f"The query has more than {_MAX_PARAMETERS} parameters.", hint="Send fewer."
        ) from None
    if any("\0" in part for pair in pairs for part in pair):
        raise InvalidRequestError("The query contains a NUL character.", hint="Remove the character.")
    parameters = dict(pairs)
    if len(parameters) < len(pairs):
        raise InvalidRequestError("A query parameter occurs twice.", hint="Send each parameter once.")
    return parameters
