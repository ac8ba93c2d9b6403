"""Puts the server together, and runs it."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from http import HTTPStatus
from importlib.metadata import version
from socket import socket
from typing import Any, cast

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.openapi.utils import get_openapi
from opentelemetry.trace import TracerProvider
from starlette.exceptions import HTTPException

from bethink.build import memory_from
from bethink.memory import Memory
from bethink.providers.default_redactor import redactor_for
from bethink.server import (
    logs,
    problems,
    routes_documents,
    routes_facts,
    routes_memory,
    routes_service,
    routes_sessions,
    routes_threads,
)
from bethink.server.address import listen
from bethink.server.gate import Gate
from bethink.server.limits import Buckets
from bethink.server.metrics import Metrics
from bethink.server.mounted import mcp_route
from bethink.server.one_write import OneWrite, files
from bethink.server.options import ServerOptions, options_from
from bethink.server.places import Places
from bethink.server.problems import Problem
from bethink.server.route import Door
from bethink.server.tracing import Tracing
from bethink.settings import Settings

_GROUPS = (routes_memory, routes_sessions, routes_facts, routes_documents, routes_threads, routes_service)
_SILENT = {"tracing": False, "metrics": False, "logs": False}
_LEAVING = 30
"""Seconds that requests have to be finished when the server is told to stop."""
_CONNECTIONS = 4
"""How many times as many connections as requests are served at once, as far as there are files left for others."""
_QUEUE = 256
"""Connections that may wait to be taken: all of them are taken at once, and each is a file."""

_ABOUT = (
    "Memory for AI agents that you can audit. Send `Authorization: Bearer bt_…` with every request. "
    "What goes wrong is told as problem details; `code` names the error and `hint` the next step."
)


def create_app(
    memory: Memory, *, options: ServerOptions | None = None, tracer_provider: TracerProvider | None = None
) -> FastAPI:
    """Make the server of a memory, which it opens when it starts and closes when it ends."""
    options = options or ServerOptions()
    door = Door(
        memory=memory,
        access=memory.access(),
        options=options,
        buckets=Buckets(rate=options.rate, burst=options.burst),
        places=Places(options.max_concurrency),
        metrics=Metrics(),
        tracing=Tracing(tracer_provider),
    )
    mcp = mcp_route(memory, door.access, options, door.buckets, door.places) if options.mcp else None

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        del app
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(memory)
            if mcp is not None:
                await stack.enter_async_context(mcp[1])
            yield

    app = FastAPI(
        title="Bethink",
        version=version("bethink"),
        description=_ABOUT,
        docs_url=None,  # they would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        telemetry=cast("Any", _SILENT),  # it would tell of bodies and paths; our own spans do not
    )
    app.state.door = door
    app.add_middleware(cast("Any", Gate), options=options, metrics=door.metrics, places=door.places)
    app.add_exception_handler(HTTPException, _untold)
    for group in _GROUPS:
        app.router.routes.extend(group.verbs.routes)
    if mcp is not None:
        app.router.routes.append(mcp[0])
    app.openapi = lambda: _openapi(app)
    return app


def _untold(request: Request, error: Exception) -> Response:
    """Answer for a path or a method that is not there."""
    del request
    status = cast("HTTPException", error).status_code
    title = HTTPStatus(status).phrase
    # A path that is not there is told apart from a thing that is not: who gets it has the wrong address.
    code = "NoSuchPath" if status == HTTPStatus.NOT_FOUND else title.title().replace(" ", "")
    hint = "See /openapi.json for every path and its methods."
    problem = Problem(status=status, title=title, detail=f"{title}.", code=code, hint=hint)
    headers = dict(cast("HTTPException", error).headers or {})
    return Response(problem.body(), status, headers, problems.MEDIA_TYPE)


def _openapi(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        parts = schema.setdefault("components", {})
        parts.setdefault("schemas", {})["Problem"] = problems.SCHEMA
        parts["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer", "bearerFormat": "bt_prefix.secret"}}
        app.openapi_schema = schema
    return app.openapi_schema


class _Announced(uvicorn.Server):
    """Says where it listens once it does."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[str], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            port = next((each.getsockname()[1] for server in self.servers for each in server.sockets), self.config.port)
            host = f"[{self.config.host}]" if ":" in self.config.host else self.config.host
            logs.requests.info("running on http://%s:%s", host, port)  # uvicorn says it only of what it bound itself
            self._ready(f"http://{host}:{port}")


def serve(settings: Settings, *, ready: Callable[[str], None] | None = None) -> None:
    """Serve the memory that the settings describe until told to stop; what was accepted by then is finished first.

    `ready` is called with the address when it listens. Raises `Unavailable` where it cannot listen, and `SystemExit`
    if it did not start for another reason.
    """
    sockets = listen(settings.server_host, settings.server_port)
    memory = memory_from(settings)
    logs.to_stderr(redactor_for(None))
    options = options_from(settings)
    most = min(_CONNECTIONS * options.max_concurrency, files() // 2)
    config = uvicorn.Config(
        create_app(memory, options=options),
        host=settings.server_host,
        port=settings.server_port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_LEAVING,
        http=cast("Any", partial(OneWrite, most=most)),
        ws="none",
        backlog=min(_QUEUE, files() // 8),
    )
    server = _Announced(config, ready or (lambda _: None))
    with suppress(KeyboardInterrupt):
        server.run(sockets)
    if not server.started:
        raise SystemExit(1)
