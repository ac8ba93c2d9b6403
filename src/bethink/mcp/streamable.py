"""Serves memory over streamable HTTP: no sessions, one JSON answer a request, and an API key on every one."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from typing import Protocol

from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Connection

from bethink.errors import BethinkError, Invalid
from bethink.mcp.grant import Grant
from bethink.mcp.server import make_server
from bethink.memory import Memory
from bethink.model.access import KeyInfo, Scope
from bethink.model.records import checked_name

BODY = 1_000_000
"""Bytes that a request may have."""
_SPACES = "/spaces/"
_CONTENT = frozenset({Scope.READ, Scope.WRITE, Scope.ERASE})


class Keys(Protocol):
    """Says what a key is good for."""

    async def find(self, key: str, /) -> KeyInfo | None:
        """Return what is known of a key, None if it opens nothing."""
        ...


def http_app(
    memory: Memory, access: Keys, *, at: str = "/mcp", hosts: Sequence[str] = (), origins: Sequence[str] = ()
) -> tuple[ASGIApp, AbstractAsyncContextManager[None]]:
    """Return an app for /mcp and all below it, and what must be entered while it serves. The memory must be open.

    A key for one space needs no more; any other names one as /mcp/spaces/{space}. Without `hosts`, whoever mounts it
    checks the Host and Origin of requests.
    """
    granted: ContextVar[Grant] = ContextVar("granted")
    server = make_server(memory, scope=granted.get)
    server.streamable_http_app(
        stateless_http=True,
        json_response=True,
        max_request_body_size=BODY,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=bool(hosts), allowed_hosts=list(hosts), allowed_origins=list(origins)
        ),
    )
    manager = server.session_manager
    return _Entrance(access, granted, manager.handle_request, at), manager.run()


class _Entrance:
    """An ASGI app, and no function: a route takes a function for something else."""

    def __init__(self, access: Keys, granted: ContextVar[Grant], inside: ASGIApp, at: str) -> None:
        self._access = access
        self._granted = granted
        self._inside = inside
        self._at = at

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1003})
            return
        path = scope["path"].removeprefix(scope.get("root_path", "")).removeprefix(self._at)
        admitted = await _admit(scope, path, self._access)
        if isinstance(admitted, Response):
            await admitted(scope, receive, send)
            return
        token = self._granted.set(admitted)
        try:
            await self._inside(scope, receive, send)
        finally:
            self._granted.reset(token)


async def _admit(scope: Connection, path: str, access: Keys) -> Grant | Response:
    """Return what a request is granted, or the answer that refuses it."""
    if path not in ("", "/") and not path.startswith(_SPACES):
        return _refused(404, "nothing is here.", "Use /mcp, or /mcp/spaces/ and the name of a space.")
    try:
        key = await access.find(_bearer(Headers(scope=scope)))
    except BethinkError:
        return _refused(503, "keys cannot be looked up right now.", "Try again in a moment.")
    if key is None:
        return _refused(401, "no valid API key was sent.", "Send Authorization: Bearer and a key.", _CHALLENGE)
    if scope["method"] != "POST":
        return _refused(405, "only POST is served.", "There are no sessions and no streams.", {"Allow": "POST"})
    return _grant(key, path.removeprefix(_SPACES) if path.startswith(_SPACES) else "")


def _grant(key: KeyInfo, named: str) -> Grant | Response:
    if not key.scopes & _CONTENT:
        return _refused(403, "this key opens no memory.", "Use one with the scope read, write or erase.", _MORE)
    if not named:
        if key.spaces is None or len(key.spaces) != 1:
            return _refused(400, "this key is for several spaces.", "Name one: /mcp/spaces/ and its name.")
        (named,) = key.spaces
    elif not key.opens(named) or not _is_name(named):
        # The same answer whether it exists or not.
        return _refused(404, "no such space.", "Check the space and the key.")
    return Grant(
        space=named,
        may_read=Scope.READ in key.scopes,
        may_write=Scope.WRITE in key.scopes,
        may_erase=Scope.ERASE in key.scopes,
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
