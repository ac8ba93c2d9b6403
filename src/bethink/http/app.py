"""Build and run the server."""

import gc
import sys
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from functools import partial
from http import HTTPStatus
from importlib.metadata import version
from socket import socket
from typing import Any, cast

import anyio
import uvicorn
from fastapi import FastAPI, Request, Response
from opentelemetry.trace import TracerProvider
from starlette.exceptions import HTTPException

from bethink.api.connect import Memory, memory_from
from bethink.base.log_lines import log_to_stderr
from bethink.config.settings import Settings
from bethink.host.waiting import wait_for_database
from bethink.http import problems
from bethink.http.address import listen, max_open_files
from bethink.http.answers import add_answers
from bethink.http.archives import add_archives
from bethink.http.concurrency import Concurrency
from bethink.http.context import Context
from bethink.http.health import add_health
from bethink.http.limits import Buckets, Guesses
from bethink.http.mcp_mount import mcp_route
from bethink.http.metrics import Metrics
from bethink.http.middleware import RequestMiddleware, requests
from bethink.http.openapi import document
from bethink.http.options import ServerOptions, options_from
from bethink.http.problems import Problem
from bethink.http.routes import add_operations
from bethink.http.streams import add_stream
from bethink.http.tracing import Tracing
from bethink.providers.default_redactor import redactor_for

_SILENT = {"tracing": False, "metrics": False, "logs": False}
_SHUTDOWN_SECONDS = 30
"""Seconds for requests to finish when the server stops."""
_CONNECTION_FACTOR = 4
"""Maximum connections as a multiple of `max_concurrency`, within the open-file limit."""
_BACKLOG = 256
"""Maximum connections that wait to be accepted. Each is an open file."""
_MAX_HEAD = 32_768
"""Maximum bytes of a request head."""
_GC_THRESHOLDS = (20_000, 20, 20)
"""Thresholds of the garbage collector. A recall creates about ten thousand objects, few of them in cycles."""

_SWITCH_INTERVAL = 0.0005
"""Seconds that a thread computes before another one runs. A request changes threads for each statement. By Python's
default of 5 ms, it would take ten times as long while another thread processes a long text."""

_ABOUT = (
    "Memory for AI agents that you can audit. Send `Authorization: Bearer bt_…` with every request. "
    "Errors are problem details (RFC 9457): `code` names the error, `hint` the next step."
)


Mount = Callable[[FastAPI, Context, Memory], AbstractAsyncContextManager[None] | None]
"""Adds routes to an app, such as `add_web_ui` from `bethink.web.mount`. The server enters its result while it runs."""


def create_app(
    memory: Memory,
    *,
    options: ServerOptions | None = None,
    tracer_provider: TracerProvider | None = None,
    mounts: Sequence[Mount] = (),
) -> FastAPI:
    """Create the server for a memory. It opens the memory when it starts and closes it when it stops.

    `mounts` add routes next to `/v1`: `[add_web_ui]` from `bethink.web.mount` adds the web UI at `/ui`.

    Raises:
        DatabaseUnavailableError: for a memory on a remote server, or one that is disabled.
    """
    options = options or ServerOptions()
    context = _context(memory, options, tracer_provider)
    mcp = mcp_route(memory, context) if options.mcp else None
    running: list[AbstractAsyncContextManager[None]] = []

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        del app
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(memory)
            if mcp is not None:
                await stack.enter_async_context(mcp[1])
            for manager in running:
                await stack.enter_async_context(manager)
            yield

    app = _create_base_app(context, lifespan=lifespan)
    add_operations(app, context)
    add_stream(app, context)
    add_answers(app, context)
    add_archives(app, context)
    add_health(app, context)
    if mcp is not None:
        app.router.routes.append(mcp[0])
    running += filter(None, [add(app, context, memory) for add in mounts])
    app.openapi = lambda: document(app)
    return app


def health_app(memory: Memory, *, options: ServerOptions | None = None) -> FastAPI:
    """Create a server with only health and metrics, for an open memory. Raises the same errors as `create_app`."""
    context = _context(memory, options or ServerOptions(), None)
    app = _create_base_app(context, openapi_url=None)
    add_health(app, context)
    return app


def _context(memory: Memory, options: ServerOptions, tracer_provider: TracerProvider | None) -> Context:
    local = memory.backend.local()
    return Context(
        backend=memory.backend,
        keys=local.keys(),
        lanes=local.database.lanes,
        options=options,
        buckets=Buckets(rate=options.rate, burst=options.burst),
        guesses=Guesses(),
        concurrency=Concurrency(options.max_concurrency),
        metrics=Metrics(),
        tracing=Tracing(tracer_provider),
    )


def _create_base_app(context: Context, **arguments: Any) -> FastAPI:
    """Return an app without routes that checks, counts and logs every request."""
    app = FastAPI(
        title="Bethink",
        version=version("bethink"),
        description=_ABOUT,
        docs_url=None,  # they would load scripts from other servers
        redoc_url=None,
        redirect_slashes=False,
        telemetry=cast("Any", _SILENT),  # it would record bodies and paths, unlike our spans
        **arguments,
    )
    app.state.context = context
    app.add_middleware(
        RequestMiddleware, options=context.options, metrics=context.metrics, concurrency=context.concurrency
    )
    app.add_exception_handler(HTTPException, _no_route)
    return app


