"""MCP inside the server: the same keys and the same limits, at /mcp."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from starlette.routing import BaseRoute, Match

from bethink.access import Access
from bethink.memory import Memory
from bethink.server.auth import find_key
from bethink.server.limits import Buckets, too_large
from bethink.server.options import ServerOptions
from bethink.server.route import SLASH, AsgiScope, Receive, Send

PATH = "/mcp"


class McpRoute(BaseRoute):
    """Everything at and below /mcp. Who may come in there, it decides by itself; how often, is decided here."""

    path_format = PATH

    def __init__(self, app: Any, access: Access, options: ServerOptions, buckets: Buckets) -> None:
        self._app = app
        self._access = access
        self._options = options
        self._buckets = buckets

    def matches(self, scope: Any) -> tuple[Match, Any]:
        """Say whether a request is for MCP."""
        inside = scope["type"] == "http" and (scope["path"] == PATH or scope["path"].startswith(f"{PATH}/"))
        return (Match.FULL, {"route": self}) if inside else (Match.NONE, {})

    async def handle(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Pass a request on, counting it and its bytes."""
        headers: Mapping[bytes, bytes] = dict(scope["headers"])
        key = await find_key(self._access, headers)
        if key is not None:
            scope["bethink.key"] = key.prefix
            self._buckets.take(key.prefix)
        most, size = self._options.max_body, 0

        async def counting() -> Any:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > most:
                raise too_large("Bytes of a body", most)
            return message

        path = scope["path"].replace(SLASH, "/")
        await self._app({**scope, "path": path, "root_path": scope.get("root_path", "") + PATH}, counting, send)


def mcp_route(
    memory: Memory, access: Access, options: ServerOptions, buckets: Buckets
) -> tuple[McpRoute, AbstractAsyncContextManager[None]] | None:
    """Return the route and what must be entered while it serves; None where the extra is not installed."""
    try:
        from bethink.mcp import http_app  # noqa: PLC0415 - it takes a second to load, and is an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        return None
    app, running = http_app(memory, access)
    return McpRoute(app, access, options, buckets), running
