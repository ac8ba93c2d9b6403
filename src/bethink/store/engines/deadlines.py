"""Client-side deadlines: if a call waits too long for a frozen server, its connection is closed."""

import math
import os
import socket
import threading
import time
from contextlib import suppress
from types import TracebackType

from psycopg.pq.abc import PGconn

_MAX_PAUSE = 0.25
"""Maximum seconds between two checks of waiting calls."""


class Deadline:
    """The deadline of one call, since its start or the server's last response. Local work does not count.

    Entered around every wait for the server. When it has passed, the connection is closed, which ends the wait.
    """

    def __init__(self, watcher: "DeadlineWatcher") -> None:
        self._watcher = watcher
        self._lock = threading.Lock()
        self._since: float | None = time.monotonic()
        self._pgconn: PGconn | None = None
        self.seconds = watcher.seconds
        self.was_cut = False
        """Whether the deadline passed during a wait, and the connection was closed."""

    @property
    def remaining(self) -> float:
        """Remaining seconds."""
        return self.seconds if self._since is None else self._since + self.seconds - time.monotonic()

    def lift(self) -> None:
        """Remove the deadline, as a migration must."""
        self.seconds = math.inf

    def on(self, pgconn: PGconn) -> "Deadline":
        """Watch this connection."""
        self._pgconn = pgconn
        return self

    def __enter__(self) -> None:
        if self._since is None:
            self._since = time.monotonic()
        self._watcher.watch(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._watcher.unwatch(self)
        with self._lock:  # not while the connection is being closed: its descriptor may be reused by then
            if error is None:
                self._since = None

    def enforce(self) -> None:
        """Close the connection if the deadline has passed. Called from another thread."""
        with self._lock:
            if self.remaining > 0 or self.was_cut or self._pgconn is None or not self._watcher.is_watching(self):
                return
            self.was_cut = True
            with suppress(OSError), socket.socket(fileno=os.dup(self._pgconn.socket)) as own_socket:
                own_socket.shutdown(socket.SHUT_RDWR)


class DeadlineWatcher:
    """A thread that enforces the deadlines of waiting calls. It sleeps while there are none."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._waiting: dict[Deadline, None] = {}
        self._state = threading.Condition()
        self._asleep = self._closed = False
        self._thread: threading.Thread | None = None

    def watch(self, deadline: Deadline) -> None:
        """Watch a waiting call."""
        self._waiting[deadline] = None
        if self._thread is None or self._asleep:
            self._wake()

    def unwatch(self, deadline: Deadline) -> None:
        """Stop watching a call."""
        self._waiting.pop(deadline, None)

    def is_watching(self, deadline: Deadline) -> bool:
        """Return whether a call is still waiting."""
        return deadline in self._waiting

    def close(self) -> None:
        """Stop the thread. It starts again with the next waiting call."""
        with self._state:
            thread, self._thread = self._thread, None
            self._closed = True
            self._state.notify()
        if thread is not None:
            thread.join()
        self._closed = False

    def _wake(self) -> None:
        with self._state:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._serve, name="bethink-deadlines", daemon=True)
                self._thread.start()
            self._state.notify()

    def _serve(self) -> None:
        pause = min(_MAX_PAUSE, self.seconds / 8)
        while not self._closed:
            for deadline in list(self._waiting):
                deadline.enforce()
            with self._state:
                self._asleep = True  # set before the check, so that a later call wakes the thread
                if self._closed:
                    return
                if self._waiting:
                    self._asleep = False
                    self._state.wait(pause)
                else:
                    self._state.wait()
                self._asleep = False
