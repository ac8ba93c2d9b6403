"""Helpers for client tests: a real server, and a scripted server."""

import json
import socket
import threading
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

import anyio
import uvicorn

import bethink
from bethink.host.remote.remote import Remote
from bethink.http.app import Mount, create_app
from bethink.model.access import Scope
from tests.conftest import Quiet

KEY = "bt_0123456789ab.secret"
T = TypeVar("T")


def connected(target: str, *, key: str = "") -> bethink.Memory:
    """A memory that does nothing by itself."""
    if target.startswith("http"):  # the server has these settings
        return bethink.connect(target, api_key=key)
    return bethink.connect(target, redactor=Quiet(), learn_in_background=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """Where a server listens, and a key that opens everything."""

    url: str
    key: str


@contextmanager
def serving(target: str, *, mounts: Sequence[Mount] = ()) -> Generator[Served]:
    """Serve a database for real, on a thread, until the block ends."""
    key = aside(_new_key, target)
    app = create_app(connected(target), mounts=mounts)
    with socket.create_server(("127.0.0.1", 0)) as listener:  # who connects before it is up waits in the queue
        config = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=5)
        server = uvicorn.Server(config)
        app.state.context.concurrency.is_stopping = lambda: server.should_exit
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield Served(url=f"http://127.0.0.1:{listener.getsockname()[1]}", key=key)
        finally:
            server.should_exit = True
            thread.join()


def aside(work: Callable[..., Awaitable[T]], *given: Any) -> T:
    """Run an async function to its end on a thread of its own: a browser may have an event loop running on this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(anyio.run, work, *given).result()


async def _new_key(target: str) -> str:
    async with connected(target) as memory:
        return (await memory.admin.keys.create(name="tests", scopes=list(Scope))).key


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What to do with one request: answer, or close the connection without a word if there is no status.

    A `stalled` one is not answered until the server ends.
    """

    status: int = 0
    stalled: bool = False
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


GONE = Answer()
STALLED = Answer(stalled=True)


def problem(status: int, code: str, *, retry_after: str | None = None, **more: object) -> Answer:
    """A refusal as the server writes one."""
    headers = {} if retry_after is None else {"retry-after": retry_after}
    body = {"type": "about:blank", "title": code, "status": status, "detail": f"told {code}.", "hint": "Do so.", **more}
    return Answer(status=status, body={**body, "code": code}, headers=headers)


@dataclass
class Scripted:
    """Where it listens, and the method, the path and the body of every request it got."""

    url: str
    requests: list[tuple[str, str, Any]] = field(default_factory=list[tuple[str, str, Any]])


@contextmanager
def scripted(answers: Sequence[Answer]) -> Generator[Scripted]:
    """Answer requests one after the other as told; the last answer is for all that follow."""
    left, ended = list(answers), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _do(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            server.requests.append((self.command, self.path, json.loads(body) if body else None))
            answer = left.pop(0) if len(left) > 1 else left[0]
            self.close_connection = True
            if answer.stalled:
                ended.wait()
            if not answer.status:
                return
            content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            with suppress(ConnectionError):
                self.send_response(answer.status)
                about = {"content-length": str(len(content)), "connection": "close"}
                for name, value in {**answer.headers, **about}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = _do  # noqa: N815

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            pass

    class Listener(ThreadingHTTPServer):
        daemon_threads = False  # so that closing it waits until every request that arrived is noted

    with Listener(("127.0.0.1", 0), Handler) as listener:
        server = Scripted(f"http://127.0.0.1:{listener.server_port}")
        thread = threading.Thread(target=listener.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            ended.set()
            listener.shutdown()
            thread.join()


class Pauses:
    """Stands in for sleeping: notes how long it would have been."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def client_of(url: str, *, key: str = KEY, retries: int = 5) -> tuple[bethink.Memory, Pauses]:
    """A memory on a server that does not wait between its attempts."""
    remote, pauses = Remote(url, key=key, retries=retries), Pauses()
    remote._calls._pause = pauses
    return bethink.Memory(remote), pauses
