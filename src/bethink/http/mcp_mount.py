"""MCP inside the server at /mcp, with the same keys and limits."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from starlette.datastructures import Headers
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bethink.api.connect import Memory
from bethink.http.auth import find_key
from bethink.http.context import Context, address_of
from bethink.http.limits import check_structure, read_body
from bethink.http.middleware import HANDLED
from bethink.http.slashes import restore_slashes
from bethink.store.lanes import Lanes

PATH = "/mcp"


class McpRoute(BaseRoute):
    """The route of /mcp and everything below it. It checks the limits; the MCP app checks access."""

    def __init__(self, app: ASGIApp, context: Context) -> None:
        self._app = app
        self._context = context
        # The app parses bodies on the event loop: one long body at a time, and keys take turns. The turns are not those
        # of the database, which its operations take.
        self._lanes = Lanes(context.lanes)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a request is for MCP."""
        inside = scope["type"] == "http" and (scope["path"] == PATH or scope["path"].startswith(f"{PATH}/"))
        return (Match.FULL if inside else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on after reading its body within the limits. Without a key, the body is not read."""
        headers, context, handled = Headers(scope=scope), self._context, scope[HANDLED]
        handled["route"] = PATH
        body, turn = b"", self._lanes.turn("", 0)
        key = await find_key(context.keys, context.guesses, address_of(scope), headers.get("authorization"))
        if key is not None:
            handled["key"] = key.prefix
            context.buckets.take(key.prefix)
            with context.concurrency.reading(key.prefix):
                body = await read_body(receive, headers, context.options.max_body)
            receive = _replay_body(body, receive)
            turn = self._lanes.turn(key.prefix, len(body))
        path, root = restore_slashes(scope["path"]), scope.get("root_path", "")
        async with turn:
            await turn.run(lambda _: check_structure(body, context.options.max_depth))
            await self._app({**scope, "path": path, "root_path": root + PATH}, receive, send)


def _replay_body(body: bytes, receive_next: Receive) -> Receive:
    """Return a `receive` that replays a body and then continues with the original."""
    first = True

    async def receive() -> Message:
        nonlocal first
        if not first:
            return await receive_next()
        first = False
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def mcp_route(memory: Memory, context: Context) -> tuple[McpRoute, AbstractAsyncContextManager[Any]] | None:
    """Return the route and its context manager, or None if the extra is not installed."""
    try:
        from bethink.mcp import http_app  # noqa: PLC0415 - an optional extra that takes a second to load
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        return None
    app, running = http_app(memory, context.keys)
    return McpRoute(app, context), running
