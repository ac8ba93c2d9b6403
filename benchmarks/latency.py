"""What `recall` costs beside the bare statements it issues, and whether it stays as quick while the database grows.

Cost is CPU: that of this process, and that of the server's process behind its connection. Both sides take turns.
"""

import argparse
import gc
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

import bethink
from benchmarks.latency_bare import BarePostgres, BareSqlite, Transaction, noted
from benchmarks.latency_data import (
    DIMENSION,
    EMBEDDER,
    Question,
    World,
    fill_postgres,
    fill_sqlite,
    index,
    prepare,
    settle,
)
from bethink.api.connect import memory_from
from bethink.extend import TextKind
from bethink.store.db import Database
from bethink.store.engines.postgres import PostgresDatabase, PostgresOptions, PostgresTx
from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions, SqliteTx
from tools import postgres

COST_GOAL = 1.3
GROWTH_GOAL = 1.2
SMALL = 10_000
MOST_VECTORS = 100_000
_TURN = 10


class Known:
    """An embedder that was asked everything before."""

    name, dimension = EMBEDDER, DIMENSION

    def __init__(self, questions: Sequence[Question]) -> None:
        self._vectors = {question.text: question.vector for question in questions}

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "message") -> list[Sequence[float]]:
        """Look the vectors up."""
        del kind
        return [self._vectors[text] for text in texts]


