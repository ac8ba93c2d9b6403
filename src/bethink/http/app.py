"""Puts the server together, and runs it."""

import gc
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
from bethink.base.log_lines import to_stderr
from bethink.config.settings import Settings
from bethink.host.waiting import wait_for_database
from bethink.http import problems
from bethink.http.address import listen, open_files
from bethink.http.answers import add_answers
from bethink.http.archives import add_archives
from bethink.http.concurrency import Concurrency
from bethink.http.context import Context
from bethink.http.health import add_health
from bethink.http.limits import Buckets, Guesses
from bethink.http.metrics import Metrics
from bethink.http.middleware import RequestMiddleware, requests
from bethink.http.mounted import mcp_route
from bethink.http.openapi import document
from bethink.http.options import ServerOptions, options_from
from bethink.http.problems import Problem
from bethink.http.routes import add_verbs
from bethink.http.streams import add_stream
from bethink.http.tracing import Tracing
from bethink.providers.default_redactor import redactor_for

_SILENT = {"tracing": False, "metrics": False, "logs": False}
_LEAVING = 30
"""Seconds that requests have to finish when the server is told to stop."""
_CONNECTIONS = 4
"""How many times `max_concurrency` connections are served, as far as there are files left for others."""
_QUEUE = 256
"""Connections that may wait to be accepted: all of them are accepted at once, and each is a file."""
_HEAD = 32_768
"""Bytes that the head of a request may have."""
_COLLECT = (20_000, 20, 20)
"""When garbage is collected: a recall makes some ten thousand objects, and few of them in cycles."""

_ABOUT = (
    "Memory for AI agents that you can audit. Send `Authorization: Bearer bt_…` with every request. "
    "Errors are problem details (RFC 9457): `code` names the error, `hint` the next step."
)


Door = Callable[[FastAPI, Context, Memory], AbstractAsyncContextManager[None] | None]
"""Adds routes to a server, such as `add_window` of `bethink.web.door`. Its result is entered while it serves."""


