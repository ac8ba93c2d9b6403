"""Notifies waiting workers of new work: after the commit, coalesced, on a connection of its own."""

import threading
from collections.abc import Callable
from typing import Any

import psycopg

from bethink.store.engines.patience import Patience

CHANNEL = "bethink_jobs"
_GAP = 0.05


class NotifySender:
    """Sends at most twenty notifications a second, however many are requested.

    A notification inside the writing transaction would make every commit wait for all others.
    """

    def __init__(
        self, connect: "Callable[[], psycopg.Connection[dict[str, Any]]]", patience: Callable[[], Patience]
    ) -> None:
        self._connect = connect
        self._patience = patience
        self._state = threading.Condition()
        self._pulled = self._closed = False
        self._thread: threading.Thread | None = None

    def pull(self) -> None:
        """Request a notification. It never blocks and never fails: workers also check by themselves."""
        with self._state:
            self._pulled = True
            self._state.notify()
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._serve, name="bethink-bell", daemon=True)
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
        while self._is_pulled():
            try:
                connection = connection or self._connect()
                with self._patience().on(connection.pgconn):
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
