"""What `bethink serve --proxy` adds to a call: beside a bare pass-through on the same parts, measured in turn.

Each call asks something new of a memory that has been learnt from, so that none of them is answered from what is kept.
"""

import argparse
import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

import bethink
from bethink.model.access import Scope
from tests.doors.proxy_kit import Models
from tools import postgres

GOAL_MS = 15.0
_PAUSE = 0.1
"""Seconds between two calls: a person does not ask while the last answer is still being stored."""
_SPACE = "mira"
_THINGS = ("bicycle", "piano", "garden", "passport", "cousin", "recipe", "laptop", "balcony", "novel", "choir")
_PLACES = ("Lisbon", "Oslo", "Kyoto", "Quito", "Bergen", "Turin", "Cork", "Split", "Graz", "Porto")


def line(number: int) -> str:
    """Something a person says."""
    thing, place = _THINGS[number % 10], _PLACES[number // 10 % 10]
    return f"My {thing} number {number} is in {place}, and I want to see to it on day {number % 28 + 1} of May."


def question(number: int) -> str:
    """Something a person asks."""
    return f"Where did I leave my {_THINGS[number * 7 % 10]}, and was it in {_PLACES[number * 3 % 10]}? ({number})"


async def furnish(target: str, lines: int) -> str:
    """Fill a memory, learn from it, and return a key to it."""
    async with bethink.connect(target, learn_in_background=False) as memory:
        for number in range(lines):
            await memory.space(_SPACE).remember(line(number), conversation=f"chat-{number // 10}")
        await memory.space(_SPACE).admin.learn()
        return (await memory.admin.keys.create(name="bench", scopes=[Scope.READ, Scope.WRITE], spaces=[_SPACE])).key


def bare(models: str, port_file: str) -> None:
    """Pass every call on with the same server and the same client, and nothing beside."""
    upstream = httpx2.AsyncClient(timeout=60)

    async def on(request: Request) -> StreamingResponse:
        kept = {"content-type": "application/json", "authorization": request.headers.get("authorization", "")}
        sent = httpx2.Request("POST", models + request.url.path, headers=kept, content=await request.body())
        answer = await upstream.send(sent, stream=True)
        return StreamingResponse(answer.aiter_raw(), answer.status_code, media_type="text/event-stream")

    app = Starlette(routes=[Route("/v1/chat/completions", on, methods=["POST"])])
    with socket.create_server(("127.0.0.1", 0)) as listener:  # who connects before it is up waits in the queue
        Path(port_file).write_text(str(listener.getsockname()[1]), encoding="utf-8")
        uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False)).run([listener])


def calling(port: int, key: str) -> Callable[[int], float]:
    """Return what makes one call on a connection that stays open, and measures it until its last byte."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"content-type": "application/json", "authorization": "Bearer sk", "x-bethink-key": key}

    def call(number: int) -> float:
        told = {"model": "m", "stream": True, "messages": [{"role": "user", "content": question(number)}]}
        body = json.dumps(told).encode()
        given = {**headers, "x-bethink-conversation": f"chat-{number // 10}"}
        began = time.perf_counter()
        link.request("POST", "/v1/chat/completions", body, given)
        came = link.getresponse()
        whole = came.read()
        took = time.perf_counter() - began
        assert came.status == 200, whole
        return took

    return call


class Measured(NamedTuple):
    """The seconds of calls through the proxy and through a bare one, how many had memory added, and what each cost."""

    ours: list[float]
    theirs: list[float]
    added: int
    work: tuple[float | None, float | None]
    """Seconds of a processor that either process took for one call, with storing what was said, where that is known."""


def worked(process: subprocess.Popen[Any]) -> float | None:
    """Return how many seconds of a processor a process has taken; None where the system does not tell."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return None