def create_app(
    memory: Memory,
    *,
    options: ServerOptions | None = None,
    tracer_provider: TracerProvider | None = None,
    doors: Sequence[Door] = (),
) -> FastAPI:
    """Make the server of a memory. It opens the memory when it starts, and closes it when it ends.

    `doors` add what is served beside `/v1`: `[add_window]` of `bethink.web.door` is the web UI at `/ui`.

    Raises:
        Unavailable: for a memory that is itself on a server, or switched off.
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
            for each in running:
                await stack.enter_async_context(each)
            yield

    app = _bare(context, lifespan=lifespan)
    add_verbs(app, context)
    add_stream(app, context)
    add_answers(app, context)
    add_archives(app, context)
    add_health(app, context)
    if mcp is not None:
        app.router.routes.append(mcp[0])
    running += filter(None, [add(app, context, memory) for add in doors])
    app.openapi = lambda: document(app)
    return app


def health_app(memory: Memory, *, options: ServerOptions | None = None) -> FastAPI:
    """Make a server of health and metrics only, for a memory that is open. Raises as `create_app` does."""
    context = _context(memory, options or ServerOptions(), None)
    app = _bare(context, openapi_url=None)
    add_health(app, context)
    return app


def _context(memory: Memory, options: ServerOptions, tracer_provider: TracerProvider | None) -> Context:
    return Context(
        backend=memory.backend,
        keys=memory.local().keys(),
        options=options,
        buckets=Buckets(rate=options.rate, burst=options.burst),
        guesses=Guesses(),
        concurrency=Concurrency(options.max_concurrency),
        metrics=Metrics(),
        tracing=Tracing(tracer_provider),
    )


def _bare(context: Context, **given: Any) -> FastAPI:
    """Return an app with no routes, which checks, counts and logs every request."""
    app = FastAPI(
        title="Bethink",
        version=version("bethink"),
        description=_ABOUT,
        docs_url=None,  # they would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        telemetry=cast("Any", _SILENT),  # it would record bodies and paths; our own spans do not
        **given,
    )
    app.state.context = context
    app.add_middleware(
        RequestMiddleware, options=context.options, metrics=context.metrics, concurrency=context.concurrency
    )
    app.add_exception_handler(HTTPException, _no_route)
    return app


def _no_route(request: Request, error: Exception) -> Response:
    """Answer for a path or a method that does not exist."""
    del request
    status = cast("HTTPException", error).status_code
    title = HTTPStatus(status).phrase
    # A missing path is told apart from a missing record: it means that the address is wrong.
    code = "NoSuchPath" if status == HTTPStatus.NOT_FOUND else title.title().replace(" ", "")
    hint = "See /openapi.json for every path and its methods."
    problem = Problem(status=status, title=title, detail=f"{title}.", code=code, hint=hint)
    headers = dict(cast("HTTPException", error).headers or {})
    return Response(problem.body(), status, headers, problems.MEDIA_TYPE)


class _Announced(uvicorn.Server):
    """Reports where it listens as soon as it does. `beside` something else, it leaves signals to that."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[str], None], *, beside: bool) -> None:
        super().__init__(config)
        self._ready = ready
        self._beside = beside

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Take signals while it serves."""
        with nullcontext() if self._beside else super().capture_signals():
            yield

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            port = next((each.getsockname()[1] for server in self.servers for each in server.sockets), self.config.port)
            address = _address(self.config.host, port)
            requests.info("running on %s", address)  # uvicorn says it only of what it bound itself
            self._ready(address)


def _address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def uvicorn_server(
    app: FastAPI, *, host: str, port: int, ready: Callable[[str], None] | None = None, beside: bool = False
) -> uvicorn.Server:
    """Return what serves an app. Slow and half-sent requests are a proxy's work: see docs/howto/server.md.

    `beside` is for an app of something that runs in the same event loop, and takes signals itself.
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
        lifespan="off" if beside else "auto",
        timeout_graceful_shutdown=1 if beside else _LEAVING,
        h11_max_incomplete_event_size=_HEAD,
        backlog=min(_QUEUE, open_files() // 8),
    )
    server = _Announced(config, ready or (lambda _: None), beside=beside)
    context: Context = app.state.context
    # Not uvicorn's limit_concurrency: its answer has no code, so that a client could not know that nothing was done.
    most = min(_CONNECTIONS * context.options.max_concurrency, open_files() // 2)
    context.concurrency.leaving = lambda: server.should_exit
    context.concurrency.limit_connections(lambda: len(server.server_state.connections), most)
    return server


def serve(
    settings: Settings,
    *,
    ready: Callable[[str], None] | None = None,
    doors: Sequence[Door] = (),
    terse: bool = False,
    workers: int = 1,
) -> None:
    """Serve the memory that the settings describe until told to stop. Requests that were accepted are finished first.

    `ready` is called with the address when it listens. `terse` logs only errors, as lines for a person to read. With
    several `workers`, as many processes share the address; the limits of the settings hold for each of them.

    Raises:
        Unavailable: if it cannot listen there, or the database did not answer in time.
        SystemExit: if it did not start for another reason.
    """
    sockets = listen(settings.server.host, settings.server.port)
    _log_to_stderr(settings, terse=terse)
    anyio.run(wait_for_database, settings)
    run = partial(_serve_here, doors=doors, terse=terse)
    if workers == 1:
        run(settings, sockets, ready=ready)
        return
    from bethink.http.processes import serve_in_processes  # noqa: PLC0415 - few run several

    address = _address(settings.server.host, sockets[0].getsockname()[1])
    announce = partial(ready, address) if ready is not None else lambda: None
    serve_in_processes(run, settings, sockets, count=workers, ready=announce)


def _log_to_stderr(settings: Settings, *, terse: bool) -> None:
    redactor = redactor_for(None, also=settings.redaction.personal_kinds)
    to_stderr(redactor, level=settings.log.level or "info", form=settings.log.format or "json", terse=terse)


def _leave_to_stay() -> None:
    """Keep the garbage collector from what stays for good, and let it look less often: 7 % of the work of a recall."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT)


def _serve_here(
    settings: Settings,
    sockets: list[socket],
    *,
    ready: Callable[[str], None] | None,
    doors: Sequence[Door],
    terse: bool,
) -> None:
    """Serve in this process until told to stop."""
    memory = memory_from(settings)
    _log_to_stderr(settings, terse=terse)
    app = create_app(memory, options=options_from(settings), doors=doors)
    server = uvicorn_server(app, host=settings.server.host, port=settings.server.port, ready=ready)
    _leave_to_stay()
    with suppress(KeyboardInterrupt):
        server.run(sockets)
    if not server.started:
        raise SystemExit(1)
