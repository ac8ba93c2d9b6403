"""What the HTTP server costs beside the bare statements it issues, under many clients at once.

Both sides take turns in slices of one run, each from a process of its own on this machine.
"""

import argparse
import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import anyio

from benchmarks import server_profile
from benchmarks.server_bare import Bare
from benchmarks.server_http import Crowd
from benchmarks.server_process import SERVE, Server, make_key, serving
from benchmarks.server_world import World, fill
from tools import postgres

GOAL = 3.0
GROWTH_GOAL = 1.1
_SLICE = 5.0
_LOCKS = ("max_locks_per_transaction=256",)
"""As many as docs/howto/postgresql.md asks for: the bare side has a connection for each client."""
_VERBS = ("remember", "recall")


@dataclass(slots=True, kw_only=True)
class Side:
    """One way to be asked: its process, and all that its slices told."""

    name: str
    pipe: Connection
    took: dict[str, list[float]] = field(default_factory=lambda: {operation: [] for operation in _VERBS})
    seconds: float = 0.0
    cpu: float = 0.0
    failed: int = 0
    errors: list[str] = field(default_factory=list[str])

    def slice(self, seconds: float, number: int, *, counted: bool = True) -> None:
        """Put it under load once."""
        self.pipe.send((seconds, number))
        told: dict[str, Any] = self.pipe.recv()
        self.failed += told["failed"]
        self.errors += told["errors"]
        if counted:
            self.seconds += seconds
            self.cpu += told["cpu"]
            for operation in _VERBS:
                self.took[operation] += told["took"][operation]

    def all(self) -> list[float]:
        """Every answer's time, whatever it was about."""
        return [each for operation in _VERBS for each in self.took[operation]]

    def __str__(self) -> str:
        lines = [self._line(operation, self.took[operation]) for operation in _VERBS]
        return "\n".join([*lines, self._line("both", self.all())])

    def _line(self, what: str, took: Sequence[float]) -> str:
        p50, p95, p99 = (quantile(took, part) * 1e3 for part in (0.5, 0.95, 0.99))
        rate = len(took) / self.seconds
        return f"{self.name:5} {what:9} p50 {p50:7.2f}  p95 {p95:7.2f}  p99 {p99:7.2f} ms  {rate:6.0f} a second"


def quantile(values: Sequence[float], part: float) -> float:
    """The value below which a part of all values lies."""
    return sorted(values)[min(len(values) - 1, int(len(values) * part))] if values else float("inf")


def _crowd(pipe: Connection, *given: Any) -> None:
    crowd = Crowd(*given)
    while (asked := pipe.recv()) is not None:
        pipe.send(crowd.run(*asked).to_json())


def _bare(pipe: Connection, *given: Any) -> None:
    bare = Bare(*given)
    while (asked := pipe.recv()) is not None:
        bare.prepare(asked[1])
        if asked[1] == 0:
            print(bare.issued(), flush=True)
        pipe.send(bare.run(*asked).to_json())
    bare.close()


def _side(name: str, work: Callable[..., None], *given: Any) -> Side:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    context.Process(target=work, args=(theirs, *given), daemon=True).start()
    return Side(name=name, pipe=ours)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Both sides, what the server held of memory, and what it used of the processor."""

    http: Side
    bare: Side
    rss: tuple[float, float]
    cpu: float


def measured(dsn: str, options: argparse.Namespace, log: Path) -> Measured:
    """Load both sides in turns, after a slice each that is not counted."""
    world = World(seed=options.seed, spaces=options.spaces)
    anyio.run(fill, dsn, world)
    key = make_key(dsn)
    command = server_profile.COMMAND if options.profile else SERVE
    with serving(dsn, log=log, command=command) as server:
        http = _side("http", _crowd, server.url, key, world, options.clients)
        bare = _side("bare", _bare, dsn, world, options.clients)
        length = min(_SLICE, options.seconds / 4)
        for side in (bare, http):
            side.slice(2 * length, 0, counted=False)
        return _counted(server, http, bare, options.seconds, length)


def _counted(server: Server, http: Side, bare: Side, seconds: float, length: float) -> Measured:
    first, began, until, number = server.rss(), server.cpu(), time.monotonic() + seconds, 0
    while time.monotonic() < until:
        number += 1
        # Who comes first finds caches and disks as the other left them: not always the same one.
        for side in (bare, http) if number % 2 else (http, bare):
            side.slice(length, number)
    found = Measured(http=http, bare=bare, rss=(first, server.rss()), cpu=server.cpu() - began)
    for side in (http, bare):
        side.pipe.send(None)
    return found


def verdict(found: Measured, *, short: bool) -> int:
    """Print every figure, the ratio last, and return what the process ends with."""
    http, bare = found.http, found.bare
    print(bare)
    print(http)
    for side in (http, bare):
        print(f"the clients of {side.name} used {side.cpu / side.seconds:.2f} of a processor")
        for error in side.errors[:10]:
            print(f"  {error}")
    each = found.cpu / max(1, len(http.all())) * 1e3
    print(f"the server used {found.cpu / http.seconds:.2f} of a processor, {each:.2f} ms for a request")
    growth = found.rss[1] / found.rss[0]
    print(f"memory of the server: {found.rss[0]:.1f} MB after warm-up, {found.rss[1]:.1f} MB at the end ({growth:.2f})")
    failed = http.failed + bare.failed
    print(f"errors: {failed} of {len(http.all()) + len(bare.all()) + failed} requests (goal 0)")
    for operation in _VERBS:
        print(f"{operation}: p50 {_ratio(http.took[operation], bare.took[operation]):.2f} times bare")
    ratio = _ratio(http.all(), bare.all())
    reached = ratio <= GOAL
    if short:
        print("a short run is noisy: it shows the figures and fails on errors only")
    print(f"p50 over HTTP against bare: {ratio:.2f} times (goal: at most {GOAL}): {'' if reached else 'NOT '}reached")
    return int(failed > 0 or not (short or (reached and growth <= GROWTH_GOAL)))


def _ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    return statistics.median(ours or [float("inf")]) / statistics.median(theirs or [float("inf")])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0, help="how long both sides are loaded, together")
    parser.add_argument("--clients", type=int, default=50, help="how many ask at once")
    parser.add_argument("--spaces", type=int, default=400, help="how many end users there are")
    parser.add_argument("--database", choices=["postgres"], default="postgres")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--short", action="store_true", help="only errors fail")
    parser.add_argument("--profile", action="store_true", help="print where the server's time goes; it is slower so")
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.clients} clients, PostgreSQL with fsync on, server and load on one machine")
    with tempfile.TemporaryDirectory() as folder, postgres.running(durable=True, settings=_LOCKS) as superuser:
        log = Path(folder) / "server.log"
        found = measured(postgres.create_database(superuser, "load"), options, log)
        if options.profile:
            print(server_profile.told(log))
    return verdict(found, short=options.short)


if __name__ == "__main__":
    sys.exit(main())
