"""Hostile requests of every kind run at once (--requests): nobody else waits for them, and memory stays bounded.

Each kind runs on a server of its own. While its requests run, `/healthz` is asked every 20 ms, and another tenant
stores and recalls. A kind fails only if it fails twice, because other programs may use the machine.
"""

import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio
import httpx2

import bethink
from benchmarks.server_process import SERVE, Server, free_port, start
from bethink.model.access import Scope
from faults.command import command
from faults.hostile_requests import SHORT, SPACE, Kind, kinds
from faults.hostile_sender import sending, statuses
from faults.hostile_server import Mutant
from faults.ledger import Verdict
from faults.places import Place
from tests.doors.proxy_kit import Models, Reply, Sent, answer

MAX_HEALTH = 0.2
"""Maximum seconds that `/healthz` takes."""
MAX_RATIO = 3.0
"""Maximum of another tenant's median, as a multiple of its median on an idle server."""
LARGEST_BODY = 32_000_000
MAX_GROWTH = 2 * LARGEST_BODY / 1e6
"""Maximum megabytes by which the memory of the server grows."""
_SECONDS = 4.0
"""Maximum seconds for which a kind runs. Requests that have not ended by then are left to the server's end."""
_SHORT = 8
"""A run with fewer requests at once is short: it has some of the kinds."""
_SLACK = 5
"""A short run shares its machine with tests, so its limits are this many times as high."""
_IDLE = 15
_PAUSE = 0.02
_NEIGHBOR = "neighbor"


@dataclass(slots=True, kw_only=True)
class Measured:
    """What one kind of request did to others."""

    idle: list[float] = field(default_factory=list[float])
    idle_health: float = 0.0
    busy: list[float] = field(default_factory=list[float])
    health: list[float] = field(default_factory=list[float])
    statuses: Counter[int] = field(default_factory=Counter[int])
    grown: float = 0.0
    cpu: float = 0.0
    sent: int = 0

    @property
    def ratio(self) -> float:
        """The other tenant's median, as a multiple of that on an idle server.

        It is the median over time: while one call waits, there are no others that could count.
        """
        half, passed = sum(self.busy) / 2, 0.0
        for took in sorted(self.busy):
            passed += took
            if passed >= half:
                return took / statistics.median(self.idle)
        return 0.0

    def violations(self, kind: Kind, slack: float) -> list[str]:
        """Return the limits that were exceeded, those of time `slack` times as high."""
        slowest = max(self.health)
        # A machine that is slow when nothing runs is not slowed down by the requests.
        limit = slack * max(MAX_HEALTH, 3 * self.idle_health)
        most = slack * MAX_RATIO
        failed = {status: count for status, count in self.statuses.items() if status >= 500}
        return [
            f"{kind.name}: {text}"
            for text, is_violated in (
                (f"/healthz took {slowest * 1000:.0f} ms (limit {limit * 1000:.0f})", slowest > limit),
                (f"another tenant took {self.ratio:.1f} times as long (limit {most:.0f})", self.ratio > most),
                (f"memory grew by {self.grown:.0f} MB (limit {MAX_GROWTH:.0f})", self.grown > MAX_GROWTH),
                (f"answers with {failed}", bool(failed)),
            )
            if is_violated
        ]

    def line(self, kind: Kind) -> str:
        """Return the figures of a kind."""
        idle = statistics.median(self.idle)
        per_byte = f"{self.cpu / self.sent * 1e6:7.2f} µs CPU a byte" if self.sent else ""
        return (
            f"{kind.name:24} /healthz {max(self.health) * 1000:5.0f} ms, other tenant {idle * 1000:4.0f} ms idle, "
            f"{self.ratio:4.1f} times, +{self.grown:3.0f} MB, {dict(self.statuses)} {per_byte}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One kind of request against one server."""

    place: Place
    kind: Kind
    server: Server
    keys: tuple[str, str]
    """The key of the hostile caller, and that of the other tenant."""
    requests: int
    measured: Measured

    async def run(self) -> None:
        """Measure the server idle, and with the requests."""
        async with _client(self.server) as neighbor, _client(self.server) as probe:
            for number in range(_IDLE + 3):
                took = await _exchange(neighbor, self.keys[1], number)
                health = await _health(probe)
                if number >= 3:
                    self.measured.idle.append(took)
                    self.measured.idle_health = max(self.measured.idle_health, health)
            before, cpu = self.server.rss(), self.server.cpu()
            with self._attacking(), anyio.move_on_after(_SECONDS):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._watch, before)
                    tasks.start_soon(self._ask, probe)
                    tasks.start_soon(self._exchange_all, neighbor)
            self.measured.cpu = self.server.cpu() - cpu

    async def _watch(self, before: float) -> None:
        while True:
            self.measured.grown = max(self.measured.grown, self.server.rss() - before)
            await anyio.sleep(0.05)

    async def _ask(self, probe: httpx2.AsyncClient) -> None:
        while True:
            began = time.perf_counter()
            try:
                await _health(probe)
            finally:
                self.measured.health.append(time.perf_counter() - began)
            await anyio.sleep(_PAUSE)

    async def _exchange_all(self, neighbor: httpx2.AsyncClient) -> None:
        while True:
            began = time.perf_counter()
            try:
                await _exchange(neighbor, self.keys[1], len(self.measured.busy))
            finally:
                self.measured.busy.append(time.perf_counter() - began)  # also of one that has not ended
            await anyio.sleep(_PAUSE)

    @contextmanager
    def _attacking(self) -> Generator[None]:
        """Send requests, or run the command, until the block ends."""
        if self.kind.command:
            with self._running():
                yield
            return
        log = Path(self.place.ledger) / "statuses"
        with sending(self.kind, self.server.port, self.keys[0], at_once=self.requests, log=log):
            yield
        self.measured.statuses = statuses(log)
        self.measured.sent = self.measured.statuses.total() * len(self.kind.body)

    @contextmanager
    def _running(self) -> Generator[None]:
        assert self.kind.prepare is not None
        made = self.kind.prepare(Path(self.place.ledger))
        home = {"HOME": str(made)} if made.is_dir() else {}
        file = () if made.is_dir() else (str(made),)
        command_line = [sys.executable, "-m", "bethink", *self.kind.command, *file, "--space", SPACE]
        database = {"BETHINK_DATABASE": self.place.target, "BETHINK_LEARN": "false", "BETHINK_EMBEDDER": "none"}
        with subprocess.Popen(
            command_line, env=os.environ | home | database, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as process:
            try:
                yield
            finally:
                failed = process.poll() not in (None, 0)
                process.kill()
            if failed and process.stderr is not None:
                raise SystemExit(f"the command failed: {process.stderr.read()[-500:]!r}")


@asynccontextmanager
async def _client(server: Server) -> AsyncGenerator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=server.url, timeout=120, trust_env=False) as client:
        yield client


