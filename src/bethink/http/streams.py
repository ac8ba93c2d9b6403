"""Requests that wait for changes, and the stream of changes (Server-Sent Events)."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import anyio
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from bethink.errors import BethinkError
from bethink.host import codec
from bethink.host.codec import Unreadable
from bethink.http.auth import find_key
from bethink.http.context import Context, address_of, admit
from bethink.http.problems import error_responses, refusal
from bethink.model.changes import Change
from bethink.model.operations.changes import LIST_CHANGES, ListChangesRequest

T = TypeVar("T")

PATH = "/v1/spaces/{space}/changes/stream"
_PAGE = 1_000
_POLL = 1.0
"""Seconds between checks whether a stream should end."""
HEARTBEAT = 15.0
"""Seconds of silence after which a comment is sent, so that proxies keep the connection open."""
_DOCUMENTED: dict[str, Any] = {
    "operation_id": "changes_stream",
    "summary": "Send each change of the space as it is made, as Server-Sent Events.",
    "tags": ["space"],
    "response_model": None,
    "response_class": StreamingResponse,
    "openapi_extra": {
        "security": [{"key": ["read"]}],
        "parameters": [
            {
                "name": "space",
                "in": "path",
                "required": True,
                "description": "The name of the space.",
                "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": r"^[^\x00-\x1f\x7f]*$"},
            },
            {
                "name": "after",
                "in": "query",
                "required": False,
                "description": "Start after this change; 0 for the oldest available. By default, only new changes.",
                "schema": {"type": "integer", "minimum": 0, "maximum": 2**53 - 1},
            },
            {
                "name": "Last-Event-ID",
                "in": "header",
                "required": False,
                "description": "The number of the last received change. It overrides `after`.",
                "schema": {"type": "integer", "minimum": 0, "maximum": 2**53 - 1},
            },
        ],
    },
    "responses": {
        200: {
            "description": "A stream that ends when the server stops. The id of an event is the number of its change.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
        **error_responses(400, 401, 403, 404, 409, 421, 422, 429, 503),
    },
}


async def run_waiting_call(call: Callable[[], Awaitable[T]], context: Context, key: str) -> T:
    """Run a call that may wait. It does not count as active, and ends when the server stops."""
    results: list[T] = []
    failed: list[BethinkError] = []

    async def carry_out(scope: anyio.CancelScope) -> None:
        try:
            results.append(await call())
        except BethinkError as error:  # raised below, where no group wraps it
            failed.append(error)
        scope.cancel()

    with context.concurrency.waiting(key):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(carry_out, tasks.cancel_scope)
            while not context.concurrency.is_stopping():  # noqa: ASYNC110 - a signal sets it
                await anyio.sleep(_POLL / 4)
            tasks.cancel_scope.cancel()
    if failed:
        raise failed[0]
    if not results:
        raise refusal(
            503, "Unavailable", "The server is stopping.", hint="Send the request again.", code="DatabaseBusyError"
        )
    return results[0]


def event_stream(events: AsyncIterator[bytes]) -> StreamingResponse:
    """Return a response that sends events immediately, without buffering in proxies."""
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(events, media_type="text/event-stream", headers=headers)


def add_stream(app: FastAPI, context: Context) -> None:
    """Add the route of the stream. It is not an operation, because it does not end."""

    async def stream(request: Request) -> StreamingResponse:
        key, space, _ = await admit(request, context, LIST_CHANGES, route=PATH)
        fetch = partial(_fetch_changes, context, space)
        after = _start_after(request)
        if after is None:
            newest = await context.backend.run(LIST_CHANGES, space, ListChangesRequest(limit=1))
            after = newest[-1].number if newest else 0
        with context.concurrency.waiting(key.prefix):  # before the response starts, so that an error has a status
            first = await fetch(after, 0.0)

        async def is_allowed() -> bool:
            header = request.headers.get("authorization")
            now = await find_key(context.keys, context.guesses, address_of(request.scope), header)
            return now is not None and now.allows_space(space) and now.scopes == key.scopes

        return event_stream(_events(fetch, after, first, is_allowed, context, key.prefix))

    app.add_api_route(PATH, stream, methods=["GET"], **_DOCUMENTED)


async def _fetch_changes(context: Context, space: str, after: int, wait: float) -> Sequence[Change]:
    return await context.backend.run(LIST_CHANGES, space, ListChangesRequest(after=after, limit=_PAGE, wait=wait))


async def _events(  # noqa: PLR0917 - the arguments of one stream
    fetch: Callable[[int, float], Awaitable[Sequence[Change]]],
    after: int,
    changes: Sequence[Change],
    is_allowed: Callable[[], Awaitable[bool]],
    context: Context,
    key: str,
) -> AsyncIterator[bytes]:
    with context.concurrency.waiting(key):
        yield b"id: %d\n\n" % after  # a client that is disconnected before the first change resumes here
        last_sent = time.monotonic()
        while True:
            for change in changes:
                yield b"id: %d\ndata: %s\n\n" % (change.number, codec.adapter(Change).dump_json(change))
                after = change.number
            if changes:
                last_sent = time.monotonic()
            elif time.monotonic() - last_sent >= HEARTBEAT:
                if not await is_allowed():
                    return
                yield b":\n\n"
                last_sent = time.monotonic()
            if context.concurrency.is_stopping():
                return
            changes = await fetch(after, _POLL)


def _start_after(request: Request) -> int | None:
    value = request.headers.get("last-event-id") or request.query_params.get("after")
    where = "Last-Event-ID" if request.headers.get("last-event-id") else "after"
    unknown = [name for name in request.query_params if name != "after"]
    if unknown:
        raise Unreadable([{"at": unknown[0][:100], "message": "unknown query parameter"}])
    if value is None:
        return None
    if not (value.isascii() and value.isdigit() and len(value) <= 16):
        raise Unreadable([{"at": where, "message": "must be the number of a change"}])
    return int(value)
