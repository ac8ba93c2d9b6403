"""Processes of two versions side by side while the newer one migrates: no code writes under a schema it does not know.

Each message says which schema its writer knows. A trigger notes that beside the version in force, and each migration
notes how much the versions before it had written by then: nothing may be added to that afterwards.
"""

import contextlib
import os
import sys
from collections import Counter
from collections.abc import Generator
from enum import StrEnum
from functools import partial
from pathlib import Path
from random import Random
from unittest.mock import patch

import anyio

import bethink
from bethink.errors import DatabaseBusyError, DatabaseUnavailableError
from bethink.store import migrate
from bethink.store.engines import postgres, sqlite
from bethink.store.sql import Dialect
from faults.command import command
from faults.ledger import Verdict
from faults.places import Place, fork
from faults.raw import Raw

_WRITERS = 3
_AT_LEAST = 4
_PATIENCE = 60.0
_TABLES = """CREATE TABLE fleet_written (known INTEGER NOT NULL, version INTEGER NOT NULL);
CREATE TABLE fleet_marks (version INTEGER NOT NULL, seen INTEGER NOT NULL);"""
_WITNESS = {
    "sqlite": f"""{_TABLES}
CREATE TRIGGER fleet_ai AFTER INSERT ON messages BEGIN
    INSERT INTO fleet_written SELECT CAST(substr(new.content, instr(new.content, 'knows ') + 6) AS INTEGER), version
    FROM schema_now;
END;""",
    "postgres": f"""{_TABLES}
CREATE FUNCTION fleet_ai() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO fleet_written SELECT CAST(substring(new.content FROM 'knows ([0-9]+)') AS integer), version
    FROM schema_now;
    RETURN NULL;
END $$;
CREATE TRIGGER fleet_ai AFTER INSERT ON messages FOR EACH ROW EXECUTE FUNCTION fleet_ai();""",
}
_MIGRATION = """INSERT INTO fleet_marks SELECT {version}, count(*) FROM fleet_written WHERE known < {version};
ALTER TABLE facts ADD COLUMN fleet_{version} TEXT;"""
_SLOW = {"sqlite": "", "postgres": " SELECT pg_sleep(0.05);"}
_TODAY = migrate.newest_version(Dialect.SQLITE)


class Mutant(StrEnum):
    """A bug on purpose."""

    AT_OPEN = "at-open"
    """The version is read when a process opens the database, and never again."""
    NO_LOCK = "no-lock"
    """A migration does not wait for those who are writing."""


def mutants_of(database: str) -> tuple[Mutant, ...]:
    """Say which bugs a database can have: on SQLite nobody can write beside another."""
    return tuple(Mutant) if database == "postgres" else (Mutant.AT_OPEN,)


@contextlib.contextmanager
def knowing(version: int, mutant: Mutant | None) -> Generator[None]:
    """Let this process be the one of a version."""
    known = migrate.migrations

    def migrations(dialect: Dialect) -> list[tuple[int, str, str]]:
        later = range(_TODAY + 1, version + 1)
        return [
            *known(dialect),
            *((each, f"fleet_{each}", _MIGRATION.format(version=each) + _SLOW[dialect]) for each in later),
        ]

    with contextlib.ExitStack() as stack:
        stack.enter_context(patch.object(migrate, "migrations", migrations))
        if mutant is Mutant.AT_OPEN:
            for engine in (postgres, sqlite):
                stack.enter_context(patch.object(engine, "newest_version", return_value=None))
        if mutant is Mutant.NO_LOCK:
            stack.enter_context(patch.object(postgres.PostgresTx, "begin_migration", postgres.PostgresTx.lock_schema))
        yield


