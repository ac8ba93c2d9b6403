"""What the latency benchmarks measure with: a memory under test, the bare statements beside it, and figures."""

import gc
import statistics
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bethink
from benchmarks.latency_bare import BarePostgres, BareSqlite, Transaction, noted
from benchmarks.latency_data import (
    DIMENSION,
    EMBEDDER,
    Question,
)
from bethink.api.connect import memory_from
from bethink.extend import TextKind
from bethink.store.db import Database
from bethink.store.engines.postgres import PostgresDatabase, PostgresOptions, PostgresTx
from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions, SqliteTx

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
    return bethink.Settings.load(environ={}, embedder="none", learn=False, redact=False)


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
        before, started, began = used(self.backend), time.perf_counter(), time.process_time()
        await self.answer(place)
        client, wall = time.process_time() - began, time.perf_counter() - started
        backend = used(self.backend) - before
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


def used(process: int | None) -> float:
    """Return the seconds of CPU that a process has used so far."""
    if process is None:
        return 0.0
    return int(Path(f"/proc/{process}/schedstat").read_bytes().split()[0]) / 1e9


class Subject:
    """A database with its questions, asked through Memory and bare."""

    def __init__(self, name: str, target: str, questions: Sequence[Question], *, with_vectors: bool) -> None:
        self.questions = questions
        self._name = name
        self._database = database_at(target)
        embedder = Known(questions) if with_vectors else None
        self._memory = memory_from(plain_settings(), database=self._database, embedder=embedder)
        self._bare = BarePostgres(target) if is_server(target) else BareSqlite(target)
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
        backend = None if self._bare.backend is None else await self._database.transact(backend_process)
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
            raise SystemExit(f"nothing was found for {question.text!r}: {found.note}")

    async def _issue(self, place: int) -> None:
        self._bare.issue(self._noted[place])


def backend_process(tx: Any) -> int:
    return tx._connection.info.backend_pid


def is_server(target: str) -> bool:
    return target.startswith("postgresql:")


def database_at(target: str) -> Database:
    """Open a database so that one connection answers."""
    if is_server(target):
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
