"""Requests that wait for changes, and the stream that sends them as they are made (Server-Sent Events)."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
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
from bethink.http.problems import documented, refused
from bethink.model.changes import MemoryChange
from bethink.model.operations.changes import CHANGES, ChangesRequest

T = TypeVar("T")

PATH = "/v1/spaces/{space}/changes/stream"
_PAGE = 1_000
_LOOK = 1.0
"""Seconds after which a stream looks whether it should end."""
HEARTBEAT = 15.0
"""Seconds of silence after which a comment is sent, so that nothing in between takes the connection for dead."""
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
                "description": "Begin after this change; 0 for the oldest that is kept. Without it, from now on.",
                "schema": {"type": "integer", "minimum": 0, "maximum": 2**53 - 1},
            },
            {
                "name": "Last-Event-ID",
                "in": "header",
                "required": False,
                "description": "The number of the last change that was received. It comes before `after`.",
                "schema": {"type": "integer", "minimum": 0, "maximum": 2**53 - 1},
            },
        ],
    },
    "responses": {
        200: {
            "description": "A stream that ends when the server stops. The id of an event is the number of its change.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
        **documented(400, 401, 403, 404, 409, 421, 422, 429, 503),
    },
}


async def waited(call: Callable[[], Awaitable[T]], context: Context, key: str) -> T:
    """Carry out a call that may wait. It takes no one's place meanwhile, and ends when the server is told to stop."""
    found: list[T] = []
    failed: list[BethinkError] = []

    async def carry_out(scope: anyio.CancelScope) -> None:
        try:
            found.append(await call())
        except BethinkError as error:  # raised below, where no group wraps it
            failed.append(error)
        scope.cancel()

    with context.concurrency.waiting(key):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(carry_out, tasks.cancel_scope)
            while not context.concurrency.leaving():  # noqa: ASYNC110 - a signal sets it
                await anyio.sleep(_LOOK / 4)
            tasks.cancel_scope.cancel()
    if failed:
        raise failed[0]
    if not found:
        raise refused(503, "Unavailable", "The server is stopping.", hint="Ask again.", code="Busy")
    return found[0]


def event_stream(events: AsyncIterator[bytes]) -> StreamingResponse:
    """Return the response that sends events as they come, through proxies that would gather them too."""
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(events, media_type="text/event-stream", headers=headers)


def add_stream(app: FastAPI, context: Context) -> None:
    """Add the route of the stream. It is not a verb, because it does not end."""

    async def stream(request: Request) -> StreamingResponse:
        key, space, _ = await admit(request, context, CHANGES, route=PATH)
        look = partial(_look, context, space)
        after = _after(request)
        if after is None:
            newest = await context.backend.run(CHANGES, space, ChangesRequest(limit=1))
            after = newest[-1].number if newest else 0
        with context.concurrency.waiting(key.prefix):  # before the answer begins, which then has a status
            first = await look(after, 0.0)

        async def allowed() -> bool:
            given = request.headers.get("authorization")
            now = await find_key(context.keys, context.guesses, address_of(request.scope), given)
            return now is not None and now.opens(space) and now.scopes == key.scopes

        return event_stream(_events(look, after, first, allowed, context, key.prefix))

    app.add_api_route(PATH, stream, methods=["GET"], **_DOCUMENTED)


async def _look(context: Context, space: str, after: int, wait: float) -> list[MemoryChange]:
    return await context.backend.run(CHANGES, space, ChangesRequest(after=after, limit=_PAGE, wait=wait))


async def _events(  # noqa: PLR0917 - the parts of one stream
    look: Callable[[int, float], Awaitable[list[MemoryChange]]],
    after: int,
    found: list[MemoryChange],
    allowed: Callable[[], Awaitable[bool]],
    context: Context,
    key: str,
) -> AsyncIterator[bytes]:
    with context.concurrency.waiting(key):
        yield b"id: %d\n\n" % after  # who is cut off before the first change begins again here
        said = time.monotonic()
        while True:
            for change in found:
                yield b"id: %d\ndata: %s\n\n" % (change.number, codec.adapter(MemoryChange).dump_json(change))
                after = change.number
            if found:
                said = time.monotonic()
            elif time.monotonic() - said >= HEARTBEAT:
                if not await allowed():
                    return
                yield b":\n\n"
                said = time.monotonic()
            if context.concurrency.leaving():
                return
            found = await look(after, _LOOK)


def _after(request: Request) -> int | None:
    given = request.headers.get("last-event-id") or request.query_params.get("after")
    where = "Last-Event-ID" if request.headers.get("last-event-id") else "after"
    unknown = [name for name in request.query_params if name != "after"]
    if unknown:
        raise Unreadable([{"at": unknown[0][:100], "message": "unknown query parameter"}])
    if given is None:
        return None
    if not (given.isascii() and given.isdigit() and len(given) <= 16):
        raise Unreadable([{"at": where, "message": "must be the number of a change"}])
    return int(given)
