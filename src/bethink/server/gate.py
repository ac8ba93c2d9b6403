"""The outermost part of the door: turns away strangers and crowds, and notes every request once it is answered."""

import logging
import random
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_to_bytes

from bethink.server.logs import requests, whereabouts
from bethink.server.metrics import Metrics
from bethink.server.options import ServerOptions
from bethink.server.places import Places
from bethink.server.problems import MEDIA_TYPE, Problem, Refused, problem_for, refused
from bethink.server.route import AsgiScope, Receive, Send, keep_slashes

App = Callable[[AsgiScope, Receive, Send], Any]

_OPEN = frozenset({"/healthz", "/readyz"})
_ELSEWHERE = "(none)"
_LENGTHS = frozenset({b"content-length", b"transfer-encoding"})
_METHODS = frozenset({"GET", "POST", "PUT", "DELETE"})
"""Those that are counted by name: a stranger may make up others without end."""


class Gate:
    """Pure ASGI. What it decides needs no key: the names we are called by, web pages, and how many are inside."""

    def __init__(self, app: App, *, options: ServerOptions, metrics: Metrics, places: Places) -> None:
        self._app = app
        self._options = options
        self._metrics = metrics
        self._places = places
        metrics.in_progress.set_function(lambda: places.inside)

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Let one request in, and answer for whatever becomes of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 0
        request_id = f"{random.getrandbits(64):016x}"

        async def noting(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", request_id.encode())]
            await send(message)

        self._places.inside += 1
        failure: Exception | None = None
        try:
            _check_form(scope)
            self._check(scope)
            scope = keep_slashes(scope)
            await self._app(scope, receive, noting)
        except Exception as error:  # noqa: BLE001 - whatever it is, whoever asked is answered, and told nothing of it
            failure = error
            if not status:
                await answer(problem_for(error), noting)
        finally:
            self._places.inside -= 1
            self._note(scope, status, time.perf_counter() - began, request_id, failure)

    def _check(self, scope: AsgiScope) -> None:
        host = origin = b""
        keys = 0
        for name, value in scope["headers"]:
            if name == b"host":
                host = value
            elif name == b"origin":
                origin = value
            elif name == b"authorization":
                keys += 1
        if keys > 1:
            raise refused(401, "Unauthorized", "More than one key was sent.", hint="Send one Authorization header.")
        if not _called(host.decode("latin-1").lower(), self._options.allowed_hosts):
            raise refused(
                421,
                "Misdirected request",
                "This server is not called by that name.",
                hint="Name it in server_allowed_hosts.",
            )
        if origin and origin.decode("latin-1").lower() not in self._options.allowed_origins:
            raise refused(
                403,
                "Forbidden",
                "Web pages of that origin may not call this server.",
                hint="Name it in server_allowed_origins.",
            )
        if scope["path"] not in _OPEN:
            self._places.check()

    def _note(self, scope: AsgiScope, status: int, seconds: float, request_id: str, failure: Exception | None) -> None:
        route = getattr(scope.get("route"), "path_format", _ELSEWHERE)
        method = scope["method"] if route is not _ELSEWHERE and scope["method"] in _METHODS else "-"
        self._metrics.answered(method, route, status, seconds)
        measure = self._measures(route, method)
        if measure is not None:
            measure(status, seconds)
        if not requests.isEnabledFor(logging.INFO):
            return
        fields: dict[str, Any] = {
            "request_id": request_id,
            "method": method,
            "route": route,
            "status": status,
            "ms": round(seconds * 1000, 2),
            "key": scope.get("bethink.key"),
            "space": scope.get("path_params", {}).get("space"),
            "count": scope.get("bethink.count"),
        }
        level = logging.INFO
        if failure is not None:
            fields["error"] = type(failure).__name__
        if failure is not None and status >= 500:
            level, fields["where"] = logging.ERROR, whereabouts(failure)
        requests.log(level, "request", extra={"fields": fields})

    def _measures(self, route: str, method: str) -> Callable[[int, float], None] | None:
        last = route.rpartition("/")[2]
        if method == "POST" and last in ("remember", "messages"):
            return self._metrics.captured
        return {"recall": self._metrics.recalled, "forget": self._metrics.forgot}.get(last)


def _check_form(scope: AsgiScope) -> None:
    """Refuse what can be read in two ways: a body of two lengths, and a path of bytes that are no text.

    Bytes that cannot be read would all become the same name, and PostgreSQL holds no NUL.
    """
    if len({name for name, _ in scope["headers"] if name in _LENGTHS}) > 1:
        raise _unreadable("The length of the body is told in two ways.", hint="Send Content-Length alone.")
    raw: bytes = scope.get("raw_path") or b""
    readable = "\0" not in scope["path"]
    if b"%" in raw:
        try:
            unquote_to_bytes(raw).decode()
        except UnicodeDecodeError:
            readable = False
    if not readable:
        raise _unreadable("The path is no text in UTF-8.", hint="Encode names as UTF-8, without control characters.")


def _unreadable(detail: str, *, hint: str) -> Refused:
    # Closed, because where this request ends and the next begins may be in doubt.
    return refused(400, "Bad request", detail, hint=hint, headers=[(b"connection", b"close")])


def _called(host: str, allowed: frozenset[str]) -> bool:
    if "*" in allowed:
        return True
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    return name in allowed


async def answer(problem: Problem, send: Send) -> None:
    """Write a problem as an answer."""
    body = problem.body()
    headers = [
        (b"content-type", MEDIA_TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
        *problem.headers,
    ]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
