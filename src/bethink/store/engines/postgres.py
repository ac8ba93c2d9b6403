"""PostgreSQL through psycopg: a pool of connections, bounded waits, and retries of entire transactions."""

import json
import re
import time
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import field
from functools import lru_cache
from typing import Any, TypeVar

import psycopg
from anyio import to_thread
from psycopg import errors as pg
from psycopg import sql as pgsql
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.raw_cursor import RawCursor
from psycopg.rows import dict_row
from psycopg.types.string import TextLoader

from bethink.errors import (
    BethinkError,
    Busy,
    Conflict,
    Duplicate,
    Invalid,
    Misconfigured,
    OutcomeUnknown,
    StoreError,
    Unavailable,
)
from bethink.frozen import frozen
from bethink.model.jobs import JobKind
from bethink.store.db import Clock, Database, Row, Tx, checked_result, system_clock, with_retries
from bethink.store.engines.connection_thread import ConnectionThread, ThreadConnection
from bethink.store.engines.notify import CHANNEL, NotifySender
from bethink.store.keys import deployment_key
from bethink.store.migrate import migrate
from bethink.store.sql import Dialect, Query

T = TypeVar("T")
Connection = psycopg.Connection[dict[str, Any]]

_SCHEMA_LOCK = 0x6265_7468  # "beth"
RESTORING = "restoring"
"""The name under which a database says that it was restored, and that it must not be used before that is finished."""
_SHARED_TABLES = (
    "jobs",
    "attempts",
    "held",
    "space_spending",
    "terms",
    "webhook_queues",
    "deliveries",
    "erasure_sinks",
    "access_log",
    "legal_holds",
)
_REFUSED = re.compile(
    r"(role|database) \".*\" does not exist|authentication failed|no password supplied|no pg_hba.conf entry"
)


