"""Copies SQLite databases in use, and reads a copy without changing it."""

# pyright: reportUnknownMemberType=false

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import apsw

from bethink.errors import ConfigurationError, CorruptDatabaseError, DatabaseBusyError
from bethink.model.backups import Counts
from bethink.store.db import Tx
from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions, translate_error
from bethink.store.migrate import schema_status

_SIDE_FILES = ("-wal", "-shm", "-journal")


@contextmanager
def _open(path: Path, *, busy_timeout: int, flags: int = apsw.SQLITE_OPEN_READWRITE) -> Generator[apsw.Connection]:
    try:
        connection = apsw.Connection(str(path), flags=flags)
        try:
            connection.set_busy_timeout(busy_timeout)
            yield connection
        finally:
            connection.close()
    except apsw.Error as error:
        raise translate_error(error, SqliteOptions(path=str(path), busy_timeout=busy_timeout)) from error


def _copy(into: apsw.Connection, source: apsw.Connection) -> None:
    # In one step, which reads one state of the source: otherwise it would restart with every commit of others.
    with into.backup("main", source, "main") as copying:
        copying.step(-1)


def copy_file(path: Path, into: Path, *, busy_timeout: int) -> None:
    """Copy a database in use to a new, self-contained file, as of one moment."""
    create = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    into.touch(mode=0o600)
    with (
        _open(path, busy_timeout=busy_timeout) as source,
        _open(into, busy_timeout=busy_timeout, flags=create) as copied,
    ):
        _copy(copied, source)
        copied.pragma("journal_mode", "delete")
    with into.open("rb") as file:
        os.fsync(file.fileno())


def install_copy(copy: Path, path: Path, *, busy_timeout: int) -> Path | None:
    """Replace a database with a copy, in one transaction. Returns the new path of a damaged database, or None.

    A file that cannot be read as a database is kept under another name.
    """
    if path.exists():
        try:
            _overwrite(copy, path, busy_timeout=busy_timeout)
        except CorruptDatabaseError:
            return _move_into_place(copy, path)
        return None
    _move_into_place(copy, path)
    return None


def _overwrite(copy: Path, path: Path, *, busy_timeout: int) -> None:
    with _open(copy, busy_timeout=busy_timeout) as source, _open(path, busy_timeout=busy_timeout) as live:
        _copy(live, source)
        try:
            live.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.BusyError as error:
            raise DatabaseBusyError(
                f"{path} is restored, but a reader still uses its write-ahead log, which has the old data.",
                hint="Stop the processes that read it. The next one that closes it empties the log.",
            ) from error
    copy.unlink()


def _move_into_place(copy: Path, path: Path) -> Path | None:
    damaged = None
    if path.exists():
        damaged = path.with_name(f"{path.name}.damaged-{os.getpid()}")
        path.rename(damaged)
    for end in _SIDE_FILES:
        side = path.with_name(path.name + end)
        if side.exists() and damaged is not None:
            side.rename(damaged.with_name(damaged.name + end))
        else:
            side.unlink(missing_ok=True)
    copy.rename(path)
    return damaged


def find_problems(path: Path, *, busy_timeout: int, copied: bool = False, quick: bool = False) -> list[str]:
    """Return the problems that SQLite finds in a file. `copied` means that no process has it open.

    A quick check reads every page, but does not compare indexes with their tables.
    """
    flags = apsw.SQLITE_OPEN_READONLY if copied else apsw.SQLITE_OPEN_READWRITE
    try:
        with _open(path, busy_timeout=busy_timeout, flags=flags) as connection:
            pragma = "PRAGMA quick_check(20)" if quick else "PRAGMA integrity_check(20)"
            results = [str(row[0]) for row in connection.execute(pragma)]
            orphan_rows = connection.execute("SELECT count(*) FROM pragma_foreign_key_check")
            orphans = sum(int(str(row[0])) for row in orphan_rows)
    except CorruptDatabaseError as error:
        return [Exception.__str__(error)]
    problems = [] if results == ["ok"] else results
    return [*problems, f"{orphans} rows refer to missing rows"] if orphans else problems


def count_rows(path: Path) -> Counts:
    """Count the rows of a copy of any version."""
    with _open(path, busy_timeout=0, flags=apsw.SQLITE_OPEN_READONLY) as connection:
        has_restores = connection.table_exists(None, "restores")
        queries = {
            "spaces": "SELECT count(*) FROM spaces",
            "sessions": "SELECT count(*) FROM sessions",
            "messages": "SELECT count(*) FROM messages",
            "schema_version": "SELECT max(version) FROM schema_version",
            "epoch": "SELECT coalesce(max(epoch), 0) FROM restores" if has_restores else "SELECT 0",
        }
        return Counts(**{name: int(str(connection.execute(query).get)) for name, query in queries.items()})


class SqliteCopy(SqliteDatabase):
    """A read-only copy. Its schema is not migrated."""

    def _connect(self) -> apsw.Connection:
        path = Path(self.options.path)
        if not path.is_file():
            raise ConfigurationError(f"{path} is not a file.", hint="Check the path.")
        return apsw.Connection(f"{path.absolute().as_uri()}?immutable=1", flags=_READS)

    _connect_writer = _connect_reader = _connect

    def _prepare(self, tx: Tx) -> None:
        state = schema_status(tx)
        state.check()
        if not state.is_current:
            raise ConfigurationError(
                f"{self.options.path} has schema version {state.version}.",
                hint=f"This version of Bethink reads version {state.newest}.",
            )


_READS = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
