"""Applies migrations to large tables of PostgreSQL while others read and write (--rows), and measures their wait.

The limit is a second. Messages are as many as said, facts a tenth of that, over a thousand spaces. A writer does as
every writer of Bethink: it reads the version of the schema first. After the migrations of the product come two of this
campaign: one that only adds a column and must keep the limit, and one that rewrites a table, which shows what a wait
looks like and is not judged.
"""

import argparse
import itertools
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import Any, cast

import anyio
import psycopg

from bethink.store import migrate
from bethink.store.db import Tx
from bethink.store.engines.postgres import PostgresDatabase, PostgresOptions
from bethink.store.sql import Dialect
from tools import postgres

LIMIT = 1.0
_SPACES = 1000
_PAUSE = 0.002

Migration = tuple[int, str, str]

ADDS: Migration = (9001, "adds a column", "ALTER TABLE messages ADD COLUMN upgrade_added text")
REWRITES: Migration = (
    9002,
    "rewrites a table",
    "ALTER TABLE messages ADD COLUMN upgrade_rewritten text NOT NULL DEFAULT clock_timestamp()::text",
)

_FILL = """
SET session_replication_role = replica;
INSERT INTO spaces (id, shard, created_at) SELECT 's' || n, -1, 1 FROM generate_series(1, {spaces}) n;
INSERT INTO agents (space_id, id, name, kind, created_at)
SELECT id, 'a', 'assistant', 'primary', 1 FROM spaces WHERE shard < 0;
INSERT INTO conversations (space_id, id, agent_id, key, created_at)
SELECT id, 'c', 'a', 'k', 1 FROM spaces WHERE shard < 0;
INSERT INTO sessions (space_id, id, conversation_id, agent_id, ordinal, learns, created_at, last_number)
SELECT id, 'x', 'c', 'a', 1, 1, 1, {each} FROM spaces WHERE shard < 0;
INSERT INTO messages (space_id, session_id, number, role, content, tool_calls, is_error, metadata, origin, said_at,
    recorded_at)
SELECT 's' || s, 'x', n, 'user', 'message ' || n || repeat(' and so on', 8), '[]', 0, '{{}}', 'user', n, n
FROM generate_series(1, {spaces}) s, generate_series(1, {each}) n;
INSERT INTO facts (space_id, id, content, source, tags, metadata, created_at)
SELECT 's' || s, 'f' || n, 'fact ' || n || repeat(' and so on', 8), 'x', '[]', '{{}}', n
FROM generate_series(1, {spaces}) s, generate_series(1, {facts}) n;
"""
_READ = (
    "SELECT count(*) FROM messages WHERE space_id = 's7' AND session_id = 'x' AND number <= 5",
    "SELECT count(*) FROM facts WHERE space_id = 's7' AND id = 'f1'",
    "SELECT count(*) FROM sessions WHERE space_id = 's7'",
)
_WRITE = (
    "UPDATE messages SET name = name WHERE space_id = 's7' AND session_id = 'x' AND number = 1",
    "UPDATE facts SET source = source WHERE space_id = 's7' AND id = 'f1'",
    "UPDATE sessions SET last_number = last_number WHERE space_id = 's7' AND id = 'x'",
)


@dataclass(slots=True)
class Asker:
    """One who reads or writes all the while, and remembers the longest that it took."""

    dsn: str
    statements: tuple[str, ...]
    writes: bool
    longest: float = 0.0
    over: bool = False
    failed: list[str] = field(default_factory=list[str])

    def run(self) -> None:
        """Ask until it is over."""
        try:
            with psycopg.connect(self.dsn, autocommit=True) as connection:
                connection.execute("SET session_replication_role = replica")
                for statement in itertools.cycle(self.statements):
                    if self.over:
                        return
                    began = time.monotonic()
                    with connection.transaction():
                        if self.writes:
                            self._read_version(connection)
                        connection.execute(statement.encode())
                    self.longest = max(self.longest, time.monotonic() - began)
                    time.sleep(_PAUSE)
        except psycopg.Error as error:
            self.failed.append(str(error))

    def _read_version(self, connection: "psycopg.Connection[Any]") -> None:
        found = connection.execute("SELECT to_regclass('schema_now')").fetchone()
        if found and found[0]:
            connection.execute("SELECT version FROM schema_now")


