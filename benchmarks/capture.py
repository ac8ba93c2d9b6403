"""CPU and time of appends next to the bare statements that write the same rows, on five kinds of text.

The same rows are the messages, the hashes of their words in the index, and the row of their session, which an append
updates with the last number and the mark. The bare driver gets the hashes ready-made, and redacts nothing.
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
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import anyio
import apsw
import psycopg
from psycopg.raw_cursor import RawCursor

import bethink
from benchmarks.capture_texts import KINDS, Kind, texts
from bethink.api.connect import memory_from
from bethink.model.records import conversation_key
from bethink.store import messages as store
from bethink.store import sessions
from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions
from bethink.store.sql import Dialect, queries
from tools import postgres

_SEAL = "0" * 64
_FIRST_DOC = 1 << 40
_BACKENDS = b"SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
Write = Callable[[Sequence[tuple[Any, ...]]], None]


@dataclass(slots=True, kw_only=True)
class Figure:
    """Seconds of both sides, round by round: of CPU, in this process and the server's, and on the clock."""

    database: str
    kind: Kind
    is_long: bool
    batch: int
    cpu: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    """Of the bare statements and of the append."""
    wall: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    appends: int = 0

    @property
    def goal(self) -> float | None:
        """The minimum of the ratio of CPU, if there is one."""
        return None if self.is_long else self.kind.goals.get(self.batch)

    @property
    def ratio(self) -> float:
        return statistics.median(bare / memory for bare, memory in self.cpu)

    @property
    def is_missed(self) -> bool:
        return self.goal is not None and self.ratio < self.goal

    def line(self) -> dict[str, Any]:
        messages = self.appends * self.batch
        micros = [sum(side) / messages * 1e6 for side in zip(*self.cpu, strict=True)]
        return {
            "database": self.database,
            "text": self.kind.name,
            "length": "20 kB" if self.is_long else "short",
            "batch": self.batch,
            "bare_us": round(micros[0]),
            "append_us": round(micros[1]),
            "cpu_ratio": round(self.ratio, 3),
            "wall_ratio": round(statistics.median(bare / memory for bare, memory in self.wall), 3),
            "goal": self.goal,
            "reached": not self.is_missed,
        }


@cache
def _index_data(text: str) -> tuple[bytes, bytes]:
    counts = store.words_of(text, None, by_user=True).counts
    digests = b"".join(blake2b(term.encode(errors="replace"), digest_size=8).digest() for term in counts)
    return digests, bytes(min(times, 255) for times in counts.values())


def _rows(session: bethink.Session, first: int, contents: Sequence[str]) -> list[tuple[Any, ...]]:
    tail = (None, "[]", None, 0, "{}", "user", None, None, None, "[]", _SEAL)
    return [
        (session.space, session.id, number, 1, "user", content, *tail) for number, content in enumerate(contents, first)
    ]


