"""Appends per second through Memory beside the same rows written by the bare driver, at the same durability.

The same rows are the messages, the hashes of their words in the index, and the row of their session, which an append
updates with the last number and the mark. The bare driver gets the hashes ready-made.
"""

# pyright: reportUnknownMemberType=false

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import anyio
import apsw
import psycopg
from psycopg.raw_cursor import RawCursor

import bethink
from bethink.api.connect import memory_from
from bethink.base.language import count_terms
from bethink.model.records import conversation_key
from bethink.store import sessions
from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions
from bethink.store.sql import Dialect, queries
from tools import postgres

GOALS = {1: 0.5, 100: 0.75}
_CONTENT = ("what was said is what we keep, " * 20)[:600]  # 150 tokens, the mean of chat messages in the field
_COUNTS = count_terms(_CONTENT)
_HASHES = [blake2b(term.encode(), digest_size=8).digest() for term in _COUNTS]
_SEAL = "0" * 64
_FIRST_DOC = 1 << 40
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


def _rows(session: bethink.Session, first: int, count: int) -> list[tuple[Any, ...]]:
    tail = (None, "[]", None, 0, "{}", "user", None, None, None, "[]", _SEAL)
    return [(session.space, session.id, first + index, 1, "user", _CONTENT, *tail) for index in range(count)]


def _indexed(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return what the index gets of the same messages."""
    packed, hits = b"".join(_HASHES), bytes(_COUNTS.values())
    return [
        (_FIRST_DOC + 4 * number, space, "message", session, number, 1, len(_CONTENT), 0, packed, hits)
        for space, session, number, *_ in rows
    ]


@contextmanager
def _bare_sqlite(path: str) -> Generator[Write]:
    connection = apsw.Connection(path)
    connection.execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA busy_timeout = 5000")
    known = queries(Dialect.SQLITE)
    insert, update, index, spell = (
        known[name].text for name in ("insert_messages", "take_numbers", "insert_terms", "insert_terms_fts")
    )

    def write(rows: Sequence[tuple[Any, ...]]) -> None:
        space, session = rows[0][:2]
        indexed = _indexed(rows)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(update, (len(rows), 5, 1, space, session)).fetchall()
        connection.executemany(insert, rows)
        connection.executemany(index, indexed)
        connection.executemany(spell, [(row[0], row[-2].hex(" ", 8)) for row in indexed])
        connection.execute("COMMIT")

    yield write
    connection.close()


@contextmanager
def _bare_postgres(dsn: str, space: str) -> Generator[Write]:
    known = queries(Dialect.POSTGRES)
    insert, update, index = (known[name].text.encode() for name in ("insert_messages", "take_numbers", "insert_terms"))
    numbers = [int.from_bytes(digest, "big", signed=True) for digest in _HASHES]
    with psycopg.connect(dsn, autocommit=True, cursor_factory=RawCursor) as connection:
        connection.execute("SELECT set_config('bethink.space', $1, false)", [space])
        cursor = connection.cursor()

        def write(rows: Sequence[tuple[Any, ...]]) -> None:
            space, session = rows[0][:2]
            indexed = [(*row[:-2], numbers, row[-1].hex()) for row in _indexed(rows)]
            with connection.transaction():
                cursor.execute(update, (len(rows), 5, 1, space, session)).fetchall()
                if len(rows) == 1:
                    cursor.execute(insert, rows[0])
                    cursor.execute(index, indexed[0])
                else:
                    cursor.executemany(insert, rows)
                    cursor.executemany(index, indexed)

        yield write


async def _twin(target: str, key: str) -> bethink.Session:
    """Make the schema and an empty session in the database that the bare driver writes to."""
    async with bethink.connect(target, embedder="none") as memory:
        return await memory.space("benchmark").session(key)


async def _measure(name: str, targets: tuple[str, str], batch: int, rounds: int, turns: int) -> Figure:
    target, bare_target = targets
    figure = Figure(database=name, batch=batch, bare=[], memory=[])
    key = conversation_key(channel="benchmark", chat=str(batch))
    twin = await _twin(bare_target, key)
    messages = [bethink.Message(role="user", content=_CONTENT) for _ in range(batch)]
    bare = _bare_sqlite(bare_target) if name == "sqlite" else _bare_postgres(bare_target, twin.space)
    async with bethink.connect(target, embedder="none") as memory:
        session = await memory.space("benchmark").session(key)
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
                        await session.append(messages)
                    spent["memory"] += time.perf_counter() - started
                figure.bare.append(turns * _TURN * batch / spent["bare"])
                figure.memory.append(turns * _TURN * batch / spent["memory"])
    return figure


async def _profile(path: str) -> list[tuple[str, float]]:
    """Time what one append of one message is made of, on SQLite, each step adding to the one before."""
    database = SqliteDatabase(SqliteOptions(path=path))
    memory = memory_from(bethink.Settings.load(environ={}, embedder="none", learn=False), database=database)
    await memory.open()
    session = await memory.space("p").session(conversation_key(channel="p", chat="p"))
    message = [bethink.Message(role="user", content=_CONTENT)]
    place = {"space": session.space, "session_id": session.id}
    steps: list[tuple[str, Callable[[], Awaitable[object]]]] = [
        ("a hop to the writer's thread and back", lambda: database.transact(lambda _: None)),
        ("+ a transaction that writes the session's row", lambda: database.transact(
            lambda tx: sessions.take_numbers(tx, **place, count=1))),
        ("+ the message: all of Memory.append", lambda: session.append(message)),
    ]  # fmt: skip
    times: list[list[float]] = [[] for _ in steps]
    for _ in range(2000):
        for spent, (_, step) in zip(times, steps, strict=True):
            started = time.perf_counter()
            await step()
            spent.append(time.perf_counter() - started)
    await memory.close()
    return [(name, statistics.median(spent) * 1e6) for spent, (name, _) in zip(times, steps, strict=True)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="alternating rounds of bare and Memory")
    parser.add_argument("--turns", type=int, default=30, help="turns of 10 batches each side takes in a round")
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"], default="both")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--profile", action="store_true", help="say instead what an append on SQLite is made of")
    options = parser.parse_args()
    if options.profile:
        with tempfile.TemporaryDirectory() as folder:
            for name, micros in anyio.run(_profile, str(Path(folder) / "profile.db")):
                print(f"{micros:8.1f} microseconds  {name}")
        return 0
    figures: list[Figure] = []
    if options.database != "postgres":
        with tempfile.TemporaryDirectory() as folder:
            for batch in GOALS:
                paths = (str(Path(folder) / f"memory{batch}.db"), str(Path(folder) / f"bare{batch}.db"))
                figures.append(anyio.run(_measure, "sqlite", paths, batch, options.rounds, options.turns))
    if options.database != "sqlite":
        with postgres.running(durable=True) as superuser:
            for batch in GOALS:
                memory, bare = (postgres.create_database(superuser, f"{side}{batch}") for side in ("memory", "bare"))
                dsns = (memory, bare)
                figures.append(anyio.run(_measure, "postgres", dsns, batch, options.rounds, options.turns))
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