@dataclass(frozen=True, slots=True)
class Measured:
    """How long one migration took, and how long others waited meanwhile, in seconds."""

    version: int
    name: str
    took: float
    read: float
    write: float

    @property
    def longest(self) -> float:
        """The longest that anybody waited."""
        return max(self.read, self.write)


class _Stepping(PostgresDatabase):
    """Applies one migration as opening a database would, and nothing else."""

    migration: Migration

    def _prepare(self, tx: Tx) -> None:
        tx.begin_migration()
        tx.script(self.migration[2])


def apply(dsn: str, migration: Migration) -> None:
    """Apply one migration in one transaction, as the owner of the tables."""

    async def run() -> None:
        database = _Stepping(PostgresOptions(dsn=dsn, pool_size=1))
        database.migration = migration
        await database.open()
        await database.close()

    anyio.run(run)


def prepare(superuser: str, owner: str, rows: int) -> None:
    """Fill a database of the schema that the migrations of the product start from."""
    # Before the first release this is the current schema. The first migration fails on it, because its change is there
    # already: from then on, start from the schema of the release, which tests/store/ keeps.
    apply(owner, (migrate.BASELINE, "baseline", migrate.schema(Dialect.POSTGRES)))
    per_space = max(1, rows // _SPACES)
    with psycopg.connect(superuser, autocommit=True) as connection:
        connection.execute(_FILL.format(spaces=_SPACES, each=per_space, facts=max(1, per_space // 10)).encode())
        connection.execute("ANALYZE")


def measure(superuser: str, owner: str, migration: Migration) -> Measured:
    """Apply a migration under a reader and a writer."""
    askers = [Asker(superuser, _READ, writes=False), Asker(superuser, _WRITE, writes=True)]
    threads = [threading.Thread(target=asker.run) for asker in askers]
    for thread in threads:
        thread.start()
    try:
        _warm_up(askers)
        for asker in askers:
            asker.longest = 0.0
        began = time.monotonic()
        apply(owner, migration)
        took = time.monotonic() - began
    finally:
        for asker in askers:
            asker.over = True
        for thread in threads:
            thread.join()
    if failed := [each for asker in askers for each in asker.failed]:
        raise SystemExit(f"migration {migration[0]}: {failed[0]}")
    return Measured(migration[0], migration[1], took, askers[0].longest, askers[1].longest)


def _warm_up(askers: list[Asker]) -> None:
    while not all(asker.longest or asker.failed for asker in askers):
        time.sleep(_PAUSE)


def campaign(rows: int) -> list[Measured]:
    """Measure every migration of the product, and the two of this campaign, on tables with this many messages."""
    with postgres.running() as server:
        owner = postgres.create_database(server, "upgrade")
        superuser = postgres.in_database(server, "upgrade")
        prepare(superuser, owner, rows)
        migrations = [*migrate.migrations(Dialect.POSTGRES), ADDS, REWRITES]
        return [measure(superuser, owner, migration) for migration in migrations]


def main() -> int:
    """Run it as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, required=True, help="how many messages")
    options = parser.parse_args()
    measured = campaign(cast("int", options.rows))
    for result in measured:
        print(
            f"postgres: {result.version:04} {result.name}: {result.took:.2f} s, a reader waited {result.read:.2f} s, "
            f"a writer {result.write:.2f} s ({'judged' if result.version != REWRITES[0] else 'not judged'})"
        )
    judged = [result for result in measured if result.version != REWRITES[0]]
    late = [result for result in judged if result.longest > LIMIT]
    print(
        f"postgres: {len(judged)} migrations at {options.rows} messages held to {LIMIT:.0f} s, {len(late)} violations"
    )
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