def _indexed(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return what the index gets of the same messages."""
    return [
        (_FIRST_DOC + 4 * number, space, "message", session, number, 1, len(content), 0, *_index_data(content))
        for space, session, number, _, _, content, *_ in rows
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
    with psycopg.connect(dsn, autocommit=True, cursor_factory=RawCursor) as connection:
        connection.execute("SELECT set_config('bethink.space', $1, false)", [space])
        cursor = connection.cursor()

        def write(rows: Sequence[tuple[Any, ...]]) -> None:
            space, session = rows[0][:2]
            indexed = [(*row[:-2], _numbers(row[-2]), row[-1].hex()) for row in _indexed(rows)]
            with connection.transaction():
                cursor.execute(update, (len(rows), 5, 1, space, session)).fetchall()
                if len(rows) == 1:
                    cursor.execute(insert, rows[0])
                    cursor.execute(index, indexed[0])
                else:
                    cursor.executemany(insert, rows)
                    cursor.executemany(index, indexed)

        yield write


@cache
def _numbers(digests: bytes) -> list[int]:
    return [int.from_bytes(digests[at : at + 8], "big", signed=True) for at in range(0, len(digests), 8)]


class _Clock:
    """Reads the CPU of this process and, on PostgreSQL, of the server's processes for one database."""

    def __init__(self, target: str) -> None:
        self._server = psycopg.connect(target, autocommit=True) if target.startswith("postgres") else None

    def __call__(self) -> tuple[float, float]:
        spent = 0.0
        if self._server is not None:
            for (process,) in self._server.execute(_BACKENDS).fetchall():
                spent += int(Path(f"/proc/{process}/schedstat").read_bytes().split()[0]) / 1e9
        return time.process_time() + spent, time.perf_counter()

    def close(self) -> None:
        if self._server is not None:
            self._server.close()


async def _measure(figure: Figure, targets: tuple[str, str], rounds: int, turns: int) -> Figure:
    key = conversation_key(channel="benchmark", chat=str(figure.batch))
    async with bethink.connect(targets[1], embedder="none") as memory:  # it makes the schema and an empty session
        twin = await memory.space("benchmark").session(key)
    bare = _bare_sqlite(targets[1]) if figure.database == "sqlite" else _bare_postgres(targets[1], twin.space)
    contents, written = cycle(texts(figure.kind, is_long=figure.is_long)), 0
    clocks = _Clock(targets[1]), _Clock(targets[0])
    async with bethink.connect(targets[0], embedder="none", learn_in_background=False) as memory:
        session = await memory.space("benchmark").session(key)
        with bare as write:
            for number in range(rounds + 1):
                spent = [0.0, 0.0, 0.0, 0.0]
                # Both sides take turns, so that a noisy machine slows them alike.
                for _ in range(turns):
                    batch = list(islice(contents, figure.batch))
                    rows = _rows(twin, written + 1, batch)
                    _indexed(rows)  # made now, and kept
                    written += len(rows)
                    messages = [bethink.Message(role="user", content=content) for content in batch]
                    before = clocks[0]()
                    write(rows)
                    middle = clocks[0](), clocks[1]()
                    await session.append(messages)
                    after = clocks[1]()
                    for at in (0, 1):
                        spent[at] += middle[0][at] - before[at]
                        spent[at + 2] += after[at] - middle[1][at]
                if number:  # the first round fills caches
                    figure.cpu.append((spent[0], spent[2]))
                    figure.wall.append((spent[1], spent[3]))
                    figure.appends += turns
    for clock in clocks:
        clock.close()
    return figure


async def _profile(path: str) -> list[tuple[str, float]]:
    """Time what one append of one message is made of, on SQLite, each step adding to the one before."""
    database = SqliteDatabase(SqliteOptions(path=path))
    memory = memory_from(bethink.Settings.load(environ={}, embedder="none", learn=False), database=database)
    await memory.open()
    session = await memory.space("p").session(conversation_key(channel="p", chat="p"))
    message = [bethink.Message(role="user", content=texts(KINDS[0], is_long=False)[0])]
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


def _figures(database: str) -> list[Figure]:
    return [
        Figure(database=database, kind=kind, is_long=is_long, batch=batch)
        for kind in KINDS
        for is_long, batch in ((False, 1), (False, 100), (True, 1))
    ]


def _run(database: str, rounds: int, turns: int) -> Generator[Figure]:
    with tempfile.TemporaryDirectory() as folder, _server(database) as superuser:
        for number, figure in enumerate(_figures(database)):
            names = [f"{side}{number}" for side in ("memory", "bare")]
            if superuser:
                memory, bare = (postgres.create_database(superuser, name) for name in names)
            else:
                memory, bare = (str(Path(folder) / f"{name}.db") for name in names)
            # A batch of 100 is as much work as many single messages.
            used = max(2, turns // 10) if figure.batch > 1 or figure.is_long else turns
            yield anyio.run(_measure, figure, (memory, bare), rounds, used)


@contextmanager
def _server(database: str) -> Generator[str]:
    if database == "sqlite":
        yield ""
        return
    with postgres.running(durable=True) as superuser:
        yield superuser


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="alternating rounds of bare and Memory")
    parser.add_argument("--turns", type=int, default=50, help="appends that each side does in a round")
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
    for database in ("sqlite", "postgres") if options.database == "both" else (options.database,):
        for figure in _run(database, options.rounds, options.turns):
            figures.append(figure)
            _print(figure, as_json=options.json)
    missed = sum(figure.is_missed for figure in figures)
    if not options.json:
        goals = sum(figure.goal is not None for figure in figures)
        print(f"CPU of the bare statements compared with append: {goals - missed} of {goals} goals reached")
    return 1 if missed else 0


def _print(figure: Figure, *, as_json: bool) -> None:
    line = figure.line()
    goal = "" if line["goal"] is None else f" (goal {line['goal']}: {'reached' if line['reached'] else 'MISSED'})"
    text = "{database:9} {text:20} {length:6} batch {batch:>3}: bare {bare_us:>6}, append {append_us:>6} µs a message, "
    figures = "CPU ratio {cpu_ratio:.3f}, wall ratio {wall_ratio:.3f}"
    print(json.dumps(line) if as_json else (text + figures).format(**line) + goal, flush=True)


if __name__ == "__main__":
    sys.exit(main())
