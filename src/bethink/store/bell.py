"""Tells waiting workers that there is work: after the commit, coalesced, from a connection of its own."""

import threading
from collections.abc import Callable

import psycopg

CHANNEL = "bethink_jobs"
_GAP = 0.05


class Bell:
    """Rings the server's bell at most twenty times a second, however often it is pulled.

    Inside the writing transaction a notification would make every commit wait for all others.
    """

    def __init__(self, connect: "Callable[[], psycopg.Connection[dict[str, object]]]") -> None:
        self._connect = connect
        self._pulled = threading.Event()
        self._closed = threading.Event()
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None

    def pull(self) -> None:
        """Ask for a ring. Never waits, and never fails: workers also look by themselves."""
        self._pulled.set()
        if self._thread is None:
            with self._guard:
                if self._thread is None and not self._closed.is_set():
                    self._thread = threading.Thread(target=self._serve, name="bethink-bell", daemon=True)
                    self._thread.start()

    def close(self) -> None:
        """Ring once more if that is due, and let go of the connection."""
        with self._guard:
            self._closed.set()
            self._pulled.set()
        if self._thread is not None:
            self._thread.join()

    def _serve(self) -> None:
        connection: psycopg.Connection[dict[str, object]] | None = None
        while not self._closed.is_set():
            self._pulled.wait()
            self._pulled.clear()
            try:
                connection = connection or self._connect()
                connection.execute(f"NOTIFY {CHANNEL}")
            except psycopg.Error:
                if connection is not None:
                    connection.close()
                connection = None
            self._closed.wait(_GAP)
        if connection is not None:
            connection.close()