def _write(where: Place, name: str, version: int, mutant: Mutant | None) -> None:
    """Write as a process of a version until it is refused; note in files what was acknowledged, and how it ended."""
    notes = os.open(where.ledger / name, os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    async def work() -> None:
        with knowing(version, mutant):
            memory = bethink.connect(where.target, learn=False)
            async with memory:
                session = await memory.space(name).session("fleet")
                with anyio.fail_after(_PATIENCE):
                    for number in range(sys.maxsize):
                        try:
                            await session.append([{"role": "user", "content": f"{name} {number} knows {version}"}])
                            os.write(notes, b"stored\n")
                        except DatabaseBusyError:
                            os.write(notes, b"busy\n")
                        except DatabaseUnavailableError:
                            os.write(notes, b"refused\n")
                            if _told(where.ledger / name)["refused"] >= _AT_LEAST:
                                return
                        if (where.ledger / "end").exists():
                            return

    anyio.run(work)


def _upgrade(where: Place, version: int, mutant: Mutant | None) -> None:
    async def work() -> None:
        with knowing(version, mutant):
            for _ in range(20):
                try:
                    async with bethink.connect(where.target, learn=False):
                        return
                except DatabaseBusyError:
                    continue

    anyio.run(work)


def _told(path: Path) -> Counter[str]:
    return Counter(path.read_text().split()) if path.exists() else Counter()


async def _until_all_wrote(where: Place, names: list[str]) -> None:
    with anyio.fail_after(_PATIENCE):
        while any(_told(where.ledger / name)["stored"] < _AT_LEAST for name in names):  # noqa: ASYNC110 - processes
            await anyio.sleep(0.005)


def campaign(where: Place, migrations: int, seed: int, mutant: Mutant | None) -> tuple[str, Verdict]:
    """Migrate so many times under processes of the version before, and hold what was written against what they know."""
    dice = Random(seed)
    _upgrade(where, _TODAY, None)
    with Raw(where.raw) as raw:
        raw.run(_WITNESS[where.database] + _grants(where))
    failed = 0
    for version in range(_TODAY, _TODAY + migrations):
        names = [f"p{version}-{number}" for number in range(_WRITERS)]
        children = [fork(partial(_write, where, name, version, mutant)) for name in names]
        anyio.run(_until_all_wrote, where, names)
        anyio.run(anyio.sleep, dice.uniform(0, 0.05))
        children.append(fork(partial(_upgrade, where, version + 1, mutant)))
        failed += _ended(where, children, mutant)
    return f"{migrations} migrations under {migrations * _WRITERS} processes", _judged(where, migrations, failed)


def _ended(where: Place, children: list[int], mutant: Mutant | None) -> int:
    """Wait for all; with a bug, processes that nobody refuses are told to end. Return how many failed."""
    *writers, migrating = children
    failed = os.waitpid(migrating, 0)[1] != 0
    if mutant is not None:
        anyio.run(anyio.sleep, 0.3)
        (where.ledger / "end").touch()
    failed += sum(os.waitpid(child, 0)[1] != 0 for child in writers)
    (where.ledger / "end").unlink(missing_ok=True)
    return failed


def _grants(where: Place) -> str:
    return "" if where.database == "sqlite" else "GRANT ALL ON fleet_written, fleet_marks TO public; "


def _judged(where: Place, migrations: int, failed: int) -> Verdict:
    told = {path.name: _told(path) for path in where.ledger.iterdir()}
    with Raw(where.raw) as raw:
        written = [
            (int(known), int(version)) for known, version in raw.rows("SELECT known, version FROM fleet_written")
        ]
        marks = [(int(version), int(seen)) for version, seen in raw.rows("SELECT version, seen FROM fleet_marks")]
        messages = [str(content) for (content,) in raw.rows("SELECT content FROM messages")]
    unknown = sum(known != version for known, version in written)
    late = sum(sum(known < version for known, _ in written) - seen for version, seen in marks)
    stored = sum(each["stored"] for each in told.values())
    violations = [f"{failed} processes ended in an error"] if failed else []
    violations += [f"{unknown} writes under a schema that their code does not know"] if unknown else []
    violations += [f"{late} writes of older code appeared after a migration"] if late else []
    violations += [f"{len(marks)} migrations of {migrations}"] if len(marks) != migrations else []
    violations += [f"{name} was never refused" for name, each in told.items() if not each["refused"]]
    if (len(messages), len(set(messages))) != (stored, stored):
        violations.append(f"{len(messages)} messages, {len(set(messages))} of them different; {stored} acknowledged")
    refused = sum(each["refused"] for each in told.values())
    figures = f"{stored} writes, {refused} refused, {unknown + late} by code that does not know the schema"
    return Verdict(figures=figures, violations=violations)


if __name__ == "__main__":
    sys.exit(command(__doc__, "--migrations", Mutant, campaign))
