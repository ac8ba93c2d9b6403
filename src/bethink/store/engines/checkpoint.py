"""Checkpoints SQLite's write-ahead log on a thread of its own, so that an append does not wait for it."""

import threading
from collections.abc import Callable
from pathlib import Path

import apsw

from bethink.errors import BethinkError
from bethink.logs import logger
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

    def close(self) -> None:
        """Let the running checkpoint finish. The last connection to close runs the final one."""
        self._closing = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()

    def _committed(self, writer: apsw.Connection, _: str, pages: int) -> int:
        # Called after the commit: nothing here may raise, or a stored message would look refused.
        if pages >= _TOO_MANY:
            _fold(writer)
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
                    _fold(connection)
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
        """Checkpoint the entire log and truncate it. Returns whether no reader prevented that."""
        connection.set_busy_timeout(min(_PATIENCE, self._busy_timeout))
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.Error:
            return False
        finally:
            connection.set_busy_timeout(self._busy_timeout)
        return True


def _is_waited_for(connection: apsw.Connection) -> bool:
    """Return whether an erasure waits until the log is empty."""
    query = queries(Dialect.SQLITE)["any_open_log"]
    try:
        return any(True for _ in connection.execute(query.text))  # pyright: ignore[reportUnknownMemberType]
    except apsw.Error:  # the schema is older, or being migrated
        return False


def _fold(connection: apsw.Connection) -> None:
    # Commits are safe in the log: if this fails, or another one is running, the log only stays longer.
    try:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    except apsw.BusyError:
        return
    except apsw.Error as error:
        _log.warning("could not checkpoint the write-ahead log: %s", type(error).__name__)
