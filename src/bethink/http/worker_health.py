"""Health and metrics of a worker, served at a separate address from the worker's event loop."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from fastapi import FastAPI

from bethink.api.connect import Memory
from bethink.errors import ConfigurationError
from bethink.http.address import listen
from bethink.http.app import health_app, uvicorn_server
from bethink.http.options import ServerOptions
from bethink.jobs.worker import Worker


@asynccontextmanager
async def serve_health(
    memory: Memory, worker: Worker, address: str, *, options: ServerOptions | None = None
) -> AsyncGenerator[str]:
    """Serve /healthz, /readyz and /metrics of a worker while the block runs, and yield the address.

    The worker's event loop answers them, so a blocked worker does not answer.

    Args:
        memory: The open memory of the worker.
        worker: The worker whose jobs are counted.
        address: The address to listen on, as `HOST:PORT`; `:PORT` for all addresses of this machine.
        options: The limits, as for a server.

    Raises:
        ConfigurationError: for an invalid address.
        DatabaseUnavailableError: if the address cannot be used.
    """
    host, port = _parts(address)
    sockets = listen(host, port)
    app: FastAPI = health_app(memory, options=options)
    worker.on_report = app.state.context.metrics.worked
    addresses: list[str] = []
    server = uvicorn_server(app, host=host, port=port, ready=addresses.append, embedded=True)

    async def serve() -> None:
        with anyio.CancelScope(shield=True):  # it stops on request and closes its connections
            await server.serve(sockets)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await anyio.sleep(0.01)
        try:
            yield addresses[0]
        finally:
            server.should_exit = True


def _parts(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not port.isdecimal() or int(port) > 65_535 or (not host and not address.startswith(":")):
        raise ConfigurationError(
            f"worker_health_address = {address!r} is not a valid address.",
            hint="Use HOST:PORT, for example 127.0.0.1:8378.",
        )
    return host.strip("[]"), int(port)
