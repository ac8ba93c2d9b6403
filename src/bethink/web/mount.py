"""The window as a part of the server: everything at and below /ui."""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qs

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from bethink.api.connect import Memory
from bethink.errors import InvalidRequestError
from bethink.host import codec
from bethink.http.context import Context, address_of
from bethink.http.limits import read_body
from bethink.http.middleware import HANDLED
from bethink.http.problems import MEDIA_TYPE, problem_for, refusal
from bethink.http.slashes import restore_slashes
from bethink.model.access import KeyInfo
from bethink.model.records import checked_name
from bethink.web import static
from bethink.web.navigation import load_menu_counts
from bethink.web.pages import ROUTES
from bethink.web.render import render, render_problem
from bethink.web.security import COOKIE, HEADERS, SAFE, check_origin, cookies, theme_of
from bethink.web.sessions import WebSessions
from bethink.web.sign_in import SignIn
from bethink.web.visit import ROOT, Goto, PageRoute, Visit

_MAX_FIELDS = 100
_FORM = "application/x-www-form-urlencoded"
_PATTERNS = [(re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", route.path)), route) for route in ROUTES]
_NO_STORE = (b"cache-control", b"no-store")
_FOREVER = (b"cache-control", b"public, max-age=31536000, immutable")

Answer = tuple[int, bytes, Sequence[tuple[bytes, bytes]]]


def add_web_ui(app: FastAPI, context: Context, memory: Memory) -> None:
    """Serve the web UI at /ui."""
    app.router.routes.append(WebUIRoute(context, WebSessions(memory.backend.local().database)))


class WebUIRoute(BaseRoute):
    """Answers requests to the web UI with a page, a redirect, a static file or an error page."""

    def __init__(self, context: Context, sessions: WebSessions) -> None:
        self._context = context
        self._sessions = sessions
        self._sign_in = SignIn(context, sessions)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a request is for the web UI."""
        own = (ROOT, f"{ROOT}.json")
        inside = scope["type"] == "http" and (scope["path"] in own or scope["path"].startswith(f"{ROOT}/"))
        return (Match.FULL if inside else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. An error is shown as a page and raised again, to be counted and logged."""
        failure: Exception | None = None
        try:
            status, body, headers = await self._answer(scope, receive)
        except Exception as error:  # noqa: BLE001 - as in the middleware: every error gets a response
            failure = error
            status, body, headers = self._error_response(scope, error)
        head = [*HEADERS, (b"content-length", str(len(body)).encode()), *headers]
        await send({"type": "http.response.start", "status": status, "headers": head})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
        if failure is not None:
            raise failure

    async def _answer(self, scope: Scope, receive: Receive) -> Answer:
        path, method = scope["path"].removeprefix(ROOT) or "/", scope["method"]
        handled, headers = scope[HANDLED], Headers(scope=scope)
        handled["route"] = ROOT
        if path.startswith("/static/"):
            return _static(path, headers)
        check_origin(method, headers)
        query = _fields(scope["query_string"])
        form = await self._form(receive, headers) if method not in SAFE else {}
        session_id = cookies(headers.get("cookie", "")).get(COOKIE, "")
        if path in self._sign_in.paths:
            theme = theme_of(headers.get("cookie", ""))
            client = address_of(scope)
            return await self._sign_in.answer(
                path, method, query=query, form=form, session_id=session_id, theme=theme, address=client
            )
        twin = scope.get("raw_path", b"").partition(b"?")[0].endswith(b".json")
        route, names = _match_route(path.removesuffix(".json") or "/" if twin else path, method)
        key = await self._sessions.find(session_id)
        if key is None:
            return self._sign_in.require_sign_in(scope, twin=twin)
        visit = self._visit(scope, key, names, query=query, form=form)
        handled["route"], handled["key"] = ROOT + route.path, key.prefix
        if visit.space:
            handled["space"] = checked_name(visit.space, "a space")
        self._context.buckets.take(key.prefix)
        return await (_twin(route, visit) if twin else _page(route, visit))

    def _visit(
        self,
        scope: Scope,
        key: KeyInfo,
        names: Mapping[str, str],
        *,
        query: Mapping[str, Sequence[str]],
        form: Mapping[str, Sequence[str]],
    ) -> Visit:
        headers = Headers(scope=scope)
        return Visit(
            context=self._context,
            key=key,
            path=scope.get("raw_path", b"").partition(b"?")[0].decode("latin-1"),
            names=names,
            query=query,
            form=form,
            theme=theme_of(headers.get("cookie", "")),
            host=headers.get("host", ""),
        )

    async def _form(self, receive: Receive, headers: Headers) -> dict[str, list[str]]:
        with self._context.concurrency.reading("web-ui"):
            body = await read_body(receive, headers, self._context.options.max_body)
        if body and headers.get("content-type", "").lower().partition(";")[0].strip() != _FORM:
            raise refusal(415, "Unsupported media type", "Expected a form.", hint="Submit the page's form.")
        return _fields(body)

    def _error_response(self, scope: Scope, error: Exception) -> Answer:
        problem = problem_for(error)
        headers = [_NO_STORE, *problem.headers]
        if scope["path"].endswith(".json"):
            return problem.status, problem.body(), [*headers, (b"content-type", MEDIA_TYPE.encode())]
        theme, request_id = theme_of(Headers(scope=scope).get("cookie", "")), scope[HANDLED].get("request_id", "")
        body = render_problem(problem, theme=theme, request_id=request_id)
        return problem.status, body, [*headers, _HTML]


_HTML = (b"content-type", b"text/html; charset=utf-8")


async def _page(route: PageRoute, visit: Visit) -> Answer:
    result = await route.handler(visit)
    if isinstance(result, Goto):
        return 303, b"", [_NO_STORE, (b"location", result.address.encode()), *result.headers]
    twin = route.twin(visit) if route.twin is not None else None
    return (
        result.status,
        render(result, visit, twin=twin, menu_counts=await load_menu_counts(visit)),
        [_NO_STORE, _HTML],
    )


async def _twin(route: PageRoute, visit: Visit) -> Answer:
    twin = route.twin(visit) if route.twin is not None else None
    if twin is None:
        raise _no_page()
    operation, request = twin
    body = codec.encode_result(operation, await visit.run(operation, request))
    return 200, body, [_NO_STORE, (b"content-type", b"application/json")]


def _match_route(path: str, method: str) -> tuple[PageRoute, dict[str, str]]:
    method = "GET" if method == "HEAD" else method
    path_exists = False
    for pattern, route in _PATTERNS:
        match = pattern.fullmatch(path)
        if match is None:
            continue
        if route.method == method:
            return route, {name: restore_slashes(value) for name, value in match.groupdict().items()}
        path_exists = True
    if path_exists:
        raise refusal(
            405, "Method not allowed", "This page does not accept this method.", hint="Go back and open the page."
        )
    raise _no_page()


def _no_page() -> Exception:
    return refusal(
        404, "No such page", "The web UI has no page at this address.", hint="Check the address.", code="NoSuchPath"
    )


def _fields(text: bytes) -> dict[str, list[str]]:
    try:
        fields = parse_qs(
            text.decode("ascii"), keep_blank_values=True, max_num_fields=_MAX_FIELDS, errors="strict", separator="&"
        )
    except UnicodeDecodeError:
        raise InvalidRequestError("The request is not valid UTF-8.", hint="Encode it as UTF-8.") from None
    except ValueError:
        raise InvalidRequestError(
            f"The request has more than {_MAX_FIELDS} fields.", hint="Send fewer fields."
        ) from None
    if any("\0" in part for name, values in fields.items() for part in (name, *values)):
        raise InvalidRequestError("The request contains a NUL character.", hint="Remove the character.")
    return fields


def _static(path: str, headers: Headers) -> Answer:
    _, _, version, name = path.split("/", 3) if path.count("/") == 3 else ("", "", "", "")
    file = static.files().get(name)
    if file is None or version != static.version():
        raise _no_page()
    packed = file.packed if "gzip" in headers.get("accept-encoding", "") else None
    more = [(b"content-encoding", b"gzip")] if packed is not None else []
    head = [(b"content-type", file.media_type.encode()), _FOREVER, (b"vary", b"accept-encoding"), *more]
    return 200, file.plain if packed is None else packed, head
