"""Checkpoints SQLite's write-ahead log on a thread of its own, so that an append does not wait for it."""

# pyright: reportUnknownMemberType=false

import threading
from collections.abc import Callable
from pathlib import Path

import apsw

from bethink.errors import BethinkError
from bethink.logs import logger
from bethink.store.engines.sqlite_log import write_log_again
from bethink.store.sql import Dialect, queries

_WORTH_IT = 1000
"""Pages in the log from which on a checkpoint is worthwhile: SQLite's own default."""

_TOO_MANY = 8000
"""A writer that never pauses outruns the thread: from this size on it runs a checkpoint itself."""

_PATIENCE = 200
"""Milliseconds that a writer waits for readers when it truncates the log; after that the thread keeps trying."""

_AGAIN = 1.0
"""Seconds between two attempts to truncate the log."""

_LOOK = 5.0
"""Seconds between two looks for something that another process forgot, and ended before the log could be truncated."""

_log = logger("store")


class Checkpointer:
    """One thread, woken after commits that left a long log; it opens a connection when it first has work."""

    def __init__(self, connect: Callable[[], apsw.Connection], *, log: Path | None = None, busy_timeout: int) -> None:
        """Take what connects, and the file of the log; None for a database without one."""
        self._connect = connect
        self._file = log
        self._busy_timeout = busy_timeout
        self._wake = threading.Event()
        self._closing = False
        self._unclean = False
        self._failures = self._answered = 0
        self._restoring = threading.Lock()
        self._checkpointing = threading.Lock()
        self._file_in_doubt = False
        self._keeper: apsw.Connection | None = None
        self._thread = threading.Thread(target=self._serve, name="bethink-checkpoint", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def watch(self, writer: apsw.Connection) -> None:
        """Replace SQLite's automatic checkpoints on the connection of the writer."""
        writer.set_wal_hook(self._committed)

    def clear(self, writer: apsw.Connection) -> bool:
        """Truncate the log after something was forgotten, and return whether that was possible.

        While a reader uses an older state, this is retried.
        """
        emptied = self._empty(writer)
        if not emptied:
            self._unclean = True
            self._wake.set()
        return emptied

    def doubt_log(self) -> None:
        """Take note that the disk failed: parts of the log may not be on it."""
        self._failures += 1

    @property
    def log_needed(self) -> bool:
        """Whether the log must outlive the last connection, or be restored before it is closed."""
        return self.log_in_doubt or self._file_in_doubt

    @property
    def log_in_doubt(self) -> bool:
        """Whether the disk failed since the log was last restored; a database without a log has nothing to doubt."""
        return self._failures != self._answered and self._file is not None

    def restore_log(self, connection: apsw.Connection) -> None:
        """Make sure that all of the log is on the disk, before anything is built on it. Raises what SQLite raises."""
        if not self.log_in_doubt:
            return
        with self._restoring:
            failures = self._failures
            connection.execute("BEGIN IMMEDIATE")  # keeps every other writer out
            try:
                write_log_again(connection.filename)
            finally:
                connection.execute("ROLLBACK")
            self._answered = failures

    def leave_log(self, connection: apsw.Connection) -> None:
        """Before the last connection is closed, leave a log that is still needed to the next process."""
        needed = self._file_in_doubt
        try:
            self.restore_log(connection)
        except apsw.Error:
            needed = True
        if needed:
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        if self._keeper is not None:
            self._keeper.close()

    def close(self) -> None:
        """Let the running checkpoint finish. The last connection to close runs the final one."""
        self._closing = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()

    def _committed(self, writer: apsw.Connection, _: str, pages: int) -> int:
        # Called after the commit: nothing here may raise, or a stored message would look refused.
        if pages >= _TOO_MANY and not self.log_in_doubt:
            self._fold(writer)
        elif pages >= _WORTH_IT:
            self._wake.set()
        return apsw.SQLITE_OK

    def _serve(self) -> None:
        connection: apsw.Connection | None = None
        while True:
            woken = self._wake.wait(_AGAIN if self._unclean else _LOOK)
            self._wake.clear()
            if self._closing:
                break
            if not woken and not self._unclean and not self._has_log():
                continue
            try:
                connection = connection or self._connect()
                self._unclean = self._unclean or (not woken and _is_waited_for(connection))
            except (apsw.Error, BethinkError) as error:
                _log.warning("cannot checkpoint the write-ahead log: %s", type(error).__name__)
            else:
                if woken:
                    self._fold(connection)
                self._empty_again(connection)
        if connection is not None:
            connection.close()

    def _has_log(self) -> bool:
        try:
            return self._file is not None and self._file.stat().st_size > 0
        except OSError:
            return False

    def _empty_again(self, connection: apsw.Connection) -> None:
        if self._unclean:
            self._unclean = False  # before the attempt: forgetting during it sets this again
            if not self._empty(connection):
                self._unclean = True

    def _empty(self, connection: apsw.Connection) -> bool:
        """Checkpoint the entire log and truncate it. Returns whether nothing prevented that."""
        connection.set_busy_timeout(min(_PATIENCE, self._busy_timeout))
        try:
            return self._checkpoint(connection, apsw.SQLITE_CHECKPOINT_TRUNCATE, patience=_PATIENCE / 1000)
        except (apsw.Error, BethinkError):
            return False
        finally:
            connection.set_busy_timeout(self._busy_timeout)

    def _fold(self, connection: apsw.Connection) -> None:
        # Commits are safe in the log: if this fails, or another one is running, the log only stays longer.
        try:
            self._checkpoint(connection, apsw.SQLITE_CHECKPOINT_PASSIVE)
        except apsw.BusyError:
            return
        except (apsw.Error, BethinkError) as error:
            _log.warning("could not checkpoint the write-ahead log: %s", type(error).__name__)

    def _checkpoint(self, connection: apsw.Connection, mode: int, *, patience: float = 0) -> bool:
        """Write the log to the file, unless another thread does, or the log has to be kept. Returns whether it did."""
        # One at a time: after a sync that failed, no other may finish before the log is kept.
        if not self._checkpointing.acquire(timeout=patience):
            return False
        try:
            if self._file_in_doubt:
                self._keep_log()
                return False
            self.restore_log(connection)
            self._write_to_file(connection, mode)
        finally:
            self._checkpointing.release()
        return True

    def _write_to_file(self, connection: apsw.Connection, mode: int) -> None:
        try:
            connection.wal_checkpoint(mode=mode)
        except apsw.IOError as error:
            self.doubt_log()
            if extended(error) == apsw.SQLITE_IOERR_FSYNC:
                self._file_in_doubt = True
                self._keep_log()
            raise

    def _keep_log(self) -> None:
        """Let no process overwrite the log as long as this one has the database open.

        A checkpoint that does not reach the end of the log is not synced, and SQLite does not write its pages again. If
        a later sync of the file fails, they may be lost, and only the log has them. A reader of the log keeps it; the
        next process to open the database starts at its beginning.
        """
        if self._keeper is None:
            keeper = self._connect()
            try:
                keeper.execute("BEGIN")
                keeper.execute("SELECT count(*) FROM sqlite_schema")  # takes the snapshot
            except apsw.Error:
                keeper.close()
                raise
            self._keeper = keeper
            _log.warning("the disk failed to sync: the log is kept, and grows, until the memory is opened again")


def extended(error: apsw.Error) -> int:
    """Return SQLite's exact code for an error; apsw does not declare it."""
    return getattr(error, "extendedresult", 0)


def _is_waited_for(connection: apsw.Connection) -> bool:
    """Return whether an erasure waits until the log is empty."""
    query = queries(Dialect.SQLITE)["any_open_log"]
    try:
        return any(True for _ in connection.execute(query.text))
    except apsw.Error:  # the schema is older, or being migrated
        return False
