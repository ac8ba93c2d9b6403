"""Tells waiting workers that there is work: after the commit, coalesced, from a connection of its own."""

import threading
from collections.abc import Callable
from typing import Any

import psycopg

CHANNEL = "bethink_jobs"
_GAP = 0.05


class NotifySender:
    """Rings the server's bell at most twenty times a second, however often it is pulled.

    Inside the writing transaction a notification would make every commit wait for all others.
    """

    def __init__(self, connect: "Callable[[], psycopg.Connection[dict[str, Any]]]") -> None:
        self._connect = connect
        self._state = threading.Condition()
        self._pulled = self._closed = False
        self._thread: threading.Thread | None = None

    def pull(self) -> None:
        """Ask for a ring. Never waits for the server, and never fails: workers also look by themselves."""
        with self._state:
            self._pulled = True
            self._state.notify()
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._serve, name="bethink-bell", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Ring once more if that was asked for, and let go of the connection."""
        with self._state:
            self._closed = True
            self._state.notify()
        if self._thread is not None:
            self._thread.join()

    def _serve(self) -> None:
        connection: psycopg.Connection[dict[str, Any]] | None = None
        while self._is_pulled():
            try:
                connection = connection or self._connect()
                connection.execute(f"NOTIFY {CHANNEL}".encode())
            except psycopg.Error:
                if connection is not None:
                    connection.close()
                connection = None
            with self._state:
                self._state.wait_for(lambda: self._closed, _GAP)
        if connection is not None:
            connection.close()

    def _is_pulled(self) -> bool:
        with self._state:
            self._state.wait_for(lambda: self._pulled or self._closed)
            pulled, self._pulled = self._pulled, False
            return pulled
