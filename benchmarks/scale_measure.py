"""What an operation costs in a filled database, and which statements it comes down to.

Cost is CPU, of this process and of the server's process behind its connection, over that of a bare statement which
takes turns with it: what other programs do to the machine, they do to both.
"""

# pyright: reportUnknownMemberType=false

import gc
import random
import re
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import anyio
import psycopg

import bethink
from benchmarks.latency_measure import Spent, backend_process, database_at, used
from benchmarks.scale_fill import LARGE, Filled
from benchmarks.scale_template import memory_on, question, talk
from bethink.model.ids import new_id
from bethink.model.jobs import JobKind
from bethink.store.sql import Dialect, queries
from tools.postgres import APP_ROLE

OPERATIONS = ("append", "recall", "learn", "forget")
RECALL_LARGE = "recall in the large space"
_READS = ("recall", RECALL_LARGE)
_LEARNT = 10
_ASIDE = re.compile(r"--[^\n]*|/\*.*?\*/|\$\d+|'[^']*'|\b\d+\b|\s+", re.DOTALL)
"""What the server's record of statements leaves out or replaces: remarks and constants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What an operation takes, in milliseconds, and how many bare statements that is."""

    cpu: float
    server: float
    """The part of it that the database's server takes."""
    wall: float
    bare: float
    bare_wall: float
    first: float
    """The CPU of the first one in a space."""

    @property
    def ratio(self) -> float:
        """CPU over that of a bare statement."""
        return self.cpu / self.bare

    @property
    def wall_ratio(self) -> float:
        """Time over that of a bare statement."""
        return self.wall / self.bare_wall

    @property
    def first_ratio(self) -> float:
        """CPU of the first one in a space over that of a bare statement."""
        return self.first / self.bare


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """A statement of an operation: how often it is issued, the blocks that it touches, and its time on the server."""

    name: str
    calls: float
    hit: float
    read: float
    milliseconds: float

    def __str__(self) -> str:
        blocks = f"{self.hit:.1f} blocks, {self.read:.2f} of them read" if self.read else f"{self.hit:.1f} blocks"
        return f"{self.name}, {self.calls:.3g} times: {blocks}, {self.milliseconds:.3f} ms"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What an operation does to the server: its statements, its transactions that write, and bytes of log."""

    issued: Sequence[Issued]
    transactions: float
    log: float

    @property
    def blocks(self) -> float:
        """How many blocks it touches."""
        return sum(each.hit for each in self.issued)


@dataclass(slots=True)
class _Taken:
    ours: list[Spent] = field(default_factory=list[Spent])
    bare: list[Spent] = field(default_factory=list[Spent])
    first: list[Spent] = field(default_factory=list[Spent])

    def cost(self) -> Cost:
        first = self.first or self.ours
        return Cost(
            cpu=_median(self.ours), server=statistics.median(each.backend for each in self.ours),
            wall=_median(self.ours, "wall"), bare=_median(self.bare), bare_wall=_median(self.bare, "wall"),
            first=_median(first),
        )  # fmt: skip


def _median(spent: Sequence[Spent], what: str = "") -> float:
    return statistics.median(each.wall if what == "wall" else each.client + each.backend for each in spent)


class _Bare:
    """A connection of its own with nothing around it."""

    def __init__(self, dsn: str) -> None:
        self._connection = psycopg.connect(dsn, autocommit=True)
        self._connection.execute("CREATE TABLE IF NOT EXISTS scale_bare (n bigint)")
        self.backend = self._connection.info.backend_pid

    async def read(self) -> None:
        self._connection.execute(b"SELECT 1").fetchone()

    async def write(self) -> None:
        self._connection.execute(b"INSERT INTO scale_bare VALUES (1)")

    def close(self) -> None:
        self._connection.close()


async def _timed(work: Callable[[], Awaitable[object]], backend: int) -> Spent:
    before, started, began = used(backend), time.perf_counter(), time.process_time()
    await work()
    client, wall = time.process_time() - began, time.perf_counter() - started
    return Spent(client=client * 1e3, backend=(used(backend) - before) * 1e3, wall=wall * 1e3)


class Measurement:
    """Operations on some spaces of a filled database, in turns."""

    def __init__(self, filled: Filled, *, seed: int, spaces: int) -> None:
        chance = random.Random(f"{seed}/{filled.messages}")
        self._filled, self._chance = filled, chance
        self.spaces = chance.sample(filled.names, k=min(spaces, len(filled.names)))
        self._texts = list(talk(f"{seed}/{filled.messages}/new", 500))
        self._sessions: dict[str, bethink.Session] = {}
        self._appended: dict[str, list[int]] = {}

    def costs(self, rounds: int) -> Mapping[str, Cost]:
        """Carry out every operation in every space, round after round."""
        return anyio.run(self._costs, rounds)

    def profile(self) -> Mapping[str, Profile]:
        """Return what each operation does to the server, statements with most blocks first."""
        return anyio.run(self._profile)

    async def _costs(self, rounds: int) -> Mapping[str, Cost]:
        names = [*OPERATIONS, *([RECALL_LARGE] if self._filled.large else [])]
        taken = {name: _Taken() for name in names}
        database, bare = database_at(self._filled.dsn), _Bare(self._filled.dsn)
        async with memory_on(database) as memory:
            await self._open(memory)
            backend = await database.transact(backend_process)
            gc.collect()
            gc.freeze()
            for number in range(rounds + 1):
                for space in self._chance.sample(self.spaces, k=len(self.spaces)):
                    for name in names:
                        spent = await _timed(await self._ready(memory, name, space), backend)
                        each = taken[name]
                        (each.ours if number else each.first).append(spent)
                        each.bare.append(await _timed(bare.read if name in _READS else bare.write, bare.backend))
            gc.unfreeze()
        bare.close()
        return {name: each.cost() for name, each in taken.items()}

    async def _profile(self) -> Mapping[str, Profile]:
        found: dict[str, Profile] = {}
        async with memory_on(database_at(self._filled.dsn)) as memory:
            await self._open(memory)
            with psycopg.connect(self._filled.superuser, autocommit=True) as connection:
                for name in [*OPERATIONS, *([RECALL_LARGE] if self._filled.large else [])]:
                    works = [await self._ready(memory, name, space) for space in self.spaces]
                    connection.execute("SELECT pg_stat_statements_reset()")
                    before = _written(connection)
                    for work in works:
                        await work()
                    written = [after - was for after, was in zip(_written(connection), before, strict=True)]
                    rows = connection.execute(_ISSUED, [APP_ROLE]).fetchall()
                    transactions, log = (each / len(works) for each in written)
                    found[name] = Profile(issued=_issued(rows, len(works)), transactions=transactions, log=log)
        return found

    async def _open(self, memory: bethink.Memory) -> None:
        """Open a session in each space, with something in it that can be forgotten."""
        for name in self.spaces:
            session = await memory.space(name).session(new_id("cht"))
            self._sessions[name] = session
            self._appended[name] = await session.append(self._turn())

    def _turn(self) -> list[bethink.Message]:
        said = self._chance.sample(self._texts, k=2)
        return [
            bethink.Message(role="user", content=said[0]),
            bethink.Message(role="assistant", content=said[1]),
        ]

    async def _ready(self, memory: bethink.Memory, name: str, space: str) -> Callable[[], Awaitable[object]]:
        """Prepare an operation, and return it."""
        session, appended = self._sessions[space], self._appended[space]
        if name == "append":
            turn = self._turn()

            async def append() -> None:
                appended.extend(await session.append(turn))

            return append
        if name == "forget":
            if not appended:
                appended.extend(await session.append(self._turn()))
            ref = f"message:{session.id}:{appended.pop()}"
            return lambda: memory.space(space).forget(ref)
        if name == "learn":
            return await self._ready_to_learn(memory.space(space))
        asked = LARGE if name == RECALL_LARGE else space
        text = question(self._chance.choice(self._filled.texts(asked)), self._chance)

        async def recall() -> None:
            if not await memory.space(asked).recall(text):
                raise SystemExit(f"nothing was found in {asked} for {text!r}")

        return recall

    async def _ready_to_learn(self, space: bethink.Space) -> Callable[[], Awaitable[object]]:
        while (await space.admin.learn(kinds=[JobKind.EXTRACT])).leased:  # what was appended to the other session
            pass
        session = await space.session(new_id("cht"))
        said = self._chance.sample(self._texts, k=_LEARNT)
        await session.append([bethink.Message(role="user", content=text) for text in said])
        await session.end()

        async def learn() -> None:
            report = await space.admin.learn(kinds=[JobKind.EXTRACT])
            if report.leased != 1 or not report.settled:
                raise SystemExit(f"nothing was learnt: {report}")

        return learn


def _written(connection: "psycopg.Connection[Any]") -> tuple[int, int]:
    """Return how many transactions have written so far, and how many bytes of log."""
    row = connection.execute(
        "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint, pg_current_wal_insert_lsn() - '0/0'::pg_lsn"
    ).fetchone()
    return (0, 0) if row is None else (int(row[0]), int(row[1]))


_ISSUED = b"""
SELECT query, calls, shared_blks_hit + shared_blks_read, shared_blks_read, total_exec_time
FROM pg_stat_statements JOIN pg_roles r ON r.oid = userid WHERE r.rolname = %s
"""


def _issued(rows: Sequence[tuple[Any, ...]], operations: int) -> list[Issued]:
    found = [
        Issued(
            name=_names().get(_shape(query), " ".join(query.split())[:60]), calls=calls / operations,
            hit=hit / operations, read=read / operations, milliseconds=took / operations,
        )
        for query, calls, hit, read, took in rows
    ]  # fmt: skip
    return sorted(found, key=lambda each: -each.hit)


@cache
def _names() -> dict[str, str]:
    return {_shape(query.text): name for name, query in queries(Dialect.POSTGRES).items()}


def _shape(text: str) -> str:
    return "".join(_ASIDE.sub(" ", text).split()).rstrip(";")
