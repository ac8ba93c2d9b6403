"""SQLite through apsw: one writer thread and a few readers; a commit returns only when it is durable."""

# pyright: reportUnknownMemberType=false
# apsw annotates its values with a Buffer type that Python 3.11 does not have.

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

import anyio
import apsw
from anyio import to_thread

from bethink.base.frozen import frozen
from bethink.errors import (
    ConfigurationError,
    ConflictError,
    CorruptDatabaseError,
    DatabaseBusyError,
    DatabaseError,
    DatabaseUnavailableError,
    DuplicateError,
    OutcomeUnknownError,
)
from bethink.store.db import Clock, Database, Row, Tx, checked_result, system_clock
from bethink.store.engines.checkpoint import Checkpointer, extended_code
from bethink.store.engines.connection_thread import ConnectionThread, ThreadConnection
from bethink.store.engines.sqlite_slack import Slack
from bethink.store.keys import deployment_key
from bethink.store.migrate import migrate, newest_version, outdated_error
from bethink.store.sql import Dialect, Query

T = TypeVar("T")

_MEMORY = ":memory:"
_WRITE = "BEGIN IMMEDIATE"
_SYNCED = {"FULL", "EXTRA"}
_BULK_ROWS = 10
_UNIQUE = {apsw.SQLITE_CONSTRAINT_UNIQUE, apsw.SQLITE_CONSTRAINT_PRIMARYKEY, apsw.SQLITE_CONSTRAINT_ROWID}
_columns: dict[str, tuple[str, ...]] = {}


@frozen
class SqliteOptions:
    """Options of a database file. `synchronous` below FULL can lose acknowledged messages at a power cut."""

    path: str
    wal: bool = True
    synchronous: str = "FULL"
    busy_timeout: int = 5000
    readers: int = 2

    def __post_init__(self) -> None:
        if self.synchronous.upper() not in {"OFF", "NORMAL", "FULL", "EXTRA"}:
            raise ConfigurationError(f"Unknown `synchronous`: {self.synchronous!r}.", hint="Use FULL.")
        if self.busy_timeout < 0:
            raise ConfigurationError("`busy_timeout` is negative.", hint="Set it in milliseconds, for example 5000.")
        if self.readers < 0:
            raise ConfigurationError("`readers` is negative.", hint="Use 2, or 0 to read through the writer.")


class SqliteTx(Tx):
    """A transaction on one apsw connection."""

    dialect = Dialect.SQLITE

    def __init__(
        self, connection: apsw.Connection, *, begin: str, clock: Clock, schema_version: int | None = None
    ) -> None:
        super().__init__(clock=clock, repeatable=True)
        self._schema_version = schema_version
        self._connection = connection
        self._opening = begin

    def lock_schema(self) -> None:
        """Do nothing: a writing transaction already locks the file."""

    def begin_migration(self) -> None:
        """Do nothing: a writing transaction already blocks every other."""

    def has_table(self, name: str) -> bool:
        """Look the table up in SQLite's schema."""
        self._begin()
        # Not `table_exists`, which does not see a table that another connection has just created.
        return self._connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = ?", (name,)).get == 1

    def _open(self) -> None:
        self._connection.execute(self._opening)
        if self._schema_version is not None:
            version = self._connection.execute("SELECT version FROM schema_now").get
            if version != self._schema_version:
                raise outdated_error(int(str(version or 0)), supported=self._schema_version)

    def _insert(self, name: str, rows: Iterable[Sequence[object]]) -> None:
        query, waiting = self._queries[name], iter(rows)
        while chunk := tuple(islice(waiting, _BULK_ROWS)):
            if len(chunk) == _BULK_ROWS:
                self._connection.execute(_bulk_insert(query), tuple(chain.from_iterable(chunk)))
            else:
                self._connection.executemany(query.text, chunk)

    def _script(self, text: str) -> None:
        self._connection.execute(text)

    def _run(self, query: Query, values: list[object]) -> int:
        self._connection.execute(query.text, _bind(values))
        return self._connection.changes()

    def _fetch(self, query: Query, values: list[object]) -> list[Row]:
        cursor = self._connection.execute(query.text, _bind(values))
        columns = _columns.get(query.name)
        if columns is None:
            try:
                columns = tuple(column[0] for column in cursor.get_description())
            except apsw.ExecutionCompleteError:  # without rows, apsw no longer knows the columns
                return []
            _columns[query.name] = columns
        return [dict(zip(columns, row, strict=True)) for row in cursor]


