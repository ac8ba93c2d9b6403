"""Deadlines on our side: a server that is frozen answers nothing, so a call that waits for it is cut off in time."""

import math
import os
import socket
import threading
import time
from contextlib import suppress
from types import TracebackType

from psycopg.pq.abc import PGconn

_LOOK = 0.25
"""Seconds between two looks at those who wait, at most."""


class Patience:
    """How long one call waits: from its start, or since the server's last answer to it. Own work does not count.

    Entered around everything that waits for the server. When it is over, the connection is cut, which ends the wait.
    """

    def __init__(self, guard: "Guard") -> None:
        self._guard = guard
        self._lock = threading.Lock()
        self._since: float | None = time.monotonic()
        self._pgconn: PGconn | None = None
        self.seconds = guard.seconds
        self.was_cut = False
        """Whether it was over while it waited, and the connection was cut."""

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return self.seconds if self._since is None else self._since + self.seconds - time.monotonic()

    def lift(self) -> None:
        """Wait for as long as it takes from now on, as a migration must."""
        self.seconds = math.inf

    def on(self, pgconn: PGconn) -> "Patience":
        """Watch this connection."""
        self._pgconn = pgconn
        return self

    def __enter__(self) -> None:
        if self._since is None:
            self._since = time.monotonic()
        self._guard.watch(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._guard.leave(self)
        with self._lock:  # not while the connection is being cut: its number may be another's by then
            if error is None:
                self._since = None

    def cut_if_over(self) -> None:
        """Cut the connection if the wait has been too long. Called from another thread."""
        with self._lock:
            if self.left > 0 or self.was_cut or self._pgconn is None or not self._guard.watches(self):
                return
            self.was_cut = True
            with suppress(OSError), socket.socket(fileno=os.dup(self._pgconn.socket)) as ours:
                ours.shutdown(socket.SHUT_RDWR)


class Guard:
    """A thread that watches those who wait. It sleeps while there are none."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._waiting: dict[Patience, None] = {}
        self._state = threading.Condition()
        self._asleep = self._closed = False
        self._thread: threading.Thread | None = None

    def watch(self, patience: Patience) -> None:
        """Watch one more."""
        self._waiting[patience] = None
        if self._thread is None or self._asleep:
            self._wake()

    def leave(self, patience: Patience) -> None:
        """Watch it no more."""
        self._waiting.pop(patience, None)

    def watches(self, patience: Patience) -> bool:
        """Return whether it is still waiting."""
        return patience in self._waiting

    def close(self) -> None:
        """End the thread. It begins again with the next that waits."""
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
        pause = min(_LOOK, self.seconds / 8)
        while not self._closed:
            for patience in list(self._waiting):
                patience.cut_if_over()
            with self._state:
                self._asleep = True  # before looking: a call that comes after the look wakes it
                if self._closed:
                    return
                if self._waiting:
                    self._asleep = False
                    self._state.wait(pause)
                else:
                    self._state.wait()
                self._asleep = False
