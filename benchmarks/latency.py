"""What `recall` costs beside the bare statements it issues, and whether it stays as quick while the database grows.

Cost is CPU: that of this process, and that of the server's process behind its connection. Both sides take turns.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import anyio

from benchmarks.latency_data import (
    World,
    fill_postgres,
    fill_sqlite,
    index,
    prepare,
    settle,
)
from benchmarks.latency_measure import (
    Figure,
    Subject,
    database_at,
    measured,
)
from benchmarks.latency_space import on_space
from tools import postgres

COST_GOAL = 1.3
GROWTH_GOAL = 1.2
SMALL = 10_000
MOST_VECTORS = 100_000


def on_postgres(options: argparse.Namespace) -> list[Figure]:
    """Load a large and a small database of spaces of one size, and ask both."""
    size = options.facts // options.spaces
    large = World(seed=options.seed, spaces=options.spaces, size=size)
    small = World(seed=options.seed, spaces=max(1, min(SMALL, large.facts // 2) // size), size=size)
    subjects: list[Subject] = []
    with postgres.running() as superuser:
        for name, world in (("large", large), ("small", small)):
            dsn = postgres.create_database(superuser, name)
            made = prepare(database_at(dsn), with_vectors=options.vectors)
            with _told("PostgreSQL", world):
                fill_postgres(postgres.in_database(superuser, name), world, index=made)
                index(database_at(dsn), world)
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
        made = prepare(database_at(path), with_vectors=options.vectors)
        with _told("SQLite", world):
            fill_sqlite(path, world, index=made)
            index(database_at(path), world)
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
        figures = on_space(options)
        return verdict(figures, short=options.short)
    if options.database != "sqlite":
        figures += on_postgres(options)
    if options.database != "postgres":
        figures += on_sqlite(options)
    return verdict(figures, short=options.short)


if __name__ == "__main__":
    sys.exit(main())