@cache
def _bulk_insert(query: Query) -> str:
    """Return an insert of several rows at once, which saves a tenth of the time of single inserts."""
    head, _, group = query.text.rstrip(";").partition("VALUES")
    width = len(query.parameters)
    groups = [
        re.sub(r"\?(\d+)", lambda match, row=row: f"?{int(match[1]) + row * width}", group) for row in range(_BULK_ROWS)
    ]
    return f"{head}VALUES {', '.join(groups)}"


def _bind(values: list[object]) -> tuple[Any, ...]:
    return tuple([json.dumps(value) if isinstance(value, list) else value for value in values])


class SqliteDatabase(Database):
    """One file. Every write goes through one connection; readers see the last commit."""

    dialect = Dialect.SQLITE

    def __init__(self, options: SqliteOptions, *, clock: Clock = system_clock) -> None:
        super().__init__()
        self.options = options
        self._clock = clock

    def _start(self) -> None:
        self._schema_version = newest_version(self.dialect)
        path, on_disk = str(Path(self.options.path).expanduser()), self.options.path != _MEMORY
        log = Path(f"{path}-wal") if self.options.wal and on_disk else None
        slack = Slack(path, log=log) if on_disk else None
        self._checkpointer = Checkpointer(self._connect, log=log, slack=slack, busy_timeout=self.options.busy_timeout)
        self._checkpointer.start()
        self._writer = ConnectionThread("writer", 1, self._connect_writer)
        self._watcher = ConnectionThread("watcher", 1, self._connect_reader)
        self._data_version: object = None
        alone = self.options.path == _MEMORY or self.options.readers == 0
        self._readers = (
            self._writer if alone else ConnectionThread("reader", self.options.readers, self._connect_reader)
        )

    async def _stop(self) -> None:
        await self._watcher.close()
        if self._readers is not self._writer:
            await self._readers.close()
        await to_thread.run_sync(self._checkpointer.close)
        if self._checkpointer.is_log_suspect:
            await self._writer.run(lambda holder: self._checkpointer.leave_log(holder.connection()))
        await self._writer.close()

    async def empty_log(self) -> bool:
        """Merge the write-ahead log into the file, truncate it, and clear the slack. An older reader prevents that."""
        return await self._writer.run(lambda holder: self._checkpointer.clear(holder.connection()))

    def _prepare(self, tx: Tx) -> None:
        migrate(tx)
        self.fingerprint_key = deployment_key(tx, "fingerprint")
        self.has_open_erasures = tx.first("any_open_sink") is not None

    async def _listen(self, seconds: float) -> bool:
        # Other processes cannot notify us, so watch the file for changes.
        await anyio.sleep(seconds)
        if self._readers is self._writer:
            return False
        before = self._data_version
        self._data_version = await self._watcher.run(lambda holder: holder.connection().pragma("data_version"))
        return before is not None and self._data_version != before

    async def _transact(
        self, body: Callable[[Tx], T], *, space: str | None, read_only: bool, repeatable: bool, synced: bool = True
    ) -> T:
        del space, repeatable  # one file is one trust domain, and its commits have known outcomes
        lane, begin = (self._readers, "BEGIN") if read_only else (self._writer, _WRITE)
        # Without a log NORMAL may leave a broken file, not only lose the last commits.
        waits = synced or not self.options.wal or self.options.synchronous.upper() not in _SYNCED
        attempt = self._attempt if waits else self._attempt_unsynced
        return await lane.run(lambda holder: attempt(holder, body, begin=begin))

    def _attempt_unsynced(self, holder: ThreadConnection[apsw.Connection], body: Callable[[Tx], T], *, begin: str) -> T:
        holder.connection().pragma("synchronous", "NORMAL")
        try:
            return self._attempt(holder, body, begin=begin)
        finally:
            holder.connection().pragma("synchronous", self._synchronous())

    def _attempt(self, holder: ThreadConnection[apsw.Connection], body: Callable[[Tx], T], *, begin: str) -> T:
        committing = False
        try:
            connection = holder.connection()
            if begin == _WRITE:
                self._checkpointer.restore_log(connection)
            schema_version = self._schema_version if self._ready and begin == _WRITE else None
            tx = SqliteTx(connection, begin=begin, clock=self._clock, schema_version=schema_version)
            tx.key_rejection_period = self.key_rejection_period
            try:
                result = checked_result(body(tx))
                if tx.has_begun:
                    committing = begin == _WRITE
                    connection.execute("COMMIT")
                    self._after_commit(tx)
                    if tx.deletes:
                        self._checkpointer.clear(connection)
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        except apsw.Error as error:
            if isinstance(error, apsw.IOError):
                self._checkpointer.note_disk_failure()
            if committing and isinstance(error, apsw.IOError):
                # The log may already contain the complete commit, which would be recovered after a crash.
                raise OutcomeUnknownError(f"The disk failed while committing: {error}.") from error
            raise translate_error(error, self.options) from error
        return result

    def _connect(self) -> apsw.Connection:
        path = self.options.path
        if path != _MEMORY:
            file = Path(path).expanduser()
            try:
                _make_folder(file.parent)
            except OSError as error:
                raise ConfigurationError(f"Cannot create {file.parent}: {error}.", hint="Check the path.") from error
            if not file.exists():
                file.touch(mode=0o600)  # private: only the owner may read what people tell their agents
            path = str(file)
        connection = apsw.Connection(path)
        try:
            self._set_up(connection, path)
        except BaseException:
            connection.close()  # otherwise it would leave its files next to a foreign database
            raise
        return connection

    def _set_up(self, connection: apsw.Connection, path: str) -> None:
        options = self.options
        connection.set_busy_timeout(options.busy_timeout)
        # Plans must not depend on bound values: SQLite would make one per execution, at several times the cost.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        _check_schema(connection, path)  # before changing any setting that the file would keep
        connection.pragma("foreign_keys", True)  # noqa: FBT003 - apsw's own signature
        connection.pragma("secure_delete", True)  # noqa: FBT003
        connection.pragma("trusted_schema", False)  # noqa: FBT003
        connection.pragma("journal_size_limit", 64 * 1024 * 1024)
        self._set_journal(connection)
        connection.pragma("synchronous", self._synchronous())

    def _synchronous(self) -> str:
        # Without a log a commit deletes the journal, and only EXTRA syncs the folder after that: with FULL the journal
        # could come back after a power cut, and undo what was acknowledged.
        level = self.options.synchronous.upper()
        return "EXTRA" if level == "FULL" and not self.options.wal else level

    def _connect_writer(self) -> apsw.Connection:
        connection = self._connect()
        self._checkpointer.watch(connection)
        return connection

    def _connect_reader(self) -> apsw.Connection:
        connection = self._connect()
        connection.pragma("query_only", True)  # noqa: FBT003
        return connection

    def _set_journal(self, connection: apsw.Connection) -> None:
        # Changing the journal mode of a new file needs exclusive access, and SQLite does not wait for it.
        mode = "wal" if self.options.wal else "delete"
        deadline = time.monotonic() + self.options.busy_timeout / 1000
        while True:
            try:
                connection.pragma("journal_mode", mode)
            except apsw.BusyError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.005)
            else:
                return


