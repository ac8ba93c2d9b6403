"""Serves memory over streamable HTTP: without sessions, one JSON answer per request, each with an API key."""

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
from bethink.errors import BethinkError, Invalid
from bethink.mcp.grant import Grant
from bethink.mcp.server import make_server
from bethink.model.access import Caller, Door, KeyInfo, Scope, asked_by
from bethink.model.records import checked_name

BODY = 1_000_000
"""How many bytes a request may have."""
_SPACES = "/spaces/"
_CONTENT = frozenset({Scope.READ, Scope.WRITE, Scope.ERASE})


class KeyLookup(Protocol):
    """Finds API keys, as `memory.local().keys()` does."""

    async def find(self, key: str, /) -> KeyInfo | None:
        """Return what a key allows, or None if it is not valid."""
        ...


def http_app(
    memory: Memory, keys: KeyLookup, *, at: str = "/mcp", hosts: Sequence[str] = (), origins: Sequence[str] = ()
) -> tuple[ASGIApp, AbstractAsyncContextManager[None]]:
    """Return an ASGI app for /mcp and everything below it, and a context to enter while it serves.

    The memory must be open. A key for a single space is served at /mcp; any other key names its space in the address,
    as in /mcp/spaces/{space}. Without `hosts`, the app that mounts this one has to check Host and Origin.

    Args:
        memory: The memory to serve.
        keys: Where API keys are looked up: `memory.local().keys()`.
        at: The path that the app is mounted at.
        hosts: The values of the Host header that are answered; any, if empty.
        origins: The values of the Origin header that are answered, where `hosts` are given.
    """
    granted: ContextVar[Grant] = ContextVar("granted")
    server = make_server(memory, grant=granted.get)
    server.streamable_http_app(
        stateless_http=True,
        json_response=True,
        max_request_body_size=BODY,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=bool(hosts), allowed_hosts=list(hosts), allowed_origins=list(origins)
        ),
    )
    manager = server.session_manager
    return _Authenticated(keys, granted, manager.handle_request, at), manager.run()


class _Authenticated:
    """Lets a request in with what its key grants. A class, because Starlette takes a function for an endpoint."""

    def __init__(self, keys: KeyLookup, granted: ContextVar[Grant], inside: ASGIApp, at: str) -> None:
        self._keys = keys
        self._granted = granted
        self._inside = inside
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
            with asked_by(Caller(door=Door.MCP, key=key)):
                await self._inside(scope, receive, send)
        finally:
            self._granted.reset(token)


async def _admit(scope: Connection, path: str, keys: KeyLookup) -> tuple[Grant, KeyInfo] | Response:
    """Return what a request is granted and by which key, or the response that refuses it."""
    if path not in ("", "/") and not path.startswith(_SPACES):
        return _refused(404, "not found.", "Use /mcp or /mcp/spaces/{space}.")
    try:
        key = await keys.find(_bearer(Headers(scope=scope)))
    except BethinkError:
        return _refused(503, "API keys cannot be checked right now.", "Try again in a moment.")
    if key is None:
        return _refused(401, "no valid API key was sent.", "Send the header Authorization: Bearer KEY.", _CHALLENGE)
    if scope["method"] != "POST":
        return _refused(
            405, "only POST is supported.", "The server keeps no sessions and opens no streams.", {"Allow": "POST"}
        )
    granted = _grant(key, path.removeprefix(_SPACES) if path.startswith(_SPACES) else "")
    return granted if isinstance(granted, Response) else (granted, key)


def _grant(key: KeyInfo, named: str) -> Grant | Response:
    if not key.scopes & _CONTENT:
        return _refused(
            403, "this key does not open any memory.", "Use one with the scope read, write or erase.", _MORE
        )
    if not named:
        if key.spaces is None or len(key.spaces) != 1:
            return _refused(400, "this key is not for a single space.", "Name one in the address: /mcp/spaces/{space}.")
        (named,) = key.spaces
    elif not key.opens(named) or not _is_name(named):
        # The same answer whether the space exists or not.
        return _refused(404, "space not found.", "Check its name, and which spaces the key is for.")
    return Grant(
        space=named,
        may_read=Scope.READ in key.scopes,
        may_write=Scope.WRITE in key.scopes,
        may_erase=Scope.ERASE in key.scopes,
        may_confirm=Scope.STEER in key.scopes,
    )


def _is_name(space: str) -> bool:
    try:
        return bool(checked_name(space, "a space"))
    except Invalid:
        return False


def _bearer(headers: Headers) -> str:
    sent = headers.getlist("authorization")
    scheme, _, key = sent[0].partition(" ") if len(sent) == 1 else ("", "", "")
    return key.strip() if scheme.lower() == "bearer" else ""


_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="bethink", error="invalid_token"'}
_MORE = {"WWW-Authenticate": 'Bearer realm="bethink", error="insufficient_scope", scope="read"'}


def _refused(status: int, message: str, hint: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"error": message, "hint": hint}, status_code=status, headers=headers)
