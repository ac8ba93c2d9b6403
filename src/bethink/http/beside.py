"""Health and metrics of a worker, answered at an address of its own from the worker's own event loop."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from fastapi import FastAPI

from bethink.api.connect import Memory
from bethink.errors import Misconfigured
from bethink.http.address import listen
from bethink.http.app import health_app, uvicorn_server
from bethink.http.options import ServerOptions
from bethink.jobs.worker import Worker


@asynccontextmanager
async def answering_probes(
    memory: Memory, worker: Worker, address: str, *, options: ServerOptions | None = None
) -> AsyncGenerator[str]:
    """Answer /healthz, /readyz and /metrics of a worker while the block runs, and yield where.

    They are answered between what the worker does: one whose event loop stands still answers nothing.

    Args:
        memory: The memory that the worker works on, open.
        worker: The worker; its jobs are counted.
        address: Where to listen, as `HOST:PORT`; `:PORT` for all addresses of this machine.
        options: The limits, as those of a server.

    Raises:
        Misconfigured: for an address of another form.
        Unavailable: if it cannot listen there.
    """
    host, port = _parts(address)
    sockets = listen(host, port)
    app: FastAPI = health_app(memory, options=options)
    worker.noted = app.state.context.metrics.worked
    found: list[str] = []
    server = uvicorn_server(app, host=host, port=port, ready=found.append, beside=True)

    async def serve() -> None:
        with anyio.CancelScope(shield=True):  # it ends by itself when it is told to, and closes what it has open
            await server.serve(sockets)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await anyio.sleep(0.01)
        try:
            yield found[0]
        finally:
            server.should_exit = True


def _parts(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not port.isdecimal() or int(port) > 65_535 or (not host and not address.startswith(":")):
        raise Misconfigured(
            f"worker_listen = {address!r} is not an address.", hint="Give HOST:PORT, as 127.0.0.1:8378."
        )
    return host.strip("[]"), int(port)
