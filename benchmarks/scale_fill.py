"""Grows a database quickly: a few spaces are written by the product, all others are copied from them by COPY.

Spaces take turns session by session, as they would in use, so that the rows of one are spread over the tables.
"""

# pyright: reportUnknownMemberType=false

import random
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import anyio
import psycopg
from psycopg import sql

from benchmarks.latency_measure import database_at
from benchmarks.scale_template import (
    SESSION,
    Clone,
    Rewording,
    Template,
    Texts,
    memory_on,
    question,
    tail_of,
    talk,
    template_of,
    write,
)
from bethink.store import chain, term_counts
from tools import postgres

LARGE = "large"
TEMPLATES = 3
_COHORT = 250
"""How many spaces take turns. Their keyed hashes are kept in memory meanwhile."""
_BUFFER = 32_000_000
_KEPT = 1_000
_SETTINGS = (
    "autovacuum=off", "shared_buffers=2GB", "maintenance_work_mem=1GB", "max_wal_size=8GB", "jit=off",
    "shared_preload_libraries=pg_stat_statements", "pg_stat_statements.track=all", "track_io_timing=on",
)  # fmt: skip
"""Autovacuum is off because every stage ends with a vacuum of its own; and no measurement has another beside it."""


def told(text: str) -> None:
    """Print progress."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


@contextmanager
def served() -> Generator[str]:
    """Start a server with memory to work with, and yield a superuser's DSN."""
    with postgres.running(settings=_SETTINGS) as dsn:
        yield dsn


