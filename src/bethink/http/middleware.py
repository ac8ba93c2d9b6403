"""Checks before each request, and metrics and a log line after it."""

import logging
import random
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bethink.base.log_lines import error_location
from bethink.base.logs import logger
from bethink.http.concurrency import Concurrency
from bethink.http.limits import Pace
from bethink.http.metrics import Metrics
from bethink.http.options import ServerOptions
from bethink.http.problems import MEDIA_TYPE, Problem, RefusedRequest, problem_for, refusal
from bethink.http.slashes import protect_slashes
from bethink.model.access import Caller, Interface, calling_as
from bethink.model.operations.memory import FORGET, RECALL, REMEMBER
from bethink.model.operations.sessions import APPEND

HANDLED = "bethink"
"""The key in a scope for data of the log and the metrics: route, operation, key, space, count."""

requests = logger("server")

_PROBE_PATHS = frozenset({"/healthz", "/readyz"})
"""Paths of probes. They are answered while the server is full, and logged only on errors."""
_ANY_HOST = _PROBE_PATHS | {"/metrics"}
"""Paths that accept any Host header, for requests by container address."""
_UI_PATH = "/ui"
"""The web UI checks the origin itself, because its own pages send one, too."""
_NO_ROUTE = "(none)"
_SMALL = 16_384
"""Bytes of a part of a body that costs hardly more than its request."""
_LENGTHS = frozenset({b"content-length", b"transfer-encoding"})
_METHODS = frozenset({"GET", "POST", "PUT", "DELETE"})
"""The methods that are counted by name. Callers could invent any number of others."""


class RequestMiddleware:
    """ASGI middleware with the checks that need no key: Host and Origin headers, and concurrency."""

    def __init__(self, app: ASGIApp, *, options: ServerOptions, metrics: Metrics, concurrency: Concurrency) -> None:
        self._app = app
        self._options = options
        self._metrics = metrics
        self._concurrency = concurrency
        self._pace = Pace()
        metrics.follow(lambda: concurrency.active)
        self._measures: dict[str, Callable[[int, float], None]] = {
            REMEMBER.name: metrics.count_capture,
            APPEND.name: metrics.count_capture,
            RECALL.name: metrics.time_recall,
            FORGET.name: metrics.time_deletion,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request. Every error becomes a response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 0
        request_id = f"{random.getrandbits(64):016x}"
        handled: dict[str, Any] = {"request_id": request_id}

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = message.get("headers", ())
                if not any(name == b"x-request-id" for name, _ in headers):  # the ID of a model's response stays
                    message["headers"] = [*headers, (b"x-request-id", request_id.encode())]
            await send(message)

        async def receive_at_pace() -> Message:
            message = await receive()
            size = len(message.get("body", b""))
            if size > _SMALL:
                await self._pace.wait(handled.get("key", ""), size)
            return message

        self._concurrency.active += 1
        failure: Exception | None = None
        try:
            self._concurrency.check_connections()
            _check_unambiguous(scope)
            self._check(scope)
            with calling_as(Caller(interface=Interface.HTTP)):  # until the key is known, only for this request
                await self._app({**protect_slashes(scope), HANDLED: handled}, receive_at_pace, send_and_note)
        except Exception as error:  # noqa: BLE001 - the caller always gets a response, without details
            failure = error
            if not status:
                await answer(problem_for(error), send_and_note)
        finally:
            self._concurrency.active -= 1
            self._note(scope["method"], handled, status, time.perf_counter() - began, request_id, failure)
            # Its traceback has this frame, which has the error: a cycle that holds the body until garbage is collected.
            failure = None

    def _check(self, scope: Scope) -> None:
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
            raise refusal(401, "Unauthorized", "More than one key was sent.", hint="Send one Authorization header.")
        any_host = scope["path"] in _ANY_HOST
        if not any_host and not _is_allowed(host.decode("latin-1").lower(), self._options.allowed_hosts):
            raise refusal(
                421,
                "Misdirected request",
                "The Host header names another server.",
                hint="Add the name to `server_allowed_hosts`.",
            )
        foreign = origin and origin.decode("latin-1").lower() not in self._options.allowed_origins
        if foreign and not f"{scope['path']}/".startswith(f"{_UI_PATH}/"):
            raise refusal(
                403,
                "Forbidden",
                "Web pages of this origin may not call the server.",
                hint="Add the origin to `server_allowed_origins`.",
            )
        if scope["path"] not in _PROBE_PATHS:
            self._concurrency.check()

    def _note(  # noqa: PLR0917 - the fields of one log line
        self,
        method: str,
        handled: dict[str, Any],
        status: int,
        seconds: float,
        request_id: str,
        failure: Exception | None,
    ) -> None:
        route = handled.get("route", _NO_ROUTE)
        method = method if route is not _NO_ROUTE and method in _METHODS else "-"
        self._metrics.count_request(method, route, status, seconds)
        measure = self._measures.get(handled.get("operation", ""))
        if measure is not None:
            measure(status, seconds)
        broken = failure is not None and status >= 500
        level = logging.ERROR if broken else logging.DEBUG if route in _PROBE_PATHS else logging.INFO
        if not requests.isEnabledFor(level):
            return
        fields: dict[str, Any] = {
            "request_id": request_id,
            "method": method,
            "route": route,
            "status": status,
            "ms": round(seconds * 1000, 2),
            "key": handled.get("key"),
            "space": handled.get("space"),
            "count": handled.get("count"),
        }
        if failure is not None:
            fields["error"] = type(failure).__name__
            if broken:
                fields["where"] = error_location(failure)
        requests.log(level, "request", extra={"fields": fields})


def _check_unambiguous(scope: Scope) -> None:
    """Reject ambiguous requests: a body with two lengths, and a path that is not text.

    Bytes that are not UTF-8 would all become the same name, and PostgreSQL stores no NUL.
    """
    if len({name for name, _ in scope["headers"] if name in _LENGTHS}) > 1:
        raise _unreadable_error(
            "The request has both Content-Length and Transfer-Encoding.", hint="Send only Content-Length."
        )
    raw: bytes = scope.get("raw_path") or b""
    readable = "\0" not in scope["path"]
    if b"%" in raw:
        try:
            unquote_to_bytes(raw).decode()
        except UnicodeDecodeError:
            readable = False
    if not readable:
        raise _unreadable_error("The path is not UTF-8.", hint="Encode names as UTF-8, without control characters.")


def _unreadable_error(detail: str, *, hint: str) -> RefusedRequest:
    # Closed, because the end of this request may be ambiguous.
    return refusal(400, "Bad request", detail, hint=hint, headers=[(b"connection", b"close")])


def _is_allowed(host: str, allowed: frozenset[str]) -> bool:
    if "*" in allowed:
        return True
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    return name in allowed


async def answer(problem: Problem, send: Send) -> None:
    """Send a problem as the response."""
    body = problem.body()
    headers = [
        (b"content-type", MEDIA_TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
        *problem.headers,
    ]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