def _no_route(request: Request, error: Exception) -> Response:
    """Return the response for a path or a method that does not exist."""
    del request
    status = cast("HTTPException", error).status_code
    title = HTTPStatus(status).phrase
    # A missing path has its own code, unlike a missing record: the URL is wrong.
    code = "NoSuchPath" if status == HTTPStatus.NOT_FOUND else title.title().replace(" ", "")
    hint = "See /openapi.json for every path and its methods."
    problem = Problem(status=status, title=title, detail=f"{title}.", code=code, hint=hint)
    headers = dict(cast("HTTPException", error).headers or {})
    return Response(problem.body(), status, headers, problems.MEDIA_TYPE)


class _ReadyServer(uvicorn.Server):
    """Reports its address when it starts to listen. If `embedded`, it does not handle signals."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[str], None], *, embedded: bool) -> None:
        super().__init__(config)
        self._ready = ready
        self._embedded = embedded

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Handle signals while the server runs."""
        with nullcontext() if self._embedded else super().capture_signals():
            yield

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            port = next(
                (listener.getsockname()[1] for server in self.servers for listener in server.sockets), self.config.port
            )
            address = _address(self.config.host, port)
            self._ready(address)


def log_address(address: str) -> None:
    """Log the address of a server: uvicorn does so only for sockets that it bound."""
    requests.info("serving at %s; stop with Ctrl-C", address)


def _address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def uvicorn_server(
    app: FastAPI, *, host: str, port: int, ready: Callable[[str], None] | None = None, embedded: bool = False
) -> uvicorn.Server:
    """Return the server for an app. Use a proxy against slow and incomplete requests: see docs/howto/server.md.

    With `embedded`, the server runs in the event loop of a program that handles signals itself.
    """
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="off" if embedded else "auto",
        timeout_graceful_shutdown=1 if embedded else _SHUTDOWN_SECONDS,
        h11_max_incomplete_event_size=_MAX_HEAD,
        backlog=min(_BACKLOG, max_open_files() // 8),
    )
    server = _ReadyServer(config, ready or log_address, embedded=embedded)
    context: Context = app.state.context
    # Not uvicorn's limit_concurrency: its response has no code, so clients could not tell that nothing was done.
    max_connections = min(_CONNECTION_FACTOR * context.options.max_concurrency, max_open_files() // 2)
    context.concurrency.is_stopping = lambda: server.should_exit
    context.concurrency.limit_connections(lambda: len(server.server_state.connections), max_connections)
    return server


def serve(
    settings: Settings,
    *,
    ready: Callable[[str], None] | None = None,
    mounts: Sequence[Mount] = (),
    terse: bool = False,
    workers: int = 1,
) -> None:
    """Serve the configured memory until a stop signal. Accepted requests are finished first.

    `ready` is called with the address when the server listens; by default, the address is logged. `terse` logs only
    errors, as readable lines. With several `workers`, that many processes share the address, and the limits apply to
    each of them.

    Raises:
        DatabaseUnavailableError: if the address cannot be used, or the database did not answer in time.
        SystemExit: if the server did not start for another reason.
    """
    sockets = listen(settings.server.host, settings.server.port)
    _log_to_stderr(settings, terse=terse)
    anyio.run(wait_for_database, settings)
    run = partial(_serve_in_process, mounts=mounts, terse=terse)
    if workers == 1:
        run(settings, sockets, ready=ready)
        return
    from bethink.http.processes import serve_in_processes  # noqa: PLC0415 - rarely used

    address = _address(settings.server.host, sockets[0].getsockname()[1])
    announce = partial(ready or log_address, address)
    serve_in_processes(run, settings, sockets, count=workers, ready=announce)


def _log_to_stderr(settings: Settings, *, terse: bool) -> None:
    redactor = redactor_for(None, also=settings.redaction.personal_kinds)
    log_to_stderr(redactor, level=settings.log.level or "info", form=settings.log.format or "json", terse=terse)


def _tune_interpreter() -> None:
    """Share the interpreter fairly between threads, and collect garbage less often: a recall becomes 7% faster."""
    sys.setswitchinterval(_SWITCH_INTERVAL)
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)


def _serve_in_process(
    settings: Settings,
    sockets: list[socket],
    *,
    ready: Callable[[str], None] | None,
    mounts: Sequence[Mount],
    terse: bool,
) -> None:
    """Serve in this process until a stop signal."""
    memory = memory_from(settings)
    _log_to_stderr(settings, terse=terse)
    app = create_app(memory, options=options_from(settings), mounts=mounts)
    server = uvicorn_server(app, host=settings.server.host, port=settings.server.port, ready=ready)
    _tune_interpreter()
    with suppress(KeyboardInterrupt):
        server.run(sockets)
    if not server.started:
        raise SystemExit(1)
