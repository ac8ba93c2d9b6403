"""Each migration is applied to large tables of PostgreSQL while others read and write (--rows): how long do they wait?

The limit is a second. Messages are as many as said, facts a tenth of that, over a thousand spaces. A writer does as
every writer of Bethink: it reads the version of the schema first. Migrations up to the one in `BEFORE_RELEASE` are
printed and not judged: no release has the schema that they begin with.
"""

import argparse
import itertools
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio
import psycopg

from bethink.store import migrate
from bethink.store.db import Tx
from bethink.store.engines.postgres import PostgresDatabase, PostgresOptions
from bethink.store.sql import Dialect
from tools import postgres

BEFORE_RELEASE = 31
"""The newest migration that a first release would bring. Raise it never: a release is what others upgrade from."""
LIMIT = 1.0
_FILLED_AT = 15
"""Tables are filled after this one, which indexes every text anew in Python and is not online by any measure."""
_SPACES = 1000
_PAUSE = 0.002
_OLD = Path(__file__).parents[1] / "tests" / "store" / "old_schema" / "postgres.sql"

Migration = tuple[int, str, str]

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
        version, _, text = self.migration
        tx.begin_migration()
        tx.script(text)
        if version in migrate._THEN:
            migrate._THEN[version](tx)


def apply(dsn: str, migration: Migration) -> None:
    """Apply one migration in one transaction, as the owner of the tables."""

    async def run() -> None:
        database = _Stepping(PostgresOptions(dsn=dsn, pool_size=1))
        database.migration = migration
        await database.open()
        await database.close()

    anyio.run(run)


def prepare(superuser: str, owner: str, rows: int) -> list[Migration]:
    """Fill a database of an old schema, and return the migrations that are still to come."""
    known = migrate.migrations(Dialect.POSTGRES)
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute("SELECT set_config('bethink.space', 'alice', false)")  # whose rows the old schema brings
        connection.execute(_OLD.read_bytes())
    for migration in known:
        if migration[0] <= _FILLED_AT:
            apply(owner, migration)
    each = max(1, rows // _SPACES)
    with psycopg.connect(superuser, autocommit=True) as connection:
        connection.execute(_FILL.format(spaces=_SPACES, each=each, facts=max(1, each // 10)).encode())
        connection.execute("ANALYZE")
    return [migration for migration in known if migration[0] > _FILLED_AT]


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


def campaign(rows: int, extra: tuple[Migration, ...] = ()) -> list[Measured]:
    """Measure every migration on tables of so many rows; `extra` come after those that there are."""
    with postgres.running() as server:
        owner = postgres.create_database(server, "upgrade")
        superuser = postgres.in_database(server, "upgrade")
        return [measure(superuser, owner, each) for each in [*prepare(superuser, owner, rows), *extra]]


def main() -> int:
    """Run it as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, required=True, help="how many messages")
    options = parser.parse_args()
    measured = campaign(cast("int", options.rows))
    for each in measured:
        judged = "before the first release" if each.version <= BEFORE_RELEASE else "held to the limit"
        print(
            f"postgres: {each.version:04} {each.name}: {each.took:.2f} s, a reader waited {each.read:.2f} s, "
            f"a writer {each.write:.2f} s ({judged})"
        )
    held = [each for each in measured if each.version > BEFORE_RELEASE]
    late = [each for each in held if each.longest > LIMIT]
    over = [str(each.version) for each in measured if each.longest > LIMIT]
    print(
        f"postgres: {len(measured)} migrations at {options.rows} messages, over {LIMIT:.0f} s: "
        f"{', '.join(over) or 'none'}; {len(held)} are held to it, {len(late)} violations"
    )
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
