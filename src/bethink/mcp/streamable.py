"""Serves memory over streamable HTTP: stateless, with an API key and one JSON response per request."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from typing import Protocol

from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Connection

from bethink.api.connect import Memory
from bethink.errors import BethinkError, InvalidRequestError
from bethink.mcp.grant import Grant
from bethink.mcp.server import make_server
from bethink.model.access import Caller, Interface, KeyInfo, Scope, calling_as
from bethink.model.records import checked_name

MAX_BODY = 1_000_000
"""Maximum size of a request in bytes."""
_SPACES = "/spaces/"
_CONTENT = frozenset({Scope.READ, Scope.WRITE, Scope.ERASE})


class KeyLookup(Protocol):
    """Looks up API keys, like `memory.backend.local().keys()`."""

    async def find(self, key: str, /) -> KeyInfo | None:
        """Return the permissions of a key, or None if it is invalid."""
        ...


def http_app(
    memory: Memory, keys: KeyLookup, *, at: str = "/mcp", hosts: Sequence[str] = (), origins: Sequence[str] = ()
) -> tuple[ASGIApp, AbstractAsyncContextManager[None]]:
    """Return an ASGI app for /mcp and its subpaths, and a context manager to enter while it serves.

    The memory must be open. A key for a single space uses /mcp; other keys select a space in the path, as in
    /mcp/spaces/{space}. Without `hosts`, the app that mounts this one must check Host and Origin.

    Args:
        memory: The memory to serve.
        keys: Lookup of API keys: `memory.backend.local().keys()`.
        at: Mount path of the app.
        hosts: Allowed values of the Host header (default: all).
        origins: Allowed values of the Origin header, if `hosts` is set.
    """
    granted: ContextVar[Grant] = ContextVar("granted")
    server = make_server(memory, grant=granted.get)
    server.streamable_http_app(
        stateless_http=True,
        json_response=True,
        max_request_body_size=MAX_BODY,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=bool(hosts), allowed_hosts=list(hosts), allowed_origins=list(origins)
        ),
    )
    manager = server.session_manager
    return _Authenticated(keys, granted, manager.handle_request, at), manager.run()


class _Authenticated:
    """Authenticates requests and sets their grant. A class, because Starlette treats a function as an endpoint."""

    def __init__(self, keys: KeyLookup, granted: ContextVar[Grant], app: ASGIApp, at: str) -> None:
        self._keys = keys
        self._granted = granted
        self._app = app
        self._at = at

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1003})
            return
        path = scope["path"].removeprefix(scope.get("root_path", "")).removeprefix(self._at)
        admitted = await _admit(scope, path, self._keys)
        if isinstance(admitted, Response):
            await admitted(scope, receive, send)
            return
        grant, key = admitted
        token = self._granted.set(grant)
        try:
            with calling_as(Caller(interface=Interface.MCP, key=key)):
                await self._app(scope, receive, send)
        finally:
            self._granted.reset(token)


async def _admit(scope: Connection, path: str, keys: KeyLookup) -> tuple[Grant, KeyInfo] | Response:
    """Return the grant and key of a request, or an error response."""
    if path not in ("", "/") and not path.startswith(_SPACES):
        return _error_response(404, "Not found.", "Use /mcp or /mcp/spaces/{space}.")
    try:
        key = await keys.find(_bearer(Headers(scope=scope)))
    except BethinkError:
        return _error_response(503, "API keys cannot be checked right now.", "Try again in a moment.")
    if key is None:
        return _error_response(
            401, "Missing or invalid API key.", "Send the header Authorization: Bearer KEY.", _CHALLENGE
        )
    if scope["method"] != "POST":
        return _error_response(
            405, "Only POST is supported.", "The server is stateless and has no streams.", {"Allow": "POST"}
        )
    granted = _grant(key, path.removeprefix(_SPACES) if path.startswith(_SPACES) else "")
    return granted if isinstance(granted, Response) else (granted, key)


def _grant(key: KeyInfo, space: str) -> Grant | Response:
    if not key.scopes & _CONTENT:
        return _error_response(
            403, "This key cannot access memory.", "Use a key with the scope read, write or erase.", _MISSING_SCOPE
        )
    if not space:
        if key.spaces is None or len(key.spaces) != 1:
            return _error_response(400, "This key is not limited to a single space.", "Use /mcp/spaces/{space}.")
        (space,) = key.spaces
    elif not key.allows_space(space) or not _is_name(space):
        # The same response whether the space exists or not.
        return _error_response(404, "Space not found.", "Check the name and the spaces of the key.")
    return Grant(
        space=space,
        may_read=Scope.READ in key.scopes,
        may_write=Scope.WRITE in key.scopes,
        may_erase=Scope.ERASE in key.scopes,
        may_confirm=Scope.STEER in key.scopes,
    )


def _is_name(space: str) -> bool:
    try:
        return bool(checked_name(space, "a space"))
    except InvalidRequestError:
        return False


def _bearer(headers: Headers) -> str:
    sent = headers.getlist("authorization")
    scheme, _, key = sent[0].partition(" ") if len(sent) == 1 else ("", "", "")
    return key.strip() if scheme.lower() == "bearer" else ""


_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="bethink", error="invalid_token"'}
_MISSING_SCOPE = {"WWW-Authenticate": 'Bearer realm="bethink", error="insufficient_scope", scope="read"'}


def _error_response(status: int, message: str, hint: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"error": message, "hint": hint}, status_code=status, headers=headers)
