"""A webhook receiver, and helpers for webhook tests."""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from bethink import Fact, Memory
from bethink.features.webhooks.deliver import Deliverer, DeliveryOptions
from bethink.features.webhooks.records import NewWebhook
from bethink.store.db import Database


class Receiver(ThreadingHTTPServer):
    """Answers as told, in turn; the last answer is for all that follow."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = [204]
        self.gate = threading.Event()
        """Requests to /slow are answered once it is set."""
        self.retry_after = ""
        self.got: list[tuple[str, dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"

    @property
    def told(self) -> list[tuple[str, int, str]]:
        """What arrived: space, number and kind of each."""
        bodies: list[Any] = [json.loads(body) for _, _, body in self.got]
        return [(each["data"]["space"], each["data"]["number"], each["type"]) for each in bodies]


class Handler(BaseHTTPRequestHandler):
    server: Receiver  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.got.append((self.path, headers, body))
        if self.path == "/slow":
            self.server.gate.wait(30)
        answers = self.server.answers
        self.send_response(answers.pop(0) if len(answers) > 1 else answers[0])
        self.send_header("location", "/elsewhere")
        if self.server.retry_after:
            self.send_header("retry-after", self.server.retry_after)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


@contextmanager
def receiving() -> Generator[Receiver]:
    """Run a receiver on a port of this machine."""
    server = Receiver()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.gate.set()
        server.shutdown()
        thread.join()
        server.server_close()


async def hook(memory: Memory, receiver: Receiver, space: str | None = None) -> NewWebhook:
    return await memory.admin.webhooks.create(receiver.url, space=space)


async def save(memory: Memory, name: str, space: str = "alice") -> None:
    await memory.space(space).facts.save(Fact(id=name, text=f"{name}."))


async def tell(database: Database, **options: Any) -> None:
    deliverer = Deliverer(database, DeliveryOptions(allow_private=True, **options))
    while await deliverer.run_once():
        pass
