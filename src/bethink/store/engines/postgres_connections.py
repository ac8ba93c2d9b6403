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
from bethink.errors import Misconfigured
from bethink.store.engines.patience import Guard, Patience
from bethink.store.engines.postgres_errors import brief, comes_from_pooler

Connection = psycopg.Connection[dict[str, Any]]
POOLERS = ("auto", "transaction", "none")


@frozen
class PostgresOptions:
    """How to connect. Times are milliseconds; waits end by the server's clock, and by ours at the `deadline`."""

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
            raise Misconfigured("deadline is not above 0.", hint="Give it in milliseconds, above statement_timeout.")
        if self.pool_size < 1:
            raise Misconfigured("pool_size must be at least 1.", hint="Set it to the number of connections to use.")
        if self.pooler not in POOLERS:
            raise Misconfigured(f"unknown value pooler = {self.pooler!r}.", hint=f"Use one of {', '.join(POOLERS)}.")

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
            given = conninfo_to_dict(self.dsn).get("options") or ""
        except psycopg.ProgrammingError as error:
            raise Misconfigured(
                f"cannot parse the PostgreSQL URL: {brief(error)}.",
                hint="Write postgresql://user@host/database.",
            ) from error
        server = [] if pooled else [f"-c {name}={value}" for name, value in self.timeouts().items()]
        options = " ".join([*server, str(given)]).strip()
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
    """Opens connections, and finds out whether a pooler stands between.

    A pooler in transaction mode gives each transaction a session that others used before and will use after it. So
    nothing may be left in a session there: no prepared statement, no setting, no lock, and no listening. One in
    session mode cannot be told from it, and is treated the same.
    """

    def __init__(self, options: PostgresOptions, guard: Guard) -> None:
        self.options = options
        self._guard = guard
        self.pooled = options.pooler == "transaction"
        """Whether any connection so far went through a pooler."""

    def connect(self, patience: Patience | None = None) -> Connection:
        """Open a connection, in the time that a call has left."""
        patience = patience or Patience(self._guard)
        try:
            connection = self._opened(patience)
        except psycopg.OperationalError as error:
            if self.pooled or self.options.pooler == "none" or not comes_from_pooler(error):
                raise
            self.pooled = True
            connection = self._opened(patience)
        try:
            if not self.pooled and self.options.pooler == "auto":
                with patience.on(connection.pgconn):
                    self.pooled = _is_pooled(connection)
        except BaseException:
            connection.close()
            raise
        if self.pooled:
            connection.prepare_threshold = None
        # JSON is stored as it was written and read back as text, as on SQLite.
        connection.adapters.register_loader("json", TextLoader)
        return connection

    def begin(self, space: str | None, *, read: bool, synced: bool, asks_version: bool, asks_move: bool) -> bytes:
        """Return what begins a transaction that sees one space only, and answers with two values.

        They are the version of the schema and what `moves` says of the space, each if it is asked for.
        """
        timeouts = tuple(self.options.timeouts().items()) if self.pooled else ()
        return _begin(space, timeouts, read=read, synced=synced, asks_version=asks_version, asks_move=asks_move)

    def _opened(self, patience: Patience) -> Connection:
        parameters = self.options.parameters(pooled=self.pooled)
        if patience.left < parameters["connect_timeout"]:
            parameters["connect_timeout"] = max(1, math.ceil(patience.left))
        return Connection.connect(
            self.options.dsn,
            autocommit=True,
            row_factory=dict_row,
            cursor_factory=RawCursor[dict[str, Any]],
            **parameters,
        )


def _is_pooled(connection: Connection) -> bool:
    # A pooler tells its clients a number of its own in place of the server's process: they cancel by it.
    row = connection.execute("SELECT pg_backend_pid() AS pid").fetchone()
    return row is None or row["pid"] != connection.info.backend_pid


@lru_cache(maxsize=4096)
def _begin(
    space: str | None,
    timeouts: tuple[tuple[str, int], ...],
    *,
    read: bool,
    synced: bool,
    asks_version: bool,
    asks_move: bool,
) -> bytes:
    # One string, one round trip: begin the transaction and set the only space it may see. To read the version is to
    # share a lock on its table until the commit, so no migration comes between; and one that runs is waited for. A move
    # of a space waits for those who hold that lock, so that every writer has seen its fence.
    values = [("bethink.space", space or ""), *((name, str(value)) for name, value in timeouts)]
    text = pgsql.SQL("BEGIN{}; {}SELECT {}, {}, {}{}")
    return text.format(
        pgsql.SQL(" ISOLATION LEVEL REPEATABLE READ READ ONLY" if read else ""),
        pgsql.SQL("" if synced else "SET LOCAL synchronous_commit = off; "),
        pgsql.SQL("version" if asks_version else "NULL"),
        pgsql.SQL("moving({})").format(pgsql.Literal(space)) if asks_move else pgsql.SQL("NULL"),
        pgsql.SQL(", ").join(
            pgsql.SQL("set_config({}, {}, true)").format(pgsql.Literal(name), pgsql.Literal(value))
            for name, value in values
        ),
        pgsql.SQL(" FROM schema_now" if asks_version else ""),
    ).as_bytes()