def measure(folder: Path, target: str, *, lines: int, times: int) -> Measured:
    """Call the proxy and a bare one in turn."""
    key = anyio.run(partial(furnish, target, lines))
    models = Models()
    port_file = folder / "port"
    run = [sys.executable, "-m", "benchmarks.proxy", "--bare", models.url, "--port-file", str(port_file)]
    serve = [sys.executable, "-m", "bethink", "serve", "--proxy", "--port", "0", "--database", target]
    proxy = {"BETHINK_PROXY_OPENAI_URL": f"{models.url}/v1", "BETHINK_PROXY_DEADLINE": "5"}
    given = {**os.environ, **proxy, "BETHINK_LOG_LEVEL": "error"}
    bare_one = subprocess.Popen(run)
    our_own = subprocess.Popen(serve, env=given, stderr=subprocess.PIPE, text=True)
    try:
        notes = our_own.stderr
        assert notes is not None
        address = next(each for each in notes if "serving at" in each).split("serving at ")[1].split()[0]
        while not (port_file.exists() and port_file.read_text()):
            time.sleep(0.05)
        ours, theirs = (
            calling(int(address.strip(";").rpartition(":")[2]), key),
            calling(int(port_file.read_text()), key),
        )
        for number in range(5):
            _ = ours(10_000 + number), theirs(10_000 + number)
        models.sent.clear()
        before = [worked(each) for each in (our_own, bare_one)]
        pairs: list[tuple[float, float]] = []
        for number in range(times):
            pairs.append((ours(number), theirs(number)))
            time.sleep(_PAUSE)
        after = [worked(each) for each in (our_own, bare_one)]
        added = sum(b"bethink-memory" in each.body for each in models.sent)
    finally:
        for each in (our_own, bare_one):
            each.terminate()
        for each in (our_own, bare_one):
            each.wait(timeout=60)
        models.shutdown()
        models.server_close()
    took = [None if one is None or two is None else (two - one) / times for one, two in zip(before, after, strict=True)]
    return Measured([one for one, _ in pairs], [two for _, two in pairs], added, (took[0], took[1]))


def report(name: str, found: Measured, *, lines: int) -> bool:
    """Print what was measured, and return whether the goal is met."""
    more = [(one - two) * 1_000 for one, two in zip(found.ours, found.theirs, strict=True)]
    gained, times = statistics.median(more), len(more)
    print(f"{name}: {times} calls each, {lines} lines of memory; memory was added to {found.added}")
    for what, seconds, work in zip(
        ("through the proxy", "bare pass-through"), (found.ours, found.theirs), found.work, strict=True
    ):
        cost = "" if work is None else f", {work * 1_000:.1f} ms of a processor for each call"
        print(f"{what}: p50 {statistics.median(seconds) * 1_000:.1f} ms{cost}")
    print(f"added latency p50: {gained:.1f} ms, p90 {statistics.quantiles(more, n=10)[-1]:.1f} ms", flush=True)
    return gained <= GOAL_MS and found.added == times


def main() -> int:
    """Measure and print; 1 if the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--lines", type=int, default=100, help="what was said before")
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"], default="sqlite")
    parser.add_argument("--bare", default="", help=argparse.SUPPRESS)
    parser.add_argument("--port-file", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare:
        bare(options.bare, options.port_file)
        return 0
    print(f"goal: at most {GOAL_MS:.0f} ms more, with memory added to every call; load {os.getloadavg()[0]:.1f}")
    met: list[bool] = []
    given = {"lines": options.lines, "times": options.times}
    with tempfile.TemporaryDirectory() as folder:
        if options.database != "postgres":
            found = measure(Path(folder), str(Path(folder) / "memory.db"), **given)
            met.append(report("sqlite", found, lines=options.lines))
    if options.database != "sqlite":
        with tempfile.TemporaryDirectory() as folder, postgres.running() as superuser:
            found = measure(Path(folder), postgres.create_database(superuser, "proxied"), **given)
            met.append(report("postgres", found, lines=options.lines))
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
