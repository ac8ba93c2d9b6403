"""A route is declared as FastAPI wants it, for the OpenAPI, and run by the short way below."""

import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import parse_qsl, unquote

from fastapi import Request
from fastapi.responses import JSONResponse, PlainTextResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter, ValidationError

from bethink.audit.keys import Access
from bethink.memory import Memory
from bethink.model.access import Scope
from bethink.model.records import Session
from bethink.server.auth import authenticate, authorise
from bethink.server.limits import Buckets, check_depth, read_body
from bethink.server.metrics import Metrics
from bethink.server.names import Operation
from bethink.server.options import ServerOptions
from bethink.server.places import Places
from bethink.server.problems import documented, nothing, refused
from bethink.server.tracing import Tracing, Trail
from bethink.server.wire import adapter_for

AsgiScope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Endpoint = Callable[..., Awaitable[Any]]

_JSON = b"application/json"
_ENCODED_SLASH = re.compile(rb"%2[fF]")
_ALWAYS = (400, 401, 403, 421, 422, 429, 503)
_MOST_ERRORS = 20
_MOST_QUERIES = 50
_MOST_SESSIONS = 10_000
_SHOWN = 50
SLASH = "\udc2f"
"""Stands for a slash inside a name while a path is matched; no path that is decoded can hold it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """What every route of one server shares."""

    memory: Memory
    access: Access
    options: ServerOptions
    buckets: Buckets
    places: Places
    metrics: Metrics
    tracing: Tracing
    sessions: dict[tuple[str, str], Session] = field(default_factory=dict[tuple[str, str], Session])
    """Sessions that were written to of late, as they once stood."""


class Call(Request):
    """One request that may come in, and what it is about."""

    door: Door
    space: str = ""
    trail: Trail

    @property
    def memory(self) -> Memory:
        """The memory behind the door."""
        return self.door.memory

    async def find_session(self, session_id: str) -> Session:
        """Return a session of the space. Raises `NotFound`."""
        found = await self.memory.get_session(space=self.space, session_id=session_id)
        if found is None:
            raise nothing()
        return found

    async def session_to_write(self, session_id: str) -> Session:
        """Return a session as it may once have stood: enough to append to, which looks for itself whether it is there.

        It saves every append a transaction of its own to find what it writes to.
        """
        sessions, place = self.door.sessions, (self.space, session_id)
        found = sessions.get(place)
        if found is None:
            found = sessions[place] = await self.find_session(session_id)
            if len(sessions) > _MOST_SESSIONS:
                del sessions[next(iter(sessions))]
        return found

    async def session_or_none(self, session_id: str | None) -> Session | None:
        """Return a session of the space if one is named."""
        return None if session_id is None else await self.find_session(session_id)


class VerbRoute(APIRoute):
    """Checks the key, reads what was sent, calls one verb, and writes what it returns."""

    def __init__(self, path: str, endpoint: Endpoint, *, verb: "Verb", **described: Any) -> None:
        super().__init__(path, endpoint, **described)
        self.verb = verb
        self._scopes = verb.scopes
        self.app = self._serve
        body = self.body_field
        self._body: TypeAdapter[Any] | None = (
            None if body is None else TypeAdapter(cast("Any", body.field_info.annotation))
        )
        self._body_name = "" if body is None else self.dependant.body_params[0].name
        self._answer = None if verb.answer is None else adapter_for(verb.answer)
        self._call_name = cast("str", self.dependant.request_param_name)
        self._media_type = verb.media_type.encode()

    async def _serve(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        door: Door = scope["app"].state.door
        headers: dict[bytes, bytes] = dict(scope["headers"])
        call = Call(scope, receive)
        call.door = door
        named = scope["path_params"]
        if SLASH in scope["path"]:
            scope["path_params"] = named = {name: value.replace(SLASH, "/") for name, value in named.items()}
        call.space = named.get("space", "")
        if not self.verb.open:
            key = await authenticate(door.access, headers)
            scope["bethink.key"] = key.prefix
            door.buckets.take(key.prefix)
            authorise(key, self._scopes, space=call.space or None, everywhere=self.verb.everywhere)
        arguments = self._arguments(scope, headers)
        if self._body is not None:
            with door.places.coming(scope.get("bethink.key", "")):
                sent = await self._raw(receive, headers, door.options)
            arguments[self._body_name] = self._read(sent)
        arguments[self._call_name] = call
        operation = self.verb.operation
        within = nullcontext() if operation is None else door.tracing.span(operation, space=call.space, headers=headers)
        with within as span:
            call.trail = Trail(span, content=door.tracing.content)
            value = await self.endpoint(**arguments)
            scope["bethink.count"] = call.trail.count
        await self._write(value, send)

    async def _write(self, value: Any, send: Send) -> None:
        body = value if self._answer is None else self._answer.dump_json(value, warnings=False)
        body = body or b""
        headers = [(b"content-length", str(len(body)).encode())]
        if self.verb.status != 204:
            headers = [(b"content-type", self._media_type), *headers]
        await send({"type": "http.response.start", "status": self.verb.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _raw(self, receive: Receive, headers: Mapping[bytes, bytes], options: ServerOptions) -> bytes:
        body = await read_body(receive, headers, options.max_body)
        if body and headers.get(b"content-type", b"").lower().partition(b";")[0].strip() != _JSON:
            raise refused(
                415, "Unsupported media type", "The body is not said to be JSON.", hint="Send application/json."
            )
        check_depth(body, options.max_depth)
        return body or b"{}"

    def _read(self, body: bytes) -> BaseModel:
        assert self._body is not None  # noqa: S101 - asked by the caller
        try:
            return self._body.validate_json(body, strict=True)
        except ValidationError as error:
            raise unfit([("body", each) for each in error.errors(include_url=False, include_input=False)]) from None

    def _arguments(self, scope: AsgiScope, headers: Mapping[bytes, bytes]) -> dict[str, Any]:
        dependant = self.dependant
        found: dict[str, Any] = {}
        wrong: list[tuple[str, Any]] = []

        def take(where: str, fields: Any, given: Mapping[str, str]) -> None:
            for each in fields:
                value = given.get(each.alias)
                if value is None and not each.field_info.is_required():
                    found[each.name] = each.get_default()
                    continue
                checked, errors = each.validate(value, {}, loc=(each.alias,))
                found[each.name] = checked
                wrong.extend((where, error) for error in errors)

        take("path", dependant.path_params, scope["path_params"])
        if dependant.query_params or scope["query_string"]:
            given = _query(scope["query_string"])
            take("query", dependant.query_params, given)
            unknown = given.keys() - {each.alias for each in dependant.query_params}
            wrong.extend(("query", {"loc": (name[:_SHOWN],), "msg": "Nobody knows this"}) for name in sorted(unknown))
        if dependant.header_params:
            given = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers.items()}
            take("header", dependant.header_params, given)
        if wrong:
            raise unfit(wrong)
        return found


def keep_slashes(scope: AsgiScope) -> AsgiScope:
    """Keep slashes that were sent as part of a name, as %2F, apart from those between names.

    The scope that was given stays as it is: whoever serves us may write its path to a log, which could not hold ours.
    """
    raw: bytes = scope.get("raw_path") or b""
    if b"%2" not in raw or b"%2F" not in raw.upper():
        return scope
    parts = _ENCODED_SLASH.split(raw.partition(b"?")[0])
    return {**scope, "path": SLASH.join(unquote(part.decode("latin-1")) for part in parts)}


def _query(text: bytes) -> dict[str, str]:
    try:
        given = parse_qsl(text.decode("latin-1"), keep_blank_values=True, max_num_fields=_MOST_QUERIES, errors="strict")
        if any("\0" in part for pair in given for part in pair):
            raise refused(422, "Invalid", "The query holds a NUL.", hint="Leave it out.")
        return dict(given)
    except UnicodeDecodeError:
        raise refused(422, "Invalid", "The query is no text in UTF-8.", hint="Encode it as UTF-8.") from None
    except ValueError:
        raise refused(422, "Invalid", f"The query has more than {_MOST_QUERIES} parts.") from None


def unfit(errors: list[tuple[str, Any]]) -> Exception:
    """Refuse what does not fit its description, saying where and why, without repeating what was sent."""
    told = [
        {"at": ".".join(map(str, (where, *error["loc"]))), "message": str(error["msg"])}
        for where, error in errors[:_MOST_ERRORS]
    ]
    first = told[0]
    return refused(
        422,
        "Invalid",
        f"{first['at']}: {first['message']}",
        hint="See /openapi.json for what is taken.",
        more={"errors": told},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """What a route needs and gives: the scope of its key, the type of its answer, and the name of its span.

    `tells` says that the answer holds what others stored, so that it needs `read`, too; `everywhere`, a key for all
    spaces.
    """

    scope: Scope | None = None
    tells: bool = False
    everywhere: bool = False
    answer: Any = None
    status: int = 200
    operation: Operation | None = None
    open: bool = False
    media_type: str = "application/json"

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Every scope that a key must have."""
        return (*filter(None, (self.scope,)), *((Scope.READ,) if self.tells else ()))


