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
from bethink.errors import Busy, Conflict, Corrupt, Duplicate, Misconfigured, OutcomeUnknown, StoreError, Unavailable
from bethink.store.db import Clock, Database, Row, Tx, checked_result, system_clock
from bethink.store.engines.checkpoint import Checkpointer, extended
from bethink.store.engines.connection_thread import ConnectionThread, ThreadConnection
from bethink.store.engines.sqlite_slack import Slack
from bethink.store.keys import deployment_key
from bethink.store.migrate import migrate, newest_version, outdated
from bethink.store.sql import Dialect, Query

T = TypeVar("T")

_MEMORY = ":memory:"
_WRITE = "BEGIN IMMEDIATE"
_SYNCED = {"FULL", "EXTRA"}
_TOGETHER = 10
_UNIQUE = {apsw.SQLITE_CONSTRAINT_UNIQUE, apsw.SQLITE_CONSTRAINT_PRIMARYKEY, apsw.SQLITE_CONSTRAINT_ROWID}
_columns: dict[str, tuple[str, ...]] = {}


@frozen
class SqliteOptions:
    """How a file is opened. `synchronous` below FULL can lose acknowledged messages at a power cut."""

    path: str
    wal: bool = True
    synchronous: str = "FULL"
    busy_timeout: int = 5000
    readers: int = 2

    def __post_init__(self) -> None:
        if self.synchronous.upper() not in {"OFF", "NORMAL", "FULL", "EXTRA"}:
            raise Misconfigured(f"unknown value synchronous = {self.synchronous!r}.", hint="Use FULL.")
        if self.busy_timeout < 0:
            raise Misconfigured("busy_timeout is negative.", hint="Set it in milliseconds, for example 5000.")
        if self.readers < 0:
            raise Misconfigured("readers is negative.", hint="Use 2, or 0 to read through the writer.")


class SqliteTx(Tx):
    """A transaction on one apsw connection."""

    dialect = Dialect.SQLITE

    def __init__(self, connection: apsw.Connection, *, begin: str, clock: Clock, knows: int | None = None) -> None:
        super().__init__(clock=clock, repeatable=True)
        self._knows = knows
        self._connection = connection
        self._opening = begin

    def lock_schema(self) -> None:
        """Do nothing: a writing transaction already locks the file."""

    def begin_migration(self) -> None:
        """Do nothing: a writing transaction already keeps every other out."""

    def has_table(self, name: str) -> bool:
        """Look the table up in SQLite's schema."""
        self._begin()
        # Not `table_exists`, which does not see a table that another connection has just created.
        return self._connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = ?", (name,)).get == 1

    def _open(self) -> None:
        self._connection.execute(self._opening)
        if self._knows is not None:
            found = self._connection.execute("SELECT version FROM schema_now").get
            if found != self._knows:
                raise outdated(int(str(found or 0)), known=self._knows)

    def _insert(self, name: str, rows: Iterable[Sequence[object]]) -> None:
        query, waiting = self._queries[name], iter(rows)
        while chunk := tuple(islice(waiting, _TOGETHER)):
            if len(chunk) == _TOGETHER:
                self._connection.execute(_together(query), tuple(chain.from_iterable(chunk)))
            else:
                self._connection.executemany(query.text, chunk)

    def _script(self, text: str) -> None:
        self._connection.execute(text)

    def _run(self, query: Query, values: list[object]) -> int:
        self._connection.execute(query.text, _bound(values))
        return self._connection.changes()

    def _fetch(self, query: Query, values: list[object]) -> list[Row]:
        cursor = self._connection.execute(query.text, _bound(values))
        columns = _columns.get(query.name)
        if columns is None:
            try:
                columns = tuple(column[0] for column in cursor.get_description())
            except apsw.ExecutionCompleteError:  # without rows, apsw no longer knows the columns
                return []
            _columns[query.name] = columns
        return [dict(zip(columns, row, strict=True)) for row in cursor]


@cache
def _together(query: Query) -> str:
    """Return an insert of several rows at once, which saves a tenth of the time of single inserts."""
    head, _, group = query.text.rstrip(";").partition("VALUES")
    width = len(query.parameters)
    groups = [
        re.sub(r"\?(\d+)", lambda place, row=row: f"?{int(place[1]) + row * width}", group) for row in range(_TOGETHER)
    ]
    return f"{head}VALUES {', '.join(groups)}"


def _bound(values: list[object]) -> tuple[Any, ...]:
    return tuple([json.dumps(value) if isinstance(value, list) else value for value in values])