def _make_folder(folder: Path) -> None:
    """Create a folder and its parents durably, so that a power cut does not lose them."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in missing:
        with suppress(OSError):  # some systems cannot open a folder
            descriptor = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _check_schema(connection: apsw.Connection, path: str) -> None:
    names = {str(name) for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if names and not names >= {"schema_version", "spaces"}:
        raise ConfigurationError(f"{path} is not a Bethink database.", hint="Use another file.")


def translate_error(error: apsw.Error, options: SqliteOptions) -> Exception:
    """Convert a driver error to a Bethink error."""
    match error:
        case apsw.ConstraintError() if extended_code(error) in _UNIQUE:
            return DuplicateError(f"Already exists: {error}.")
        case apsw.ConstraintError():
            return ConflictError(f"Rejected by the schema: {error}.")
        case apsw.BusyError() | apsw.LockedError():
            return DatabaseBusyError(
                f"Another writer locked {options.path} for more than {options.busy_timeout} ms.",
                hint="Nothing was written. Retry the call, or raise busy_timeout.",
            )
        case apsw.CorruptError() | apsw.NotADBError():
            return CorruptDatabaseError(f"Cannot read {options.path} as a database: {error}.")
        case apsw.ReadOnlyError():
            return ConfigurationError(
                f"Cannot open {options.path} for writing: {error}.",
                hint="Bethink needs write access even for reading. Copy the file to a writable folder.",
            )
        case apsw.CantOpenError() | apsw.PermissionsError():
            return ConfigurationError(
                f"Cannot open {options.path} for writing: {error}.",
                hint="Check the path and its permissions.",
            )
        case apsw.FullError() | apsw.IOError():
            return DatabaseUnavailableError(
                f"The disk reported an error: {error}.", hint="Nothing was written; check its free space and health."
            )
        case _:
            return DatabaseError(f"{type(error).__name__}: {error}.")
