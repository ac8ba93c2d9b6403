"""Checkpoints SQLite's write-ahead log on a thread of its own, so that an append does not wait for it."""

# pyright: reportUnknownMemberType=false

import threading
import time
from collections.abc import Callable
from pathlib import Path

import apsw

from bethink.base.logs import logger
from bethink.errors import BethinkError
from bethink.store.engines.sqlite_log import rewrite_log, rewrite_pages
from bethink.store.engines.sqlite_slack import Slack
from bethink.store.sql import Dialect, queries

_MIN_PAGES = 1000
"""Pages in the log at which a checkpoint is worthwhile: SQLite's own default."""

_MAX_PAGES = 8000
"""Pages in the log at which the writer runs a checkpoint itself, because it outruns the thread."""

_READER_WAIT = 200
"""Milliseconds that a writer waits for readers when it truncates the log; after that the thread keeps trying."""

_RETRY_INTERVAL = 1.0
"""Seconds between two attempts to truncate the log, or to restore it."""

_PAUSE = 0.01
"""Seconds between two checks whether the readers of an older state have finished."""

_CHECK_INTERVAL = 5.0
"""Seconds between two checks for an erasure of a process that ended before the log was truncated."""

_log = logger("store")


class Checkpointer:
    """One thread, woken after commits that left a long log; it opens a connection when it first has work."""

    def __init__(
        self, connect: Callable[[], apsw.Connection], *, log: Path | None, slack: Slack | None, busy_timeout: int
    ) -> None:
        """Create a checkpointer. `log` and `slack` are None for a database without them."""
        self._connect = connect
        self._file = log
        self._slack = slack
        self._busy_timeout = busy_timeout
        self._wake = threading.Event()
        self._closing = False
        self._needs_clearing = False
        self._failures = self._answered = 0
        self._file_failures = self._file_answered = 0
        self._restoring = threading.Lock()
        self._thread = threading.Thread(target=self._serve, name="bethink-checkpoint", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def watch(self, writer: apsw.Connection) -> None:
        """Replace SQLite's automatic checkpoints on the connection of the writer, and follow what it writes."""
        if self._file is not None:
            writer.set_wal_hook(self._on_commit)
        if self._slack is not None:
            self._slack.watch(writer)

    def clear(self, writer: apsw.Connection) -> bool:
        """Truncate the log after a deletion, clear the slack, and return whether that succeeded.

        While a reader uses an older state, this is retried.
        """
        emptied = self._clear_log(writer)
        if not emptied:
            self._needs_clearing = True
            self._wake.set()
        return emptied

    def note_disk_failure(self) -> None:
        """Note that the disk failed: it may lack parts of the log."""
        self._failures += 1

    @property
    def is_log_suspect(self) -> bool:
        """True if the disk failed since the log was last restored. Always False without a log."""
        return self._failures != self._answered and self._file is not None

    def restore_log(self, connection: apsw.Connection) -> None:
        """Make sure that the log, and the file under it, are on the disk before anything is built on them.

        Raises what SQLite raises, and `BusyError` while another process reads an older state of the file.
        """
        if not self.is_log_suspect:
            return
        with self._restoring:
            failures, file_failures = self._failures, self._file_failures
            connection.execute("BEGIN IMMEDIATE")  # blocks every other writer
            try:
                rewrite_log(connection.filename)
                if file_failures != self._file_answered:
                    self._restore_file(connection.filename)
            finally:
                connection.execute("ROLLBACK")
            self._answered, self._file_answered = failures, file_failures

    def leave_log(self, connection: apsw.Connection) -> None:
        """Leave a log that cannot be restored to the next process, before the last connection is closed."""
        try:
            self.restore_log(connection)
        except apsw.Error:
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)

    def close(self) -> None:
        """Let the running checkpoint finish. The last connection to close runs the final one."""
        self._closing = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()

    def _on_commit(self, writer: apsw.Connection, _: str, pages: int) -> int:
        # Called after the commit: nothing here may raise, or a stored message would look rejected.
        if self._slack is not None:
            self._slack.note(pages)
        if pages >= _MAX_PAGES and not self.is_log_suspect:
            self._merge_log(writer)
        elif pages >= _MIN_PAGES:
            self._wake.set()
        return apsw.SQLITE_OK

    def _serve(self) -> None:
        connection: apsw.Connection | None = None
        while True:
            woken = self._wake.wait(_RETRY_INTERVAL if self._needs_clearing or self.is_log_suspect else _CHECK_INTERVAL)
            self._wake.clear()
            if self._closing:
                break
            if not woken and not self._needs_clearing and not self._has_log():
                continue
            try:
                connection = connection or self._connect()
                self._needs_clearing = self._needs_clearing or (not woken and _has_waiting_erasure(connection))
            except (apsw.Error, BethinkError) as error:
                _log.warning("cannot checkpoint the write-ahead log: %s", type(error).__name__)
            else:
                if woken or self.is_log_suspect:
                    self._merge_log(connection)
                self._retry_clearing(connection)
        if connection is not None:
            connection.close()

    def _has_log(self) -> bool:
        try:
            return self._file is not None and self._file.stat().st_size > 0
        except OSError:
            return False

    def _retry_clearing(self, connection: apsw.Connection) -> None:
        if self._needs_clearing:
            self._needs_clearing = False  # before the attempt, because a deletion during it sets this again
            if not self._clear_log(connection):
                self._needs_clearing = True

    def _clear_log(self, connection: apsw.Connection) -> bool:
        """Checkpoint the entire log, truncate it, and clear the slack. Returns whether no reader prevented that."""
        connection.set_busy_timeout(min(_READER_WAIT, self._busy_timeout))
        try:
            self._truncate(connection)
            return self._slack is None or self._slack.clear(connection, lambda: self._truncate(connection))
        except apsw.Error as error:
            if isinstance(error, apsw.IOError):
                self.note_disk_failure()
            return False
        finally:
            connection.set_busy_timeout(self._busy_timeout)

    def _truncate(self, connection: apsw.Connection) -> None:
        if self._file is not None:
            self._checkpoint(connection, apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def _merge_log(self, connection: apsw.Connection) -> None:
        # Commits are safe in the log: if this fails, or another one is running, the log only stays longer.
        try:
            self._checkpoint(connection, apsw.SQLITE_CHECKPOINT_PASSIVE)
        except apsw.BusyError:
            return
        except apsw.Error as error:
            _log.warning("could not checkpoint the write-ahead log: %s", type(error).__name__)

    def _checkpoint(self, connection: apsw.Connection, mode: int) -> None:
        self.restore_log(connection)
        try:
            connection.wal_checkpoint(mode=mode)
        except apsw.IOError as error:
            self._file_failures += extended_code(error) == apsw.SQLITE_IOERR_FSYNC
            self.note_disk_failure()
            raise

    def _restore_file(self, path: str) -> None:
        """Rewrite the pages that were copied from the log. The log is complete, and no other connection writes."""
        other, deadline = apsw.Connection(path), time.monotonic() + self._busy_timeout / 1000
        try:
            other.pragma("journal_mode")  # otherwise it does not know about the log yet
            while (frames := _frames_in_file(other)) is None:
                if time.monotonic() > deadline:
                    raise apsw.BusyError("A reader is still using an older snapshot.")
                time.sleep(_PAUSE)
            rewrite_pages(path, frames)
        finally:
            other.close()


def _frames_in_file(connection: apsw.Connection) -> int | None:
    """Write the log to the file. Returns its frames, or None if a reader or another checkpoint blocked some."""
    try:
        frames, checkpointed = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    except apsw.BusyError:
        return None
    return frames if frames == checkpointed else None


def extended_code(error: apsw.Error) -> int:
    """Return SQLite's exact code for an error; apsw does not declare it."""
    return getattr(error, "extendedresult", 0)


def _has_waiting_erasure(connection: apsw.Connection) -> bool:
    """Return whether an erasure waits until the log is empty."""
    query = queries(Dialect.SQLITE)["any_open_log"]
    try:
        return any(True for _ in connection.execute(query.text))
    except apsw.Error:  # the schema is older, or being migrated
        return False
