"""Notifies waiting workers of new work: after the commit, coalesced, on a connection of its own."""

import threading
from collections.abc import Callable
from typing import Any

import psycopg

from bethink.store.engines.deadlines import Deadline

CHANNEL = "bethink_jobs"
_GAP = 0.05


class NotifySender:
    """Sends at most twenty notifications a second, however many are requested.

    A notification inside the writing transaction would make every commit wait for all others.
    """

    def __init__(
        self, connect: "Callable[[], psycopg.Connection[dict[str, Any]]]", deadline: Callable[[], Deadline]
    ) -> None:
        self._connect = connect
        self._deadline = deadline
        self._state = threading.Condition()
        self._requested = self._closed = False
        self._thread: threading.Thread | None = None

    def request(self) -> None:
        """Request a notification. It never blocks and never fails: workers also check by themselves."""
        with self._state:
            self._requested = True
            self._state.notify()
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._serve, name="bethink-notify", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Send a requested notification, and close the connection."""
        with self._state:
            self._closed = True
            self._state.notify()
        if self._thread is not None:
            self._thread.join()

    def _serve(self) -> None:
        connection: psycopg.Connection[dict[str, Any]] | None = None
        while self._wait_for_request():
            try:
                connection = connection or self._connect()
                with self._deadline().on(connection.pgconn):
                    connection.execute(f"NOTIFY {CHANNEL}".encode())
            except psycopg.Error:
                if connection is not None:
                    connection.close()
                connection = None
            with self._state:
                self._state.wait_for(lambda: self._closed, _GAP)
        if connection is not None:
            connection.close()

    def _wait_for_request(self) -> bool:
        with self._state:
            self._state.wait_for(lambda: self._requested or self._closed)
            requested, self._requested = self._requested, False
            return requested