@frozen
class PostgresOptions:
    """How to connect. Times are milliseconds; waits end by the server's clock, or when the network is gone."""

    dsn: str = field(repr=False)
    pool_size: int = 10
    connect_timeout: int = 5_000
    statement_timeout: int = 30_000
    lock_timeout: int = 5_000
    idle_timeout: int = 60_000
    tcp_timeout: int = 10_000

    def __post_init__(self) -> None:
        if self.pool_size < 1:
            raise Misconfigured("pool_size must be at least 1.", hint="Set it to the number of connections to use.")

    def parameters(self) -> dict[str, Any]:
        """Return the timeouts as parameters for libpq and the server."""
        try:
            given = conninfo_to_dict(self.dsn).get("options") or ""
        except psycopg.ProgrammingError as error:
            raise Misconfigured(
                f"cannot parse the PostgreSQL URL: {_brief(error)}.",
                hint="Write postgresql://user@host/database.",
            ) from error
        server = {
            "statement_timeout": self.statement_timeout,
            "lock_timeout": self.lock_timeout,
            "idle_in_transaction_session_timeout": self.idle_timeout,
        }
        return {
            "connect_timeout": max(1, self.connect_timeout // 1000),
            "keepalives": 1,
            "keepalives_idle": 5,
            "keepalives_interval": 2,
            "keepalives_count": 3,
            "tcp_user_timeout": self.tcp_timeout,
            "options": " ".join([*(f"-c {name}={value}" for name, value in server.items()), str(given)]),
            "application_name": "bethink",
            "client_encoding": "utf8",
        }


class PostgresTx(Tx):
    """A transaction on one psycopg connection."""

    dialect = Dialect.POSTGRES

    def __init__(self, connection: Connection, *, begin: bytes, clock: Clock, repeatable: bool) -> None:
        super().__init__(clock=clock, repeatable=repeatable)
        self._connection = connection
        self._cursor = connection.cursor()
        self._opening = begin

    def lock_schema(self) -> None:
        """Acquire the advisory lock that every migrating process takes first."""
        # A migration may take minutes to rewrite a large table, and so may waiting for one.
        self.script("SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0")
        self._cursor.execute("SELECT pg_advisory_xact_lock($1)", [_SCHEMA_LOCK])
        self.script("SET LOCAL lock_timeout TO DEFAULT")

    def has_table(self, name: str) -> bool:
        """Look the table up on the search path."""
        self._begin()
        found = self._cursor.execute("SELECT to_regclass($1) IS NOT NULL AS found", [name]).fetchone()
        return found is not None and found["found"]

    def _open(self) -> None:
        _command(self._connection, self._opening)

    def _insert(self, name: str, rows: Iterable[Sequence[object]]) -> None:
        query, values = self._queries[name], list(rows)
        if len(values) == 1:
            self._run(query, list(values[0]))
            return
        # One JSON value: a parameter for each cell would cost more than the rows do.
        objects = [dict(zip(query.parameters, row, strict=True)) for row in values]
        self._run(self._queries[f"{name}_together"], [json.dumps(objects, ensure_ascii=False)])

    def _script(self, text: str) -> None:
        self._cursor.execute(text.encode())

    def _run(self, query: Query, values: list[object]) -> int:
        return self._cursor.execute(query.text.encode(), values).rowcount

    def _fetch(self, query: Query, values: list[object]) -> list[Row]:
        return list(self._cursor.execute(query.text.encode(), values).fetchall())


class _Retry(Exception):
    """The transaction may run again; carries the error to raise if that does not help."""

    def __init__(self, meaning: BethinkError) -> None:
        super().__init__(str(meaning))
        self.meaning = meaning


class PostgresDatabase(Database):
    """One server. Row-level security limits a transaction to its own space."""

    dialect = Dialect.POSTGRES

    def __init__(self, options: PostgresOptions, *, clock: Clock = system_clock) -> None:
        super().__init__()
        self.options = options
        self.finishes_restore = False
        """Whether it may be opened while a restore of it is not finished."""
        self._clock = clock

    def _start(self) -> None:
        self._lane = ConnectionThread("postgres", self.options.pool_size, self._connect)
        self._ear = ConnectionThread("listener", 1, self._connect_listener)
        self._bell = NotifySender(self._connect)

    async def _stop(self) -> None:
        await self._ear.close()
        await self._lane.close()
        await to_thread.run_sync(self._bell.close)

    async def run_alone(self, statement: str) -> None:
        """Run a statement on its own connection, for as long as it takes."""

        def work() -> None:
            sent = False
            try:
                with self._connect() as connection:
                    connection.execute("SET statement_timeout = 0")
                    connection.execute("SET lock_timeout = 0")
                    sent = True
                    connection.execute(statement.encode())
            except psycopg.Error as error:
                if sent and _ends_connection(error):
                    raise OutcomeUnknown(
                        f"the connection was lost while a statement ran: {_brief(error)}.", hint="Run it again."
                    ) from error
                raise translated(error, lost=not sent) from error

        await to_thread.run_sync(work)

    def _notify(self, kinds: Set[JobKind]) -> None:
        super()._notify(kinds)
        self._bell.pull()

    async def _listen(self, seconds: float) -> bool:
        def work(holder: ThreadConnection[Connection]) -> bool:
            try:
                return any(True for _ in holder.connection().notifies(timeout=seconds, stop_after=1))
            except psycopg.Error:
                holder.drop()  # workers also check by themselves
                time.sleep(seconds)
                return False

        return await self._ear.run(work)

    def _prepare(self, tx: Tx) -> None:
        migrate(tx)
        self.fingerprint_key = deployment_key(tx, "fingerprint")
        if not self.finishes_restore and tx.one("find_deployment_key", name=RESTORING) is not None:
            raise Unavailable(
                "this database is being restored from a backup.",
                hint="Wait until 'bethink restore' has ended; if it was interrupted, run it again.",
            )
        self.unsettled = tx.one("any_open_sink") is not None
        _check_role(tx)
        _check_walls(tx)

    async def _transact(
        self, body: Callable[[Tx], T], *, space: str | None, read: bool, repeatable: bool, synced: bool = True
    ) -> T:
        begin = _begin(space, read=read, synced=synced)

        def work(holder: ThreadConnection[Connection]) -> T:
            doubts: list[OutcomeUnknown] = []

            def attempt() -> T:
                try:
                    return self._attempt(holder, body, begin=begin, read=read, repeatable=repeatable)
                except _Retry as again:
                    if isinstance(again.meaning, OutcomeUnknown):
                        doubts.append(again.meaning)
                    raise

            try:
                return with_retries(attempt, retry_on=lambda error: isinstance(error, _Retry))
            except _Retry as exhausted:
                raise next(iter(doubts), exhausted.meaning) from exhausted.__cause__
            except BethinkError as error:
                if doubts:  # whatever the last attempt raised, an earlier one may have been committed
                    raise doubts[0] from error
                raise

        return await self._lane.run(work)

    def _attempt(
        self,
        holder: ThreadConnection[Connection],
        body: Callable[[Tx], T],
        *,
        begin: bytes,
        read: bool,
        repeatable: bool,
    ) -> T:
        committing = False
        try:
            connection = holder.connection()
            tx = PostgresTx(connection, begin=begin, clock=self._clock, repeatable=repeatable)
            tx.keys_refused = self.keys_refused
            result = checked_result(body(tx))
            if tx.begun:
                repeatable, committing = tx.repeatable, not read  # a read has nothing to commit
                _commit(connection)
                self._committed(tx)
        except psycopg.Error as error:
            raise _outcome(holder, error, committing=committing, repeatable=repeatable) from error
        except BaseException:
            _roll_back(holder)
            raise
        return result

    def _connect(self) -> Connection:
        connection = Connection.connect(
            self.options.dsn,
            autocommit=True,
            row_factory=dict_row,
            cursor_factory=RawCursor[dict[str, Any]],
            **self.options.parameters(),
        )
        # JSON is stored as it was written and read back as text, as on SQLite.
        connection.adapters.register_loader("json", TextLoader)
        return connection

    def _connect_listener(self) -> Connection:
        connection = self._connect()
        connection.execute(f"LISTEN {CHANNEL}".encode())
        return connection


@lru_cache(maxsize=4096)
def _begin(space: str | None, *, read: bool, synced: bool = True) -> bytes:
    # One string, one round trip: begin the transaction and set the only space it may see.
    text = pgsql.SQL("BEGIN{}; {}SELECT set_config('bethink.space', {}, true)")
    return text.format(
        pgsql.SQL(" ISOLATION LEVEL REPEATABLE READ READ ONLY" if read else ""),
        pgsql.SQL("" if synced else "SET LOCAL synchronous_commit = off; "),
        pgsql.Literal(space or ""),
    ).as_bytes()


def _command(connection: Connection, text: bytes) -> bytes | None:
    # Directly through libpq: these run around every transaction, and a cursor costs more than the round trip.
    result = connection.pgconn.exec_(text)
    if result.status not in (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK):
        raise pg.error_from_result(result)
    return result.command_status


def _commit(connection: Connection) -> None:
    if _command(connection, b"COMMIT") != b"COMMIT":
        # The server rolled back, because the body continued after a failed statement.
        raise StoreError(
            "a statement failed before the commit, so nothing was stored.", hint="Let its error end the body."
        )


def _outcome(
    holder: ThreadConnection[Connection], error: psycopg.Error, *, committing: bool, repeatable: bool
) -> Exception:
    """Return the error for a failed transaction, as a `_Retry` if it may run again."""
    lost = _is_lost(holder, error)
    if lost and committing:
        unknown = OutcomeUnknown(f"the connection was lost while committing: {_brief(error)}.")
        return _Retry(unknown) if repeatable else unknown
    if _REFUSED.search(str(error)):
        return Misconfigured(
            f"the server refused the connection: {_brief(error)}.", hint="Check role, password and database."
        )
    meaning = translated(error, lost=lost)
    again = lost or isinstance(error, (pg.SerializationFailure, pg.DeadlockDetected))
    return _Retry(meaning) if again else meaning


def _is_lost(holder: ThreadConnection[Connection], error: psycopg.Error) -> bool:
    """Return whether the connection is lost; otherwise leave it ready for the next transaction."""
    if _ends_connection(error):
        holder.drop()
        return True
    return _roll_back(holder)


def _ends_connection(error: psycopg.Error) -> bool:
    if error.sqlstate:
        return error.diag.severity_nonlocalized in ("FATAL", "PANIC")
    # An error without a code comes from libpq and is about the connection. Its state cannot be trusted then: after a
    # failed write, libpq may still report the connection as idle.
    return isinstance(error, psycopg.OperationalError) or type(error) is psycopg.DatabaseError


def _roll_back(holder: ThreadConnection[Connection]) -> bool:
    if holder.current is None:
        return True
    try:
        if holder.current.info.transaction_status is not TransactionStatus.IDLE:
            holder.current.execute("ROLLBACK")
    except psycopg.Error:
        holder.drop()
        return True
    return False


def translated(error: psycopg.Error, *, lost: bool) -> BethinkError:
    """Convert a driver error to one of ours."""
    if lost:
        return Unavailable(f"the database cannot be reached: {_brief(error)}.")
    match error:
        case psycopg.DataError() | pg.ProgramLimitExceeded():
            # An index limits the size: retrying never makes a name, a key or a subject shorter.
            return Invalid(
                f"the database cannot store this value: {_brief(error)}.", hint="Use a shorter or simpler value."
            )
        case pg.UniqueViolation():
            return Duplicate(f"already exists: {_brief(error)}.")
        case psycopg.IntegrityError():
            return Conflict(f"rejected by the schema: {_brief(error)}.")
        case pg.SerializationFailure() | pg.DeadlockDetected() | pg.LockNotAvailable() | pg.QueryCanceled():
            return Busy(f"waited too long for other transactions: {_brief(error)}.")
        case pg.InsufficientPrivilege():
            return Misconfigured(
                f"the database role lacks a privilege: {_brief(error)}.",
                hint="Make the role that Bethink connects as the owner of its tables.",
            )
        case psycopg.OperationalError():
            return Unavailable(f"the database is unavailable: {_brief(error)}.")
        case _:
            return StoreError(f"{type(error).__name__}: {_brief(error)}.")


def _brief(error: psycopg.Error) -> str:
    # The detail lines can quote stored text, which must not appear in an error message.
    return error.diag.message_primary or str(error).partition("\n")[0]


def _check_role(tx: Tx) -> None:
    role = tx.one("describe_role")
    if role is not None and role["unbound"]:
        raise Misconfigured(
            f"the role {role['name']!r} can bypass row-level security, so spaces are not isolated.",
            hint="Connect as a role created with LOGIN NOSUPERUSER NOBYPASSRLS that owns the database.",
        )


def _check_walls(tx: Tx) -> None:
    breached = [row["name"] for row in tx.all("list_unguarded_tables", shared=list(_SHARED_TABLES))]
    if breached:
        raise Misconfigured(
            f"row-level security is not enforced on {', '.join(breached)}.",
            hint="Force it on these tables, with own_space as the only policy.",
        )