class Filled:
    """A database and the spaces that were copied into it."""

    def __init__(self, superuser: str, *, seed: int, size: int, name: str = "scale") -> None:
        self.dsn = postgres.create_database(superuser, name)
        self.superuser = postgres.in_database(superuser, name)
        self.size = size // SESSION * SESSION
        self.seed = seed
        self.names: list[str] = []
        self.large: Clone | None = None
        self.large_size = 0
        self.large_texts: list[str] = []
        self._templates: list[Template] = []

    @property
    def messages(self) -> int:
        """How many messages were written or copied."""
        return len(self.names) * self.size + self.large_size

    def begin(self) -> None:
        """Make the schema, and write the spaces that all others are copied from."""
        anyio.run(self._write)
        with psycopg.connect(self.superuser, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION pg_stat_statements")
            self._tables = _tables(connection)
            self._columns = {table: _columns(connection, table) for table in self._tables}
            self._templates = [self._read(connection, name) for name in self.names]

    async def _write(self) -> None:
        async with memory_on(database_at(self.dsn)) as memory:
            for number in range(TEMPLATES):
                name = f"template-{number:06}"
                await write(memory, name, list(talk(f"{self.seed}/{number}", self.size)))
                self.names.append(name)
                told(f"a space of {self.size} messages was written by the product")

    def texts(self, name: str) -> Sequence[str]:
        """Return what was said in a space, or the beginning of it."""
        return self.large_texts if name == LARGE else self._templates[_number(name) % TEMPLATES].texts

    def _read(self, connection: "psycopg.Connection[Any]", name: str) -> Template:
        rows: dict[str, tuple[Sequence[str], Sequence[str]]] = {}
        for table in self._tables:
            columns = self._columns[table]
            order = next(each for each in ("doc", "number", "space_id") if each in columns)
            query = sql.SQL("COPY (SELECT {} FROM {} WHERE space_id = {} ORDER BY {}) TO STDOUT").format(
                sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier(table), sql.Literal(name),
                sql.Identifier(order),
            )  # fmt: skip
            with connection.cursor().copy(query) as copy:
                text = b"".join(bytes(part) for part in copy).decode()
            rows[table] = (columns, text.splitlines())
        key = _one(connection, "SELECT key FROM spaces WHERE id = %s", name)
        return template_of(name, bytes(key), rows, list(talk(f"{self.seed}/{_number(name)}", self.size)))

    def grow(self, spaces: int, large: int = 0) -> None:
        """Copy spaces until there are so many, and one large space of so many messages."""
        started, before = time.monotonic(), self.messages
        with psycopg.connect(self.superuser, autocommit=True) as connection:
            connection.execute("SET session_replication_role = replica")
            dropped = _drop_word_index(connection)
            loader = _Loader(connection, self._columns)
            for first in range(len(self.names), spaces, _COHORT):
                self._cohort(loader, [f"space-{n:06}" for n in range(first, min(first + _COHORT, spaces))])
                if first // _COHORT % 4 == 3:
                    told(f"{self.messages:,} messages after {time.monotonic() - started:.0f} s")
            if large:
                self._grow_large(loader, large)
            loader.flush()
            told(f"{self.messages - before:,} messages were copied in {time.monotonic() - started:.0f} s")
            connection.execute(dropped)
            told(f"the index of words is there after {time.monotonic() - started:.0f} s")
            connection.execute(_CATCH_UP)
            connection.execute("VACUUM ANALYZE")
            connection.execute("CHECKPOINT")
            if large:
                anyio.run(self._count_terms)
        told(f"{self.messages:,} messages, settled after {time.monotonic() - started:.0f} s")

    def _clone(self, loader: "_Loader", name: str) -> Clone:
        number = _number(name)
        key = random.Random(f"{self.seed}/{name}/key").randbytes(16)
        clone = Clone(name=name, place=number + TEMPLATES + 2, key=key, head=tail_of(number))
        loader.add({"spaces": f"{name}\t0\t1\t{clone.place}\t\\\\x{key.hex()}\n"})
        loader.add(self._templates[number % TEMPLATES].begun(clone))
        return clone

    def _cohort(self, loader: "_Loader", names: Sequence[str]) -> None:
        clones = [self._clone(loader, name) for name in names]
        order = list(range(len(names)))
        for place in range(self.size // SESSION):
            random.Random(f"{self.seed}/{names[0]}/{place}").shuffle(order)
            for number in order:
                clone = clones[number]
                template = self._templates[_number(clone.name) % TEMPLATES]
                loader.add(template.sessions[place].copied(clone, clone.head))
        self.names += names

    def _grow_large(self, loader: "_Loader", size: int) -> None:
        """Make a large space of sessions in other words, so that it has as many rare words as one that grew."""
        self.large = clone = self._clone(loader, LARGE)
        chance = random.Random(f"{self.seed}/large")
        template = self._templates[_number(LARGE) % TEMPLATES]
        for number in range(size // SESSION):
            place = chance.randrange(len(template.sessions))
            said = Rewording(chance)
            loader.add(template.sessions[place].copied(clone, tail_of(number), said))
            if len(self.large_texts) < _KEPT:
                texts = template.texts[place * SESSION : (place + 1) * SESSION]
                self.large_texts += [said.text(text) for text in texts]
            self.large_size += SESSION

    async def _count_terms(self) -> None:
        """Count the frequent terms of the large space as the product does while it grows."""
        database, clone = database_at(self.dsn), self.large
        assert clone is not None
        start = clone.place << 34
        await database.open()
        await database.transact(
            lambda tx: term_counts.fold(tx, space=LARGE, start=start, shift=2, before=0, last=clone.docs), space=LARGE
        )
        await database.close()

    def check(self) -> None:
        """Compare a copy with the space that it was copied from: the same recall, and a chain that holds."""
        anyio.run(self._check)

    async def _check(self) -> None:
        chance = random.Random(f"{self.seed}/check")
        database = database_at(self.dsn)
        async with memory_on(database) as memory:
            for number in range(TEMPLATES):
                copy = next(name for name in self.names[TEMPLATES:] if _number(name) % TEMPLATES == number)
                for text in chance.sample(list(self.texts(copy)), k=5):
                    await _compared(memory, self.names[number], copy, text, chance)
                report = await database.transact(lambda tx, copy=copy: chain.check(tx, space=copy), space=copy)
                if report.broken or report.messages != self.size:
                    raise SystemExit(f"the chain of {copy} is not that of a written space: {report.broken[:1]}")
        told("copies answer as the spaces that the product wrote, and their chains hold")

    def sizes(self) -> dict[str, int]:
        """Return how many bytes each table takes with its indexes, largest first, and the index of words on its own."""
        with psycopg.connect(self.superuser, autocommit=True) as connection:
            found = {name: size for name, size in connection.execute(_SIZES).fetchall() if size}
        return dict(sorted(found.items(), key=lambda each: -each[1]))


async def _compared(memory: Any, one: str, other: str, text: str, chance: random.Random) -> None:
    asked = question(text, chance)
    # A copy has its facts beside their session in the index, and not after all messages. Of texts that fit a question
    # equally well only the newest are compared with it, so those further down may be others.
    found = [(await memory.space(each).recall(asked)).items[:2] for each in (one, other)]
    found = [[(item.text, round(item.score, 2)) for item in items] for items in found]
    if found[0] != found[1] or not found[0]:
        raise SystemExit(f"{other} does not answer {asked!r} as {one}: {found}")


def _number(name: str) -> int:
    return -1 if name == LARGE else int(name.rpartition("-")[2])


class _Loader:
    """Collects rows and copies them table by table."""

    def __init__(self, connection: "psycopg.Connection[Any]", columns: dict[str, list[str]]) -> None:
        self._connection = connection
        self._columns = {"spaces": ["id", "shard", "created_at", "place", "key"]} | columns
        self._rows: dict[str, list[str]] = {table: [] for table in self._columns}
        self._held = 0

    def add(self, rows: Texts) -> None:
        """Take rows; sometimes write what was taken."""
        for table, text in rows.items():
            self._rows[table].append(text)
            self._held += len(text)
        if self._held > _BUFFER:
            self.flush()

    def flush(self) -> None:
        """Write what was taken."""
        for table, texts in self._rows.items():
            if texts:
                names = sql.SQL(", ").join(map(sql.Identifier, self._columns[table]))
                query = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), names)
                with self._connection.cursor().copy(query) as copy:
                    copy.write("".join(texts))
                texts.clear()
        self._held = 0


_CATCH_UP = """
SELECT setval(pg_get_serial_sequence('spaces', 'place'), (SELECT max(place) FROM spaces));
DELETE FROM job_counts;
INSERT INTO job_counts (kind, status, slot, count) SELECT kind, status, 0, count(*) FROM jobs GROUP BY kind, status;
INSERT INTO learning_turns (space_id, fresh_due_at, retry_due_at)
SELECT space_id, min(due_at) FILTER (WHERE attempts = 0), min(due_at) FILTER (WHERE attempts > 0) FROM jobs
WHERE kind = 'extract' AND due_at IS NOT NULL AND status <> 'waiting' GROUP BY space_id;
"""
_SIZES = """
SELECT coalesce(p.inhparent, c.oid)::regclass::text, sum(pg_total_relation_size(c.oid))::bigint
FROM pg_class c LEFT JOIN pg_inherits p ON p.inhrelid = c.oid
WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace GROUP BY 1
UNION ALL SELECT 'of terms: the index of words', pg_relation_size('terms_terms')
"""
_TABLES = """
SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'space_id'
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace ORDER BY c.relname
"""


def _tables(connection: "psycopg.Connection[Any]") -> list[str]:
    """Return the tables in which a written space has rows."""
    names = [name for (name,) in connection.execute(_TABLES).fetchall()]
    has_rows = sql.SQL("SELECT 1 FROM {} LIMIT 1")
    return [name for name in names if connection.execute(has_rows.format(sql.Identifier(name))).fetchone()]


def _columns(connection: "psycopg.Connection[Any]", table: str) -> list[str]:
    rows = connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
        " AND attgenerated = '' ORDER BY attnum", [table],
    )  # fmt: skip
    return [name for (name,) in rows.fetchall()]


def _drop_word_index(connection: "psycopg.Connection[Any]") -> bytes:
    """Drop the index of words, which is made faster than it is kept, and return what makes it again."""
    made = _one(connection, "SELECT indexdef FROM pg_indexes WHERE indexname = %s", "terms_terms")
    connection.execute("DROP INDEX terms_terms")
    return made.encode()


def _one(connection: "psycopg.Connection[Any]", query: str, value: str) -> Any:
    row = connection.execute(query.encode(), [value]).fetchone()
    assert row is not None
    return row[0]
