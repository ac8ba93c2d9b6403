"""MCP inside the server: the same keys and the same limits, at /mcp."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from starlette.routing import BaseRoute, Match

from bethink.audit.keys import Access
from bethink.memory import Memory
from bethink.server.auth import find_key
from bethink.server.limits import Buckets, check_depth, read_body
from bethink.server.options import ServerOptions
from bethink.server.places import Places
from bethink.server.route import SLASH, AsgiScope, Receive, Send

PATH = "/mcp"


class McpRoute(BaseRoute):
    """Everything at and below /mcp. Who may come in there, it decides by itself; how often, is decided here."""

    path_format = PATH

    def __init__(self, app: Any, access: Access, options: ServerOptions, buckets: Buckets, places: Places) -> None:
        self._app = app
        self._access = access
        self._options = options
        self._buckets = buckets
        self._places = places

    def matches(self, scope: Any) -> tuple[Match, Any]:
        """Say whether a request is for MCP."""
        inside = scope["type"] == "http" and (scope["path"] == PATH or scope["path"].startswith(f"{PATH}/"))
        return (Match.FULL, {"route": self}) if inside else (Match.NONE, {})

    async def handle(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Pass a request on, its body read within the limits; without a key nothing of it is read."""
        headers: Mapping[bytes, bytes] = dict(scope["headers"])
        key = await find_key(self._access, headers)
        if key is not None:
            scope["bethink.key"] = key.prefix
            self._buckets.take(key.prefix)
            with self._places.coming(key.prefix):
                body = await read_body(receive, headers, self._options.max_body)
            check_depth(body, self._options.max_depth)
            receive = _again(body, receive)
        path = scope["path"].replace(SLASH, "/")
        await self._app({**scope, "path": path, "root_path": scope.get("root_path", "") + PATH}, receive, send)


def _again(body: bytes, rest: Receive) -> Receive:
    """Give out a body that was read, then whatever comes after it."""
    first = True

    async def receive() -> Any:
        nonlocal first
        if not first:
            return await rest()
        first = False
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def mcp_route(
    memory: Memory, access: Access, options: ServerOptions, buckets: Buckets, places: Places
) -> tuple[McpRoute, AbstractAsyncContextManager[None]] | None:
    """Return the route and what must be entered while it serves; None where the extra is not installed."""
    try:
        from bethink.mcp import http_app  # noqa: PLC0415 - it takes a second to load, and is an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        return None
    app, running = http_app(memory, access)
    return McpRoute(app, access, options, buckets, places), running
