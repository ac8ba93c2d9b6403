"""MCP inside the server: the same keys and the same limits, at /mcp."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from starlette.datastructures import Headers
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bethink.api.connect import Memory
from bethink.http.auth import find_key
from bethink.http.context import Context, address_of
from bethink.http.limits import check_depth, read_body
from bethink.http.middleware import HANDLED
from bethink.http.slashes import unescaped

PATH = "/mcp"


class McpRoute(BaseRoute):
    """Everything at and below /mcp. The MCP app itself decides who may use it; the limits are checked here."""

    def __init__(self, app: ASGIApp, context: Context) -> None:
        self._app = app
        self._context = context

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a request is for MCP."""
        inside = scope["type"] == "http" and (scope["path"] == PATH or scope["path"].startswith(f"{PATH}/"))
        return (Match.FULL if inside else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, its body read within the limits. Without a key nothing of it is read."""
        headers, context, handled = Headers(scope=scope), self._context, scope[HANDLED]
        handled["route"] = PATH
        key = await find_key(context.keys, context.guesses, address_of(scope), headers.get("authorization"))
        if key is not None:
            handled["key"] = key.prefix
            context.buckets.take(key.prefix)
            with context.concurrency.reading(key.prefix):
                body = await read_body(receive, headers, context.options.max_body)
            check_depth(body, context.options.max_depth)
            receive = _again(body, receive)
        path, root = unescaped(scope["path"]), scope.get("root_path", "")
        await self._app({**scope, "path": path, "root_path": root + PATH}, receive, send)


def _again(body: bytes, rest: Receive) -> Receive:
    """Return a body that was already read, then whatever follows it."""
    first = True

    async def receive() -> Message:
        nonlocal first
        if not first:
            return await rest()
        first = False
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def mcp_route(memory: Memory, context: Context) -> tuple[McpRoute, AbstractAsyncContextManager[Any]] | None:
    """Return the route and what must be entered while it serves; None where the extra is not installed."""
    try:
        from bethink.mcp import http_app  # noqa: PLC0415 - it takes a second to load, and is an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        return None
    app, running = http_app(memory, context.keys)
    return McpRoute(app, context), running