class Verbs:
    """A group of routes below one path."""

    def __init__(self, prefix: str, group: str) -> None:
        self.routes: list[VerbRoute] = []
        self._prefix = prefix
        self._group = group

    def add(self, method: str, path: str, verb: Verb, *, also: tuple[int, ...] = ()) -> Callable[[Endpoint], Endpoint]:
        """Declare a route. `also` are statuses it may answer with beyond those that any route may."""

        def declare(endpoint: Endpoint) -> Endpoint:
            full = self._prefix + path
            named = (404,) if "{" in full else ()
            sent = (408, 413, 415) if method in ("POST", "PUT") else ()
            statuses = sorted({*((400, 421, 503) if verb.open else _ALWAYS), *named, *sent, *also})
            security: list[dict[str, list[str]]] = [] if verb.open else [{"key": list(map(str, verb.scopes))}]
            self.routes.append(
                VerbRoute(
                    full,
                    endpoint,
                    verb=verb,
                    methods=[method],
                    status_code=verb.status,
                    response_model=verb.answer,
                    responses=documented(*statuses),
                    operation_id=endpoint.__name__,
                    tags=[self._group],
                    openapi_extra={"security": security},
                    response_class=JSONResponse if verb.answer is not None else PlainTextResponse,
                )
            )
            return endpoint

        return declare
