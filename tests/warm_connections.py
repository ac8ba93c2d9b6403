"""Connections to PostgreSQL that outlive a test: a new one reads the catalogue of 1,200 tables and indexes again.

Between two tests a connection is as good as new for the server (`DISCARD ALL`) and for the client, which wraps it
anew. One that is lost or in a transaction is closed as always.
"""

from typing import Any, ClassVar

import psycopg
from psycopg import pq
from psycopg.rows import RowFactory

KEPT = 8
_ENDED = pq.PGconn.connect(b"host=/nowhere")


class WarmConnection(psycopg.Connection[dict[str, Any]]):
    """A connection whose `close` puts its session aside for the next that connects in the same way."""

    shared: ClassVar[str]
    aside: ClassVar[dict[str, list[pq.abc.PGconn]]] = {}
    way: str

    @classmethod
    def connect(  # pyright: ignore[reportIncompatibleMethodOverride]
        cls,
        dsn: str,
        *,
        row_factory: RowFactory[dict[str, Any]],
        cursor_factory: type[psycopg.Cursor[dict[str, Any]]],
        autocommit: bool,
        **parameters: Any,
    ) -> "WarmConnection":
        """Connect with a session that was put aside, or a new one."""
        way = f"{dsn} {parameters}"
        pgconn = cls._taken(way)
        made = cls(pgconn, row_factory) if pgconn else super().connect(dsn, row_factory=row_factory, **parameters)
        made.autocommit, made.cursor_factory, made.way = autocommit, cursor_factory, way
        return made

    @classmethod
    def _taken(cls, way: str) -> pq.abc.PGconn | None:
        while waiting := cls.aside.get(way):
            pgconn = waiting.pop()
            if _done(pgconn, b"SELECT 1"):
                return pgconn
            pgconn.finish()
        return None

    def close(self) -> None:
        """Put the session aside if it is whole; close it if not."""
        waiting = self.aside.setdefault(self.way, [])
        idle = self.pgconn.transaction_status == pq.TransactionStatus.IDLE
        wanted = self.way.startswith(f"{self.shared} ") and len(waiting) < KEPT
        if idle and wanted and _done(self.pgconn, b"DISCARD ALL"):
            waiting.append(self.pgconn)
            self.pgconn = _ENDED
        super().close()

    @classmethod
    def end(cls) -> None:
        """Close all that was put aside."""
        for waiting in cls.aside.values():
            while waiting:
                waiting.pop().finish()


def _done(pgconn: pq.abc.PGconn, command: bytes) -> bool:
    return pgconn.exec_(command).status in (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK)