def plain_settings() -> bethink.Settings:
    """Return settings without an embedder that happens to be installed: it would embed what nothing has indexed."""
    return bethink.load_settings(environ={}, embedder="none", learn=False, redact=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What one answer took, in milliseconds."""

    client: float
    backend: float
    wall: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One way to answer, the server's process that it has to itself, and what every question took, round by round."""

    name: str
    answer: Callable[[int], Awaitable[object]]
    backend: int | None
    spent: list[list[Spent]] = field(default_factory=list[list[Spent]])

    async def ask(self, place: int) -> None:
        """Answer one question and note what it took."""
        before, started, began = _used(self.backend), time.perf_counter(), time.process_time()
        await self.answer(place)
        client, wall = time.process_time() - began, time.perf_counter() - started
        backend = _used(self.backend) - before
        self.spent[place].append(Spent(client=client * 1e3, backend=backend * 1e3, wall=wall * 1e3))

    @property
    def cost(self) -> float:
        """The median over questions of their CPU, which is the median over rounds."""
        return statistics.median(statistics.median(each.client + each.backend for each in took) for took in self.spent)

    def __str__(self) -> str:
        every = [each for took in self.spent for each in took]
        client, backend = (statistics.median(getattr(each, name) for each in every) for name in ("client", "backend"))
        walls = sorted(each.wall for each in every)
        p50, p95 = statistics.median(walls), walls[len(walls) * 95 // 100]
        cpu = f"CPU p50 {self.cost:6.3f} ms (client {client:.3f}, backend {backend:.3f})"
        return f"{self.name:32} {cpu}; wall p50 {p50:.2f}, p95 {p95:.2f} ms"


def _used(process: int | None) -> float:
    """Return the seconds of CPU that a process has used so far."""
    if process is None:
        return 0.0
    return int(Path(f"/proc/{process}/schedstat").read_bytes().split()[0]) / 1e9


class Subject:
    """A database with its questions, asked through Memory and bare."""

    def __init__(self, name: str, target: str, questions: Sequence[Question], *, with_vectors: bool) -> None:
        self.questions = questions
        self._name = name
        self._database = _database(target)
        embedder = Known(questions) if with_vectors else None
        self._memory = memory_from(plain_settings(), database=self._database, embedder=embedder)
        self._bare = BarePostgres(target) if _is_server(target) else BareSqlite(target)
        self._noted: list[Sequence[Transaction]] = []

    async def open(self) -> tuple[Side, Side]:
        """Open both sides, ask everything to learn what is issued, and check that the same comes back bare."""
        await self._memory.open()
        for place in range(len(self.questions)):
            await self._recall(place)
        for place in range(len(self.questions)):
            with noted(SqliteTx if self._bare.backend is None else PostgresTx) as seen:
                await self._recall(place)
            self._noted.append(seen)
            expected = sum(statement.rows for transaction in seen for statement in transaction.statements)
            if self._bare.issue(seen) != expected:
                raise SystemExit("the bare statements found something else")
        backend = None if self._bare.backend is None else await self._database.transact(_backend)
        ours = Side(name=f"recall, {self._name}", answer=self._recall, backend=backend)
        bare = Side(name=f"bare, {self._name}", answer=self._issue, backend=self._bare.backend)
        for side in (ours, bare):
            side.spent.extend([] for _ in self.questions)
        return ours, bare

    async def close(self) -> None:
        """Let go of both."""
        self._bare.close()
        await self._memory.close()

    def issued(self) -> str:
        """Name the statements of a recall, and how often it issues each on average."""
        names = Counter(each.name for seen in self._noted for transaction in seen for each in transaction.statements)
        return ", ".join(f"{name} {count / len(self._noted):.3g}" for name, count in names.items())

    async def _recall(self, place: int) -> None:
        question = self.questions[place]
        found = await self._memory.space(question.space).recall(question.text)
        if not found:
            raise SystemExit(f"nothing was found for {question.text!r}: {found.missing}")

    async def _issue(self, place: int) -> None:
        self._bare.issue(self._noted[place])


def _backend(tx: Any) -> int:
    return tx._connection.info.backend_pid


def _is_server(target: str) -> bool:
    return target.startswith("postgresql:")


def _database(target: str) -> Database:
    """Open a database so that one connection answers."""
    if _is_server(target):
        return PostgresDatabase(PostgresOptions(dsn=target, pool_size=1))
    return SqliteDatabase(SqliteOptions(path=target, readers=1))


async def measured(subjects: Sequence[Subject], rounds: int) -> list[Side]:
    """Ask every question of every subject both ways, in turns, and return the sides in order."""
    sides = [side for subject in subjects for side in await subject.open()]
    for subject in subjects:
        print(f"a recall issues: {subject.issued()}", flush=True)
    gc.collect()
    gc.freeze()  # what the benchmark itself holds is no business of a recall
    for _ in range(rounds):
        for number, first in enumerate(range(0, len(sides[0].spent), _TURN)):
            # Who comes first finds the processor's caches as another left them: not always the same one.
            for side in sides if number % 2 else reversed(sides):
                for place in range(first, min(first + _TURN, len(side.spent))):
                    await side.ask(place)
    gc.unfreeze()
    for subject in subjects:
        await subject.close()
    for side in sides:
        print(side, flush=True)
    return sides


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A ratio, and the most it may be."""

    text: str
    ratio: float
    goal: float

    @property
    def reached(self) -> bool:
        return round(self.ratio, 2) <= self.goal

    def __str__(self) -> str:
        note = "reached" if self.reached else "NOT reached"
        return f"{self.text}: {self.ratio:.2f} times (goal: at most {self.goal}): {note}"


def on_postgres(options: argparse.Namespace) -> list[Figure]:
    """Load a large and a small database of spaces of one size, and ask both."""
    size = options.facts // options.spaces
    large = World(seed=options.seed, spaces=options.spaces, size=size)
    small = World(seed=options.seed, spaces=max(1, min(SMALL, large.facts // 2) // size), size=size)
    subjects: list[Subject] = []
    with postgres.running() as superuser:
        for name, world in (("large", large), ("small", small)):
            dsn = postgres.create_database(superuser, name)
            made = prepare(_database(dsn), with_vectors=options.vectors)
            with _told("PostgreSQL", world):
                fill_postgres(postgres.in_database(superuser, name), world, index=made)
                index(_database(dsn), world)
                settle(postgres.in_database(superuser, name))
            subjects.append(_subject("PostgreSQL", dsn, world, options))
        recall, bare, recall_small, _ = anyio.run(measured, subjects, options.rounds)
    growth = f"PostgreSQL, recall at {large.facts:,} facts against {small.facts:,}"
    return [
        Figure(text="PostgreSQL, recall against its bare statements", ratio=recall.cost / bare.cost, goal=COST_GOAL),
        Figure(text=growth, ratio=recall.cost / recall_small.cost, goal=GROWTH_GOAL),
    ]


def on_sqlite(options: argparse.Namespace) -> list[Figure]:
    """Load a file with spaces of the same size, and ask it."""
    size = options.facts // options.spaces
    world = World(seed=options.seed, spaces=max(1, options.sqlite_facts // size), size=size)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "benchmark.db")
        made = prepare(_database(path), with_vectors=options.vectors)
        with _told("SQLite", world):
            fill_sqlite(path, world, index=made)
            index(_database(path), world)
        recall, bare = anyio.run(measured, [_subject("SQLite", path, world, options)], options.rounds)
    return [Figure(text="SQLite, recall against its bare statements", ratio=recall.cost / bare.cost, goal=COST_GOAL)]


def _subject(name: str, target: str, world: World, options: argparse.Namespace) -> Subject:
    questions = world.questions(options.questions)
    return Subject(f"{name}, {world.facts:,} facts", target, questions, with_vectors=options.vectors)


@contextmanager
def _told(where: str, world: World) -> Generator[None]:
    started = time.monotonic()
    yield
    spent = time.monotonic() - started
    print(f"{where}: {world.facts:,} facts in {world.spaces:,} spaces loaded in {spent:.0f} s", flush=True)


def verdict(figures: Sequence[Figure], *, short: bool) -> int:
    """Print every figure beside its goal, and return what the process ends with."""
    if short:
        print("a short run is noisy: it shows the figures and fails on errors only")
    for figure in figures:
        print(figure)
    return 0 if short or all(figure.reached for figure in figures) else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=1_000_000, help="facts on PostgreSQL")
    parser.add_argument("--spaces", type=int, default=10_000, help="spaces they are spread over")
    parser.add_argument("--sqlite-facts", type=int, default=100_000, help="facts on SQLite, in spaces of the same size")
    parser.add_argument("--questions", type=int, default=300, help="how many are asked of each database")
    parser.add_argument("--rounds", type=int, default=7, help="how often both sides answer every question")
    parser.add_argument("--short", action="store_true", help="20,000 facts and few questions; only errors fail")
    parser.add_argument("--space", action="store_true", help="instead: one space that grows, against a small one")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000], help="messages of --space")
    parser.add_argument("--long", action="store_true", help="with --space: also a million messages")
    parser.add_argument("--vectors", action="store_true", help=f"with vectors, for {MOST_VECTORS:,} facts at most")
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"], default="both")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not os.access("/proc/self/schedstat", os.R_OK):
        raise SystemExit("what the server's process spends is read from /proc/<pid>/schedstat, which only Linux has")
    if options.short:
        options.facts, options.spaces, options.sqlite_facts = 20_000, 200, 20_000
        options.questions, options.rounds = 30, 3
    if options.vectors and options.facts > MOST_VECTORS:
        options.spaces, options.facts = options.spaces * MOST_VECTORS // options.facts, MOST_VECTORS
    print(f"seed {options.seed}", flush=True)
    figures: list[Figure] = []
    if options.space:
        from benchmarks.latency_space import on_space  # noqa: PLC0415 - it builds on this module

        figures = on_space(options)
        return verdict(figures, short=options.short)
    if options.database != "sqlite":
        figures += on_postgres(options)
    if options.database != "postgres":
        figures += on_sqlite(options)
    return verdict(figures, short=options.short)


if __name__ == "__main__":
    sys.exit(main())