async def _health(client: httpx2.AsyncClient) -> float:
    began = time.perf_counter()
    (await client.get("/healthz")).raise_for_status()
    return time.perf_counter() - began


async def _exchange(client: httpx2.AsyncClient, key: str, number: int) -> float:
    """Store a message and recall it; return the seconds that both took."""
    headers, at = {"authorization": f"Bearer {key}"}, f"/v1/spaces/{_NEIGHBOR}"
    began = time.perf_counter()
    stored = await client.post(f"{at}/remember", json={"messages": f"I like tea number {number}."}, headers=headers)
    recalled = await client.post(f"{at}/recall", json={"question": "Which tea do I like?"}, headers=headers)
    took = time.perf_counter() - began
    stored.raise_for_status()
    recalled.raise_for_status()
    return took


async def _make_keys(target: str) -> tuple[str, str]:
    async with bethink.connect(target, embedder="none", learn=False) as memory:
        create = memory.admin.keys.create
        scopes = [Scope.READ, Scope.WRITE]
        made = [await create(name=space, scopes=scopes, spaces=[space]) for space in (SPACE, _NEIGHBOR)]
    return made[0].key, made[1].key


def _attack(place: Place, kind: Kind, keys: tuple[str, str], requests: int, more: tuple[str, ...]) -> Measured:
    """Run one kind of request against a server of its own."""
    measured, models = Measured(), Models()
    models.reply = partial(_answer, models)
    log = Path(place.ledger).parent / "server.log"
    settings = {"EMBEDDER": "none", "PROXY_OPENAI_URL": f"{models.url}/v1"}
    server = start(place.target, port=free_port(), log=log, command=more, settings=settings)
    try:
        server.wait_until_up()
        attack = Attack(place=place, kind=kind, server=server, keys=keys, requests=requests, measured=measured)
        anyio.run(attack.run)
    finally:
        server.process.kill()  # requests that are still running are of no interest
        server.process.wait(60)
        models.shutdown()
        models.server_close()
    return measured


def _answer(models: Models, sent: Sent) -> Reply:
    models.sent.clear()  # it would keep every body
    return answer(sent)


def campaign(place: Place, requests: int, seed: int, mutant: Mutant | None) -> tuple[str, Verdict]:
    """Run every kind of request, or those of a short run."""
    del seed  # nothing is random
    more = (*SERVE, "--proxy") if mutant is None else ("-m", "faults.hostile_server", mutant)
    keys = anyio.run(_make_keys, place.target)
    slack = 1 if requests >= _SHORT else _SLACK
    chosen = [kind for kind in kinds() if requests >= _SHORT or kind.name in SHORT]
    run: Callable[[Kind], Measured] = partial(_run, place, keys=keys, requests=requests, more=more)
    violations: list[str] = []
    for kind in chosen:
        measured = run(kind)
        failed = measured.violations(kind, slack)
        if failed:
            measured = run(kind)
            failed = measured.violations(kind, slack)
        print(f"{place.database}: {measured.line(kind)}", flush=True)
        violations += failed
    return f"{len(chosen)} kinds", Verdict(figures=f"{requests} requests at once", violations=violations)


def _run(place: Place, kind: Kind, *, keys: tuple[str, str], requests: int, more: tuple[str, ...]) -> Measured:
    return _attack(place, kind, keys, requests, more)


if __name__ == "__main__":
    sys.exit(command(__doc__, "--requests", Mutant, campaign))
