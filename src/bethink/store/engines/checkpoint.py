"""Checkpoints SQLite's write-ahead log on a thread of its own, so that an append does not wait for it."""

# pyright: reportUnknownMemberType=false

import threading
import time
from collections.abc import Callable
from pathlib import Path

import apsw

from bethink.base.logs import logger
from bethink.errors import BethinkError
from bethink.store.engines.sqlite_log import write_log_again, write_pages_again
from bethink.store.engines.sqlite_slack import Slack
from bethink.store.sql import Dialect, queries

_WORTH_IT = 1000
"""Pages in the log from which on a checkpoint is worthwhile: SQLite's own default."""

_TOO_MANY = 8000
"""A writer that never pauses outruns the thread: from this size on it runs a checkpoint itself."""

_PATIENCE = 200
"""Milliseconds that a writer waits for readers when it truncates the log; after that the thread keeps trying."""

_AGAIN = 1.0
"""Seconds between two attempts to truncate the log, or to restore it."""

_PAUSE = 0.01
"""Seconds between two looks whether the readers of an older state are gone."""

_LOOK = 5.0
"""Seconds between two looks for something that another process forgot, and ended before the log could be truncated."""

_log = logger("store")


class Checkpointer:
    """One thread, woken after commits that left a long log; it opens a connection when it first has work."""

    def __init__(
        self, connect: Callable[[], apsw.Connection], *, log: Path | None, slack: Slack | None, busy_timeout: int
    ) -> None:
        """Take what connects, the file of the log, and what is cleared with it; None for a database without them."""
        self._connect = connect
        self._file = log
        self._slack = slack
        self._busy_timeout = busy_timeout
        self._wake = threading.Event()
        self._closing = False
        self._unclean = False
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
            writer.set_wal_hook(self._committed)
        if self._slack is not None:
            self._slack.watch(writer)

    def clear(self, writer: apsw.Connection) -> bool:
        """Truncate the log after something was forgotten, clear the slack, and return whether that was possible.

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
    def log_in_doubt(self) -> bool:
        """Whether the disk failed since the log was last restored; a database without a log has nothing to doubt."""
        return self._failures != self._answered and self._file is not None

    def restore_log(self, connection: apsw.Connection) -> None:
        """Make sure that the log, and the file under it, are on the disk before anything is built on them.

        Raises what SQLite raises, and `BusyError` while another process reads an older state of the file.
        """
        if not self.log_in_doubt:
            return
        with self._restoring:
            failures, file_failures = self._failures, self._file_failures
            connection.execute("BEGIN IMMEDIATE")  # keeps every other writer out
            try:
                write_log_again(connection.filename)
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

    def _committed(self, writer: apsw.Connection, _: str, pages: int) -> int:
        # Called after the commit: nothing here may raise, or a stored message would look refused.
        if self._slack is not None:
            self._slack.note(pages)
        if pages >= _TOO_MANY and not self.log_in_doubt:
            self._fold(writer)
        elif pages >= _WORTH_IT:
            self._wake.set()
        return apsw.SQLITE_OK

    def _serve(self) -> None:
        connection: apsw.Connection | None = None
        while True:
            woken = self._wake.wait(_AGAIN if self._unclean or self.log_in_doubt else _LOOK)
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
                if woken or self.log_in_doubt:
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
        """Checkpoint the entire log, truncate it, and clear the slack. Returns whether no reader prevented that."""
        connection.set_busy_timeout(min(_PATIENCE, self._busy_timeout))
        try:
            self._truncate(connection)
            return self._slack is None or self._slack.clear(connection, lambda: self._truncate(connection))
        except apsw.Error as error:
            if isinstance(error, apsw.IOError):
                self.doubt_log()
            return False
        finally:
            connection.set_busy_timeout(self._busy_timeout)

    def _truncate(self, connection: apsw.Connection) -> None:
        if self._file is not None:
            self._checkpoint(connection, apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def _fold(self, connection: apsw.Connection) -> None:
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
            self._file_failures += extended(error) == apsw.SQLITE_IOERR_FSYNC
            self.doubt_log()
            raise

    def _restore_file(self, path: str) -> None:
        """Write once more what the log brought into the file. The log is whole, and no other connection writes."""
        other, deadline = apsw.Connection(path), time.monotonic() + self._busy_timeout / 1000
        try:
            other.pragma("journal_mode")  # else it does not know of the log yet
            while (frames := _frames_in_file(other)) is None:
                if time.monotonic() > deadline:
                    raise apsw.BusyError("somebody reads an older state")
                time.sleep(_PAUSE)
            write_pages_again(path, frames)
        finally:
            other.close()


def _frames_in_file(connection: apsw.Connection) -> int | None:
    """Write the log to the file. Returns its frames, or None if a reader or another checkpoint kept some out of it."""
    try:
        frames, written = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    except apsw.BusyError:
        return None
    return frames if frames == written else None


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
