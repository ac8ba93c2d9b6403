"""A server as it is run: a process of its own, on a port of its own."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

import bethink
from bethink.model.access import Scope

SERVE = ("-m", "bethink", "serve")
_START = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A running server."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def rss(self) -> float:
        """Megabytes of memory that it holds now."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise SystemExit("the server's memory is read from /proc/<pid>/status, which only Linux has")

    def cpu(self) -> float:
        """Seconds of CPU that it has used so far, all threads together."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_bytes().split()[0]) for task in tasks) / 1e9

    def wait_until_up(self) -> None:
        """Return when it answers."""
        until = time.monotonic() + _START
        while time.monotonic() < until:
            if self.process.poll() is not None:
                break
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            try:
                connection.request("GET", "/healthz")
                if connection.getresponse().status == 200:
                    return
            except OSError:
                time.sleep(0.05)
            finally:
                connection.close()
        raise SystemExit(f"the server did not start:\n{self.log.read_text(encoding='utf-8', errors='replace')[-2000:]}")


def start(
    target: str,
    *,
    port: int,
    log: Path,
    command: Sequence[str] = SERVE,
    settings: Mapping[str, str] | None = None,
) -> Server:
    """Start a server; it may not be up yet."""
    given = {
        "DATABASE": target,
        "SERVER_PORT": str(port),
        "SERVER_RATE_LIMIT": "1000000",
        "SERVER_BURST": "1000000",
        "LEARN_IN_BACKGROUND": "false",
    }
    given |= settings or {}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BETHINK_")}
    environ = kept | {f"BETHINK_{name}": value for name, value in given.items()}
    with log.open("ab") as out:
        process = subprocess.Popen([sys.executable, *command], env=environ, stdout=out, stderr=out)
    return Server(process=process, port=port, log=log)


@contextmanager
def serving(target: str, *, log: Path, command: Sequence[str] = SERVE) -> Generator[Server]:
    """Run a server until the block ends."""
    # The statements it is measured against know no vectors, and nothing indexes what was just said meanwhile.
    server = start(target, port=free_port(), log=log, command=command, settings={"EMBEDDER": "none"})
    try:
        server.wait_until_up()
        yield server
    finally:
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(60)


def free_port() -> int:
    """Find a port that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def make_key(target: str) -> str:
    """Make a key that opens everything."""
    return anyio.run(_make_key, target)


async def _make_key(target: str) -> str:
    async with bethink.connect(target, embedder="none", learn=False) as memory:
        return (await memory.admin.keys.create(name="load", scopes=list(Scope))).key