class SqliteDatabase(Database):
    """One file. Every write goes through one connection; readers see the last commit."""

    dialect = Dialect.SQLITE

    def __init__(self, options: SqliteOptions, *, clock: Clock = system_clock) -> None:
        super().__init__()
        self.options = options
        self._clock = clock

    def _start(self) -> None:
        self._knows = newest_version(self.dialect)
        path, on_disk = str(Path(self.options.path).expanduser()), self.options.path != _MEMORY
        log = Path(f"{path}-wal") if self.options.wal and on_disk else None
        slack = Slack(path, log=log) if on_disk else None
        self._checkpointer = Checkpointer(self._connect, log=log, slack=slack, busy_timeout=self.options.busy_timeout)
        self._checkpointer.start()
        self._writer = ConnectionThread("writer", 1, self._connect_writer)
        self._watcher = ConnectionThread("watcher", 1, self._connect_reader)
        self._seen: object = None
        alone = self.options.path == _MEMORY or self.options.readers == 0
        self._readers = (
            self._writer if alone else ConnectionThread("reader", self.options.readers, self._connect_reader)
        )

    async def _stop(self) -> None:
        await self._watcher.close()
        if self._readers is not self._writer:
            await self._readers.close()
        await to_thread.run_sync(self._checkpointer.close)
        if self._checkpointer.log_in_doubt:
            await self._writer.run(lambda holder: self._checkpointer.leave_log(holder.connection()))
        await self._writer.close()

    async def empty_log(self) -> bool:
        """Fold the write-ahead log into the file, truncate it, and clear the slack; an older reader prevents that."""
        return await self._writer.run(lambda holder: self._checkpointer.clear(holder.connection()))

    def _prepare(self, tx: Tx) -> None:
        migrate(tx)
        self.fingerprint_key = deployment_key(tx, "fingerprint")
        self.unsettled = tx.one("any_open_sink") is not None

    async def _listen(self, seconds: float) -> bool:
        # Other processes cannot notify us, so watch the file for changes.
        await anyio.sleep(seconds)
        if self._readers is self._writer:
            return False
        before = self._seen
        self._seen = await self._watcher.run(lambda holder: holder.connection().pragma("data_version"))
        return before is not None and self._seen != before

    async def _transact(
        self, body: Callable[[Tx], T], *, space: str | None, read: bool, repeatable: bool, synced: bool = True
    ) -> T:
        del space, repeatable  # one file is one trust domain, and its commits have known outcomes
        lane, begin = (self._readers, "BEGIN") if read else (self._writer, _WRITE)
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
            knows = self._knows if self._ready and begin == _WRITE else None
            tx = SqliteTx(connection, begin=begin, clock=self._clock, knows=knows)
            tx.keys_refused = self.keys_refused
            try:
                result = checked_result(body(tx))
                if tx.begun:
                    committing = begin == _WRITE
                    connection.execute("COMMIT")
                    self._committed(tx)
                    if tx.forgets:
                        self._checkpointer.clear(connection)
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        except apsw.Error as error:
            if isinstance(error, apsw.IOError):
                self._checkpointer.doubt_log()
            if committing and isinstance(error, apsw.IOError):
                # The log may already contain the complete commit, which would be recovered after a crash.
                raise OutcomeUnknown(f"the disk failed while committing: {error}.") from error
            raise translated(error, self.options) from error
        return result

    def _connect(self) -> apsw.Connection:
        path = self.options.path
        if path != _MEMORY:
            file = Path(path).expanduser()
            try:
                _make_folder(file.parent)
            except OSError as error:
                raise Misconfigured(f"cannot create {file.parent}: {error}.", hint="Check the path.") from error
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
        # A plan must not depend on what is bound: SQLite would make one for every execution, at several times the cost.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        _check_ours(connection, path)  # before changing any setting that the file would keep
        connection.pragma("foreign_keys", True)  # noqa: FBT003 - apsw's own signature
        connection.pragma("secure_delete", True)  # noqa: FBT003
        connection.pragma("trusted_schema", False)  # noqa: FBT003
        connection.pragma("journal_size_limit", 64 * 1024 * 1024)
        self._set_journal(connection)
        connection.pragma("synchronous", self._synchronous())

    def _synchronous(self) -> str:
        # Without a log a commit deletes the journal, and only EXTRA syncs the folder after that: with FULL the journal
        # could come back after a power cut, and undo what was acknowledged.
        asked = self.options.synchronous.upper()
        return "EXTRA" if asked == "FULL" and not self.options.wal else asked

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
    """Create a folder and those above it, so that a power cut takes none of them along with what is in them."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for each in missing:
        with suppress(OSError):  # some systems cannot open a folder
            opened = os.open(each.parent, os.O_RDONLY)
            try:
                os.fsync(opened)
            finally:
                os.close(opened)


def _check_ours(connection: apsw.Connection, path: str) -> None:
    names = {str(name) for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if names and not names >= {"schema_version", "spaces"}:
        raise Misconfigured(f"{path} is a database, but not a Bethink memory.", hint="Use another file.")


def translated(error: apsw.Error, options: SqliteOptions) -> Exception:
    """Convert a driver error to one of ours."""
    match error:
        case apsw.ConstraintError() if extended(error) in _UNIQUE:
            return Duplicate(f"already exists: {error}.")
        case apsw.ConstraintError():
            return Conflict(f"rejected by the schema: {error}.")
        case apsw.BusyError() | apsw.LockedError():
            return Busy(
                f"another writer locked {options.path} for more than {options.busy_timeout} ms.",
                hint="Nothing was written; retry the call, or raise busy_timeout.",
            )
        case apsw.CorruptError() | apsw.NotADBError():
            return Corrupt(f"cannot read {options.path} as a database: {error}.")
        case apsw.ReadOnlyError():
            return Misconfigured(
                f"cannot open {options.path} for writing: {error}.",
                hint="Bethink writes to a memory even when it only reads: copy the file to a folder that is writable.",
            )
        case apsw.CantOpenError() | apsw.PermissionsError():
            return Misconfigured(
                f"cannot open {options.path} for writing: {error}.",
                hint="Check the path and its permissions.",
            )
        case apsw.FullError() | apsw.IOError():
            return Unavailable(
                f"the disk reported an error: {error}.", hint="Nothing was written; check its free space and health."
            )
        case _:
            return StoreError(f"{type(error).__name__}: {error}.")
