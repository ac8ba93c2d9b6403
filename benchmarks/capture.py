"""Appends per second through Memory beside the same rows written by the bare driver, at the same durability."""

# pyright: reportUnknownMemberType=false

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import apsw
import psycopg
from psycopg.rows import tuple_row

import bethink
from bethink.model.records import Session
from bethink.store.sql import Dialect, queries
from tools import postgres

GOALS = {1: 0.5, 100: 0.75}
_CONTENT = ("what was said is what we keep, " * 20)[:600]  # 150 tokens, the mean of chat messages in the field
_INSERT = queries(Dialect.SQLITE)["insert_messages"]
_TURN = 10
Write = Callable[[Sequence[tuple[Any, ...]]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Messages per second of both sides, round by round."""

    database: str
    batch: int
    bare: list[float]
    memory: list[float]

    @property
    def ratio(self) -> float:
        return statistics.median(memory / bare for memory, bare in zip(self.memory, self.bare, strict=True))

    @property
    def reached(self) -> bool:
        return self.ratio >= GOALS[self.batch]


def _rows(session: Session, first: int, count: int) -> list[tuple[Any, ...]]:
    tail = (None, "[]", None, 0, "{}", "user", None, None, 1, 1)
    return [(session.space, session.id, first + index, "user", _CONTENT, *tail) for index in range(count)]


@contextmanager
def _bare_sqlite(path: str) -> Generator[Write]:
    connection = apsw.Connection(path)
    connection.execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA busy_timeout = 5000")

    def write(rows: Sequence[tuple[Any, ...]]) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(_INSERT.text, rows)
        connection.execute("COMMIT")

    yield write
    connection.close()


@contextmanager
def _bare_postgres(dsn: str, space: str) -> Generator[Write]:
    names = "space_id, session_id, number, " + ", ".join(_INSERT.parameters[3:])
    text = f"INSERT INTO messages ({names}) VALUES ({', '.join(['%s'] * len(_INSERT.parameters))})".encode()
    with psycopg.connect(dsn, autocommit=True, row_factory=tuple_row) as connection:
        connection.execute("SELECT set_config('bethink.space', %s, false)", [space])

        def write(rows: Sequence[tuple[Any, ...]]) -> None:
            if len(rows) == 1:
                connection.execute(text, rows[0])
                return
            with connection.transaction(), connection.cursor() as cursor:
                cursor.executemany(text, rows)

        yield write


async def _measure(name: str, target: str, batch: int, rounds: int, turns: int) -> Figure:
    figure = Figure(database=name, batch=batch, bare=[], memory=[])
    async with bethink.connect(target) as memory:
        key = bethink.ConversationKey(channel="benchmark", chat=str(batch))
        session = await memory.open_session(space="benchmark", conversation=key)
        twin = await memory.open_session(space="benchmark", conversation=key, agent="bare")
        messages = [bethink.Message(role="user", content=_CONTENT, said_at=None) for _ in range(batch)]
        bare = _bare_sqlite(target) if name == "sqlite" else _bare_postgres(target, "benchmark")
        with bare as write:
            written = 0
            for _ in range(rounds):
                spent = {"bare": 0.0, "memory": 0.0}
                # Both sides take turns every few batches, so that a noisy machine slows them alike.
                for _ in range(turns):
                    rows = [_rows(twin, written + 1 + batch * turn, batch) for turn in range(_TURN)]
                    written += batch * _TURN
                    started = time.perf_counter()
                    for each in rows:
                        write(each)
                    spent["bare"] += time.perf_counter() - started
                    started = time.perf_counter()
                    for _ in range(_TURN):
                        await memory.append(session, messages)
                    spent["memory"] += time.perf_counter() - started
                figure.bare.append(turns * _TURN * batch / spent["bare"])
                figure.memory.append(turns * _TURN * batch / spent["memory"])
    return figure


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="alternating rounds of bare and Memory")
    parser.add_argument("--turns", type=int, default=30, help="turns of 10 batches each side takes in a round")
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"], default="both")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    figures: list[Figure] = []
    if options.database != "postgres":
        with tempfile.TemporaryDirectory() as folder:
            for batch in GOALS:
                path = str(Path(folder) / f"{batch}.db")
                figures.append(anyio.run(_measure, "sqlite", path, batch, options.rounds, options.turns))
    if options.database != "sqlite":
        with postgres.running(durable=True) as superuser:
            for batch in GOALS:
                dsn = postgres.create_database(superuser, f"batch{batch}")
                figures.append(anyio.run(_measure, "postgres", dsn, batch, options.rounds, options.turns))
    return _report(figures, as_json=options.json)


def _report(figures: list[Figure], *, as_json: bool) -> int:
    for figure in figures:
        line = {
            "database": figure.database,
            "batch": figure.batch,
            "bare_per_second": round(statistics.median(figure.bare)),
            "memory_per_second": round(statistics.median(figure.memory)),
            "ratio": round(figure.ratio, 3),
            "goal": GOALS[figure.batch],
            "reached": figure.reached,
        }
        text = "{database:9} batch {batch:>3}: bare {bare_per_second:>7}/s, Memory {memory_per_second:>7}/s, "
        print(json.dumps(line) if as_json else (text + "ratio {ratio:.3f} (goal {goal})").format(**line))
    return 0 if all(figure.reached for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
