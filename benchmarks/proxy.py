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


async def furnish(file: str, lines: int) -> str:
    """Fill a memory, learn from it, and return a key to it."""
    async with bethink.connect(file, learn_in_background=False) as memory:
        for number in range(lines):
            await memory.space(_SPACE).remember(line(number), conversation=f"chat-{number // 10}")
        await memory.space(_SPACE).learn()
        return (await memory.keys.create(name="bench", scopes=[Scope.READ, Scope.WRITE], spaces=[_SPACE])).key


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


def measure(folder: Path, *, lines: int, times: int) -> tuple[list[float], list[float], int]:
    """Return the seconds of calls through the proxy and through a bare one, and how many had memory added."""
    key = anyio.run(partial(furnish, str(folder / "memory.db"), lines))
    models = Models()
    port_file = folder / "port"
    run = [sys.executable, "-m", "benchmarks.proxy", "--bare", models.url, "--port-file", str(port_file)]
    serve = [
        sys.executable,
        "-m",
        "bethink",
        "serve",
        "--proxy",
        "--port",
        "0",
        "--database",
        str(folder / "memory.db"),
    ]
    proxy = {"BETHINK_PROXY_OPENAI_URL": f"{models.url}/v1", "BETHINK_PROXY_DEADLINE": "5"}
    given = {**os.environ, **proxy, "BETHINK_LOG_LEVEL": "error"}
    started = [subprocess.Popen(run), subprocess.Popen(serve, env=given, stderr=subprocess.PIPE, text=True)]
    try:
        notes = started[1].stderr
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
        pairs: list[tuple[float, float]] = []
        for number in range(times):
            pairs.append((ours(number), theirs(number)))
            time.sleep(_PAUSE)
        added = sum(b"bethink-memory" in each.body for each in models.sent)
    finally:
        for each in started:
            each.terminate()
        for each in started:
            each.wait(timeout=60)
        models.shutdown()
        models.server_close()
    return [first for first, _ in pairs], [second for _, second in pairs], added


def main() -> int:
    """Measure and print; 1 if the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--lines", type=int, default=100, help="what was said before")
    parser.add_argument("--bare", default="", help=argparse.SUPPRESS)
    parser.add_argument("--port-file", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare:
        bare(options.bare, options.port_file)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs, added = measure(Path(folder), lines=options.lines, times=options.times)
    more = [(first - second) * 1_000 for first, second in zip(ours, theirs, strict=True)]
    print(f"{options.times} calls each, {options.lines} lines of memory; memory was added to {added}")
    print(f"through the proxy: p50 {statistics.median(ours) * 1_000:.1f} ms")
    print(f"bare pass-through: p50 {statistics.median(theirs) * 1_000:.1f} ms")
    gained = statistics.median(more)
    print(f"goal: at most {GOAL_MS:.0f} ms more, with memory added to every call")
    print(f"added latency p50: {gained:.1f} ms")
    return 0 if gained <= GOAL_MS and added == options.times else 1


if __name__ == "__main__":
    sys.exit(main())
