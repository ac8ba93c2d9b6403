"""Copies SQLite databases whole while others write to them, and reads a copy without changing it."""

# pyright: reportUnknownMemberType=false

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import apsw

from bethink.errors import Busy, Corrupt, Misconfigured
from bethink.model.backups import Counts
from bethink.store.db import Tx
from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions, translated
from bethink.store.migrate import standing

_SIDE_FILES = ("-wal", "-shm", "-journal")


@contextmanager
def _opened(path: Path, *, busy_timeout: int, flags: int = apsw.SQLITE_OPEN_READWRITE) -> Generator[apsw.Connection]:
    try:
        connection = apsw.Connection(str(path), flags=flags)
        try:
            connection.set_busy_timeout(busy_timeout)
            yield connection
        finally:
            connection.close()
    except apsw.Error as error:
        raise translated(error, SqliteOptions(path=str(path), busy_timeout=busy_timeout)) from error


def _copy(into: apsw.Connection, source: apsw.Connection) -> None:
    # In one step, which reads one state of the source: it would start over with every commit of others otherwise.
    with into.backup("main", source, "main") as copying:
        copying.step(-1)


def copy_file(path: Path, into: Path, *, busy_timeout: int) -> None:
    """Copy a database in use to a new file that needs no other, as it was at one moment."""
    create = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    into.touch(mode=0o600)
    with (
        _opened(path, busy_timeout=busy_timeout) as source,
        _opened(into, busy_timeout=busy_timeout, flags=create) as copied,
    ):
        _copy(copied, source)
        copied.pragma("journal_mode", "delete")
    with into.open("rb") as file:
        os.fsync(file.fileno())


def put_in_place(copy: Path, path: Path, *, busy_timeout: int) -> Path | None:
    """Replace a database by a copy, in one transaction that all who have it open see. Returns where a damaged one went.

    A file that cannot be read as a database is kept under another name.
    """
    if path.exists():
        try:
            _write_over(copy, path, busy_timeout=busy_timeout)
        except Corrupt:
            return _move_over(copy, path)
        return None
    _move_over(copy, path)
    return None


def _write_over(copy: Path, path: Path, *, busy_timeout: int) -> None:
    with _opened(copy, busy_timeout=busy_timeout) as source, _opened(path, busy_timeout=busy_timeout) as live:
        _copy(live, source)
        try:
            live.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.BusyError as error:
            raise Busy(
                f"{path} is restored, but a reader keeps its write-ahead log, which holds what was there before.",
                hint="End what reads it; the next process that closes it empties the log.",
            ) from error
    copy.unlink()


def _move_over(copy: Path, path: Path) -> Path | None:
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


def unsound(path: Path, *, busy_timeout: int, copied: bool = False, quick: bool = False) -> list[str]:
    """Return what SQLite itself finds wrong with a file. `copied` says that no process has it open.

    A quick look reads every page, and does not hold indexes against their tables.
    """
    flags = apsw.SQLITE_OPEN_READONLY if copied else apsw.SQLITE_OPEN_READWRITE
    try:
        with _opened(path, busy_timeout=busy_timeout, flags=flags) as connection:
            asked = "PRAGMA quick_check(20)" if quick else "PRAGMA integrity_check(20)"
            found = [str(row[0]) for row in connection.execute(asked)]
            broken = connection.execute("SELECT count(*) FROM pragma_foreign_key_check")
            lost = sum(int(str(row[0])) for row in broken)
    except Corrupt as error:
        return [Exception.__str__(error)]
    problems = [] if found == ["ok"] else found
    return [*problems, f"{lost} rows refer to rows that are not there"] if lost else problems


def counted(path: Path) -> Counts:
    """Count what a copy holds, whichever version made it."""
    with _opened(path, busy_timeout=0, flags=apsw.SQLITE_OPEN_READONLY) as connection:
        known = connection.table_exists(None, "restores")
        queries = {
            "spaces": "SELECT count(*) FROM spaces",
            "sessions": "SELECT count(*) FROM sessions",
            "messages": "SELECT count(*) FROM messages",
            "schema_version": "SELECT max(version) FROM schema_version",
            "epoch": "SELECT coalesce(max(epoch), 0) FROM restores" if known else "SELECT 0",
        }
        return Counts(**{name: int(str(connection.execute(query).get)) for name, query in queries.items()})


class SqliteCopy(SqliteDatabase):
    """A copy that is only read: nothing is written to it, and its schema stays what it is."""

    def _connect(self) -> apsw.Connection:
        path = Path(self.options.path)
        if not path.is_file():
            raise Misconfigured(f"{path} is not a file.", hint="Check the path.")
        return apsw.Connection(f"{path.absolute().as_uri()}?immutable=1", flags=_READS)

    _connect_writer = _connect_reader = _connect

    def _prepare(self, tx: Tx) -> None:
        state = standing(tx)
        state.check()
        if not state.is_current:
            raise Misconfigured(
                f"the schema of {self.options.path} is {state.version}.", hint=f"This version reads {state.newest}."
            )


_READS = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
