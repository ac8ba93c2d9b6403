"""Connects to PostgreSQL, directly or through a pooler, and begins transactions there."""

import math
from dataclasses import field
from functools import lru_cache
from typing import Any

import psycopg
from psycopg import sql as pgsql
from psycopg.conninfo import conninfo_to_dict
from psycopg.raw_cursor import RawCursor
from psycopg.rows import dict_row
from psycopg.types.string import TextLoader

from bethink.base.frozen import frozen
from bethink.errors import ConfigurationError
from bethink.store.engines.deadlines import Deadline, DeadlineWatcher
from bethink.store.engines.postgres_errors import brief, comes_from_pooler

Connection = psycopg.Connection[dict[str, Any]]
POOLERS = ("auto", "transaction", "none")


@frozen
class PostgresOptions:
    """Connection options. Times are in milliseconds. The server enforces its timeouts, this process the `deadline`."""

    dsn: str = field(repr=False)
    pool_size: int = 10
    connect_timeout: int = 5_000
    statement_timeout: int = 30_000
    lock_timeout: int = 5_000
    idle_timeout: int = 60_000
    tcp_timeout: int = 10_000
    deadline: int = 35_000
    pooler: str = "auto"

    def __post_init__(self) -> None:
        if self.deadline < 1:
            raise ConfigurationError("`deadline` must be above 0.", hint="Use milliseconds, above statement_timeout.")
        if self.pool_size < 1:
            raise ConfigurationError(
                "`pool_size` must be at least 1.", hint="Set it to the number of connections to use."
            )
        if self.pooler not in POOLERS:
            raise ConfigurationError(f"Unknown `pooler`: {self.pooler!r}.", hint=f"Use one of {', '.join(POOLERS)}.")

    def timeouts(self) -> dict[str, int]:
        """Return the server's timeouts by name."""
        return {
            "statement_timeout": self.statement_timeout,
            "lock_timeout": self.lock_timeout,
            "idle_in_transaction_session_timeout": self.idle_timeout,
        }

    def parameters(self, *, pooled: bool = False) -> dict[str, Any]:
        """Return the timeouts as parameters for libpq and the server; a pooler takes only those for libpq."""
        try:
            own_options = conninfo_to_dict(self.dsn).get("options") or ""
        except psycopg.ProgrammingError as error:
            raise ConfigurationError(
                f"Cannot parse the PostgreSQL URL: {brief(error)}.",
                hint="Use postgresql://user@host/database.",
            ) from error
        server = [] if pooled else [f"-c {name}={value}" for name, value in self.timeouts().items()]
        options = " ".join([*server, str(own_options)]).strip()
        return {
            "connect_timeout": max(1, self.connect_timeout // 1000),
            "keepalives": 1,
            "keepalives_idle": 5,
            "keepalives_interval": 2,
            "keepalives_count": 3,
            "tcp_user_timeout": self.tcp_timeout,
            "application_name": "bethink",
            "client_encoding": "utf8",
            **({"options": options} if options else {}),
        }


class PostgresConnector:
    """Opens connections, and detects a pooler.

    A pooler in transaction mode shares server sessions between clients. So nothing may remain in a session after a
    transaction: no prepared statement, setting, lock or LISTEN. A pooler in session mode cannot be distinguished, and
    is treated the same.
    """

    def __init__(self, options: PostgresOptions, watcher: DeadlineWatcher) -> None:
        self.options = options
        self._watcher = watcher
        self.is_pooled = options.pooler == "transaction"
        """Whether any connection so far went through a pooler."""

    def connect(self, deadline: Deadline | None = None) -> Connection:
        """Open a connection within the deadline of a call."""
        deadline = deadline or Deadline(self._watcher)
        try:
            connection = self._open(deadline)
        except psycopg.OperationalError as error:
            if self.is_pooled or self.options.pooler == "none" or not comes_from_pooler(error):
                raise
            self.is_pooled = True
            connection = self._open(deadline)
        try:
            if not self.is_pooled and self.options.pooler == "auto":
                with deadline.on(connection.pgconn):
                    self.is_pooled = _is_pooled(connection)
        except BaseException:
            connection.close()
            raise
        if self.is_pooled:
            connection.prepare_threshold = None
        # JSON is stored as it was written and read back as text, as on SQLite.
        connection.adapters.register_loader("json", TextLoader)
        return connection

    def begin(self, space: str | None, *, read_only: bool, synced: bool, asks_version: bool, asks_move: bool) -> bytes:
        """Return the statement that begins a transaction on one space. Its result has two values.

        They are the schema version and the mark of a move of the space, each only if requested.
        """
        timeouts = tuple(self.options.timeouts().items()) if self.is_pooled else ()
        return _begin(
            space, timeouts, read_only=read_only, synced=synced, asks_version=asks_version, asks_move=asks_move
        )

    def _open(self, deadline: Deadline) -> Connection:
        parameters = self.options.parameters(pooled=self.is_pooled)
        if deadline.remaining < parameters["connect_timeout"]:
            parameters["connect_timeout"] = max(1, math.ceil(deadline.remaining))
        return Connection.connect(
            self.options.dsn,
            autocommit=True,
            row_factory=dict_row,
            cursor_factory=RawCursor[dict[str, Any]],
            **parameters,
        )


def _is_pooled(connection: Connection) -> bool:
    # A pooler reports its own process number, which clients use to cancel, instead of the server's.
    row = connection.execute("SELECT pg_backend_pid() AS pid").fetchone()
    return row is None or row["pid"] != connection.info.backend_pid


@lru_cache(maxsize=4096)
def _begin(
    space: str | None,
    timeouts: tuple[tuple[str, int], ...],
    *,
    read_only: bool,
    synced: bool,
    asks_version: bool,
    asks_move: bool,
) -> bytes:
    # One string, one round trip: begin the transaction and set the only space it may see. Reading the
    # version takes a shared lock on its table until the commit: it waits for a running migration, and blocks a new one.
    # A move of a space waits for the holders of that lock, so that every writer has seen its mark.
    values = [("bethink.space", space or ""), *((name, str(value)) for name, value in timeouts)]
    text = pgsql.SQL("BEGIN{}; {}SELECT {}, {}, {}{}")
    return text.format(
        pgsql.SQL(" ISOLATION LEVEL REPEATABLE READ READ ONLY" if read_only else ""),
        pgsql.SQL("" if synced else "SET LOCAL synchronous_commit = off; "),
        pgsql.SQL("version" if asks_version else "NULL"),
        pgsql.SQL("moving({})").format(pgsql.Literal(space)) if asks_move else pgsql.SQL("NULL"),
        pgsql.SQL(", ").join(
            pgsql.SQL("set_config({}, {}, true)").format(pgsql.Literal(name), pgsql.Literal(value))
            for name, value in values
        ),
        pgsql.SQL(" FROM schema_now" if asks_version else ""),
    ).as_bytes()
