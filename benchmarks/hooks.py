"""What a hook costs: CPU of one prompt hook beside a bare `python -c pass`, and HTTP hooks beside a bare server.

Both are measured in one run, in turn, so that a busy machine slows both alike.
"""

import argparse
import http.client
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from bethink.agents.folder import AgentFolder, free_port, hook_file
from tests import transcripts_kit as kit

MAX_RATIO = 2.0
MAX_MORE_MS = 20.0


class _Bare(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the standard library names it
        pass

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()


def cpu_of(command: list[str], body: bytes) -> float:
    """Return the CPU seconds of one process, its system calls included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=body, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def in_turn(times: int, *measured: Callable[[], float]) -> list[list[float]]:
    """Measure several things in turn, so many times each."""
    rounds = [[each() for each in measured] for _ in range(times)]
    return [list(column) for column in zip(*rounds, strict=True)]


def posting(port: int, path: str, body: bytes, headers: dict[str, str]) -> Callable[[], float]:
    """Return what sends one request on a connection of its own, and measures it."""

    def post() -> float:
        began = time.perf_counter()
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        link.request("POST", path, body, headers)
        link.getresponse().read()
        link.close()
        return time.perf_counter() - began

    return post


def measure(home: Path, times: int) -> dict[str, float]:
    """Start a resident process with a transcript to read, and measure both kinds of hooks."""
    folder = AgentFolder(home / "state")
    folder.make()
    shutil.copy(hook_file(), folder.path / "hook.py")
    (folder.path / "hook.json").write_text(json.dumps({"start": ["true"]}))
    folder.write(folder.path / "port", str(free_port()))
    transcript = kit.write(kit.claude_path(home, "s1"), kit.claude_code(kit.turns(200), session="s1", cwd=str(home)))
    body = json.dumps(
        {"session_id": "s1", "transcript_path": str(transcript), "cwd": str(home), "prompt": "Please go on. " * 20}
    ).encode()
    run = [sys.executable, "-m", "bethink", "serve", "--agents", str(folder.path), "--database", str(home / "m.db")]
    resident = subprocess.Popen(run, env={**os.environ, "HOME": str(home)}, stderr=subprocess.DEVNULL)
    bare = ThreadingHTTPServer(("127.0.0.1", 0), _Bare)
    threading.Thread(target=bare.serve_forever, daemon=True).start()
    try:
        while not (folder.path / "socket").exists():
            time.sleep(0.05)
        script = [sys.executable, "-I", "-S", str(folder.path / "hook.py"), "claude-code", "UserPromptSubmit"]
        cpu_of(script, body)
        hook, nothing = in_turn(
            times, lambda: cpu_of(script, body), lambda: cpu_of([sys.executable, "-c", "pass"], b"")
        )
        headers = {"Authorization": f"Bearer {folder.token}"}
        ours, theirs = in_turn(
            times * 4,
            posting(folder.port, "/hooks/claude-code/UserPromptSubmit", body, headers),
            posting(bare.server_port, "/", body, headers),
        )
    finally:
        resident.terminate()
        resident.wait(timeout=60)
        bare.shutdown()
        bare.server_close()
    return {
        "hook_cpu_ms": statistics.median(hook) * 1_000,
        "bare_python_cpu_ms": statistics.median(nothing) * 1_000,
        "ratio": statistics.median(hook) / statistics.median(nothing),
        "http_p50_ms": statistics.median(ours) * 1_000,
        "bare_http_p50_ms": statistics.median(theirs) * 1_000,
    }


def main() -> int:
    """Measure and print; 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=50)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        found = measure(Path(home), options.times)
    for name, value in found.items():
        print(f"{name}: {value:.2f}")
    more = found["http_p50_ms"] - found["bare_http_p50_ms"]
    print(f"goals: ratio at most {MAX_RATIO}, HTTP at most {MAX_MORE_MS} ms more than a bare server ({more:.2f})")
    return 0 if found["ratio"] <= MAX_RATIO and more <= MAX_MORE_MS else 1


if __name__ == "__main__":
    sys.exit(main())
