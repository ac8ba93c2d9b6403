"""The receiver of a campaign: it checks signatures, notes what it accepts, and is slow, rude or silent at random."""

import json
import os
import random
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from bethink import verify_webhook
from bethink.errors import PermissionDeniedError

SILENT, RUDE, FORGETFUL, SLOW = 0.01, 0.03, 0.01, 0.02
"""How often it closes before it notes anything, refuses, closes after it has noted, and lets one wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    """Where it listens, what it knows, and where it notes."""

    port: int
    secret: str
    accepted: Path
    forged: Path
    seed: int

    def run(self) -> None:
        """Serve until killed."""
        known = {
            "secret": self.secret,
            "accepted": _appending(self.accepted),
            "forged": _appending(self.forged),
            "dice": random.Random(self.seed + time.monotonic_ns()),  # another life, other whims
        }
        _Server(("127.0.0.1", self.port), type("Handler", (_Handler,), known)).serve_forever()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    secret: str
    accepted: int
    forged: int
    dice: random.Random

    def do_POST(self) -> None:
        wanted = int(self.headers.get("content-length", 0))
        body = self.rfile.read(wanted)
        if len(body) < wanted:  # whoever sent it was killed in the middle: neither ours nor a forgery
            self.close_connection = True
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            verify_webhook(self.secret, headers, body, now=time.time())
        except PermissionDeniedError:
            _note(self.forged, {"id": headers.get("webhook-id")})
            self._answer(401)
            return
        fate = self.dice.random()
        if fate < SILENT:
            self.close_connection = True
        elif fate < SILENT + RUDE:
            self._answer(self.dice.choice((302, 404, 429, 500, 503)))
        else:
            self._accept(headers["webhook-id"], body, fate)

    def _accept(self, name: str, body: bytes, fate: float) -> None:
        _note(self.accepted, {"id": name, **json.loads(body)["data"]})
        if fate > 1 - SLOW:
            time.sleep(self.dice.uniform(0.05, 0.6))
        if fate < SILENT + RUDE + FORGETFUL:
            self.close_connection = True
        else:
            self._answer(204)

    def _answer(self, status: int) -> None:
        with suppress(ConnectionError):
            self.send_response(status)
            self.send_header("content-length", "0")
            if status == 302:
                self.send_header("location", "/elsewhere")
            self.end_headers()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


def _appending(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def _note(file: int, what: dict[str, object]) -> None:
    os.write(file, json.dumps(what).encode() + b"\n")  # one call: lines of two threads never mix


def noted(path: Path) -> list[dict[str, Any]]:
    """Read what a receiver has noted."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def wait_until_up(port: int) -> None:
    """Return when a receiver listens."""
    for _ in range(2_000):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.005)
    raise SystemExit("the receiver did not start")
