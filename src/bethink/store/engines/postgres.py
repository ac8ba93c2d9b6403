"""PostgreSQL through psycopg: a pool of connections, bounded waits, and retries of entire transactions."""

import json
import time
from collections.abc import Callable, Iterable, Sequence, Set
from typing import TypeVar

import anyio
import psycopg
from anyio import to_thread
from psycopg import errors as pg
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

from bethink.errors import (
    BethinkError,
    ConfigurationError,
    DatabaseError,
    DatabaseUnavailableError,
    OutcomeUnknownError,
)
from bethink.model.jobs import JobKind
from bethink.store.db import Clock, Database, Row, Tx, checked_result, system_clock
from bethink.store.engines.connection_thread import ConnectionThread, ThreadConnection
from bethink.store.engines.deadlines import Deadline, DeadlineWatcher
from bethink.store.engines.notify import CHANNEL, NotifySender
from bethink.store.engines.postgres_connections import Connection, PostgresConnector, PostgresOptions
from bethink.store.engines.postgres_errors import brief, ends_connection, refusal_error, translate_error
from bethink.store.engines.retries import with_retries
from bethink.store.keys import deployment_key
from bethink.store.migrate import migrate, newest_version, outdated_error
from bethink.store.moves import check_not_moved
from bethink.store.sql import Dialect, Query

T = TypeVar("T")

_POLL_INTERVAL = 1.0
"""Seconds between two polls for work behind a pooler, where LISTEN does not work."""
_SCHEMA_LOCK = 0x6265_7468  # "beth"
RESTORING = "restoring"
"""Name of the key that marks an unfinished restore. The database must not be used before it is finished."""
_SHARED_TABLES = (
    "jobs",
    "learning_turns",
    "attempts",
    "held",
    "space_spending",
    "terms",
    "webhook_queues",
    "deliveries",
    "erasure_sinks",
    "access_log",
    "legal_holds",
    "moves",
)


class PostgresTx(Tx):
    """A transaction on one psycopg connection."""

    dialect = Dialect.POSTGRES

    def __init__(
        self,
        connection: Connection,
        deadline: Deadline,
        *,
        begin: bytes,
        clock: Clock,
        repeatable: bool,
        schema_version: int | None = None,
        admit: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(clock=clock, repeatable=repeatable)
        self._admit = admit
        self._deadline = deadline.on(connection.pgconn)
        self._schema_version = schema_version
        self._connection = connection
        self._cursor = connection.cursor()
        self._opening = begin

    def lock_schema(self) -> None:
        """Acquire the advisory lock that every migrating process takes first."""
        # A migration may take minutes to rewrite a large table, and so may waiting for one.
        self._deadline.lift()
        self._begin()
        setting = self._cursor.execute("SELECT current_setting('lock_timeout') AS wait").fetchone()
        self._script("SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0")
        self._cursor.execute("SELECT pg_advisory_xact_lock($1)", [_SCHEMA_LOCK])
        self._cursor.execute("SELECT set_config('lock_timeout', $1, true)", [(setting or {})["wait"]])

    def begin_migration(self) -> None:
        """Acquire the schema's lock, then the one that every writer shares by reading the version.

        In this order, and without other locks: a process that read versions before waiting would block the migration.
        """
        _command(self._connection, b"ROLLBACK")
        _command(self._connection, self._opening)
        if self.has_table("schema_version") and not (self.first("describe_roles", role="") or {})["owns"]:
            raise ConfigurationError(
                "The schema of this database is outdated, and this role does not own its tables.",
                hint="Run 'bethink data migrate' as the role that owns them.",
            )
        self.lock_schema()
        if self.has_table("schema_now"):
            self._script("LOCK TABLE schema_now IN ACCESS EXCLUSIVE MODE")

    def has_table(self, name: str) -> bool:
        """Look the table up on the search path."""
        self._begin()
        row = self._cursor.execute("SELECT to_regclass($1) IS NOT NULL AS found", [name]).fetchone()
        return row is not None and row["found"]

    def _open(self) -> None:
        with self._deadline:
            result = _command(self._connection, self._opening)
        if self._schema_version is not None:
            version = int(result.get_value(0, 0) or b"0")
            if version != self._schema_version:
                raise outdated_error(version, supported=self._schema_version)
        moving = result.get_value(0, 1)
        if moving is not None and self._admit is not None:
            self._admit(moving.decode())

    def _insert(self, name: str, rows: Iterable[Sequence[object]]) -> None:
        query, values = self._queries[name], list(rows)
        if len(values) == 1:
            self._run(query, list(values[0]))
            return
        # One JSON value: a parameter for each cell would cost more than the rows do.
        objects = [dict(zip(query.parameters, row, strict=True)) for row in values]
        self._run(self._queries[f"{name}_together"], [json.dumps(objects, ensure_ascii=False)])

    def _script(self, text: str) -> None:
        with self._deadline:
            self._cursor.execute(text.encode())

    def _run(self, query: Query, values: list[object]) -> int:
        with self._deadline:
            return self._cursor.execute(query.text.encode(), values).rowcount

    def _fetch(self, query: Query, values: list[object]) -> list[Row]:
        with self._deadline:
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
        self.move = ""
        """Token of the running move, which may use a space that other transactions may not."""
        self._clock = clock
        self._watcher = DeadlineWatcher(options.deadline / 1000)
        self._connector = PostgresConnector(options, self._watcher)
        self._waited = 0.0

    @property
    def is_pooled(self) -> bool:
        """True if a pooler is between this process and the server. Set once the database is open."""
        return self._connector.is_pooled

    def _start(self) -> None:
        self._schema_version = newest_version(self.dialect)
        self._lane = ConnectionThread("postgres", self.options.pool_size, self._connector.connect)
        self._listener = ConnectionThread("listener", 1, self._connect_listener)
        self._notifier = NotifySender(self._connector.connect, lambda: Deadline(self._watcher))

    async def _stop(self) -> None:
        await self._listener.close()
        await self._lane.close()
        await to_thread.run_sync(self._notifier.close)
        await to_thread.run_sync(self._watcher.close)

    async def run_alone(self, statement: str) -> None:
        """Run a statement on its own connection, for as long as it takes."""

        def work() -> None:
            sent = False
            try:
                with self._connector.connect() as connection:
                    if not self.is_pooled:  # behind a pooler, only transactions have our timeouts
                        connection.execute("SET statement_timeout = 0")
                        connection.execute("SET lock_timeout = 0")
                    sent = True
                    connection.execute(statement.encode())
            except psycopg.Error as error:
                if sent and ends_connection(error):
                    raise OutcomeUnknownError(
                        f"The connection was lost while a statement ran: {brief(error)}.", hint="Run it again."
                    ) from error
                raise translate_error(error, disconnected=not sent) from error

        await to_thread.run_sync(work)

    def _notify(self, kinds: Set[JobKind]) -> None:
        super()._notify(kinds)
        self._notifier.request()

    async def _listen(self, seconds: float) -> bool:
        if self.is_pooled:  # LISTEN does not work there, so poll
            await anyio.sleep(seconds)
            self._waited += seconds
            is_due, self._waited = self._waited >= _POLL_INTERVAL, self._waited % _POLL_INTERVAL
            return is_due

        def work(holder: ThreadConnection[Connection]) -> bool:
            try:
                return any(True for _ in holder.connection().notifies(timeout=seconds, stop_after=1))
            except psycopg.Error:
                holder.drop()  # workers also check by themselves
                time.sleep(seconds)
                return False

        return await self._listener.run(work)

    def _prepare(self, tx: Tx) -> None:
        migrate(tx)
        self.fingerprint_key = deployment_key(tx, "fingerprint")
        if not self.finishes_restore and tx.first("find_deployment_key", name=RESTORING) is not None:
            raise DatabaseUnavailableError(
                "This database is being restored from a backup.",
                hint="Wait until 'bethink data restore' has finished; if it was interrupted, run it again.",
            )
        self.has_open_erasures = tx.first("any_open_sink") is not None
        self._check(tx)

    def _check(self, tx: Tx) -> None:
        """Reject a server that does not isolate spaces."""
        _check_role(tx)
        _check_row_security(tx)

    def _note_write(self, space: str | None) -> None:
        """Note that something may have been committed. Called on a connection's thread, so it must not fail."""

    async def _transact(
        self, body: Callable[[Tx], T], *, space: str | None, read_only: bool, repeatable: bool, synced: bool = True
    ) -> T:
        deadline = Deadline(self._watcher)

        def work(holder: ThreadConnection[Connection]) -> T:
            doubts: list[OutcomeUnknownError] = []

            def attempt() -> T:
                try:
                    return self._attempt(
                        holder, deadline, body, space=space, read_only=read_only, repeatable=repeatable, synced=synced
                    )
                except _Retry as again:
                    if isinstance(again.meaning, OutcomeUnknownError):
                        doubts.append(again.meaning)
                    raise

            try:
                return with_retries(
                    attempt, retry_on=lambda error: isinstance(error, _Retry) and deadline.remaining > 0
                )
            except _Retry as exhausted:
                raise next(iter(doubts), exhausted.meaning) from exhausted.__cause__
            except BethinkError as error:
                if doubts:  # whatever the last attempt raised, an earlier one may have been committed
                    raise doubts[0] from error
                raise

        return await self._lane.run(work, within=deadline.seconds)

    def _attempt(
        self,
        holder: ThreadConnection[Connection],
        deadline: Deadline,
        body: Callable[[Tx], T],
        *,
        space: str | None,
        read_only: bool,
        repeatable: bool,
        synced: bool,
    ) -> T:
        committing = False
        try:
            if holder.current is None:
                holder.current = self._connector.connect(deadline)
            connection = holder.current
            schema_version = self._schema_version if self._ready and not read_only else None
            begin = self._connector.begin(
                space, read_only=read_only, synced=synced, asks_version=schema_version is not None,
                asks_move=self._ready and space is not None,
            )  # fmt: skip
            tx = PostgresTx(
                connection, deadline, begin=begin, clock=self._clock, repeatable=repeatable,
                schema_version=schema_version,
                admit=lambda moving: check_not_moved(moving, space=space or "", read_only=read_only, own=self.move),
            )  # fmt: skip
            tx.key_rejection_period = self.key_rejection_period
            result = checked_result(body(tx))
            if tx.has_begun:
                repeatable, committing = tx.repeatable, not read_only  # a read has nothing to commit
                try:
                    with deadline:
                        _commit(connection)
                finally:
                    if committing and synced:  # only the access log is not synced, and recall does not read it
                        self._note_write(space)
                self._after_commit(tx)
        except psycopg.Error as error:
            raise _outcome(holder, deadline, error, committing=committing, repeatable=repeatable) from error
        except BaseException:
            _roll_back(holder, deadline)
            raise
        return result

    def _connect_listener(self) -> Connection:
        connection = self._connector.connect()
        with Deadline(self._watcher).on(connection.pgconn):
            connection.execute(f"LISTEN {CHANNEL}".encode())
        return connection


def _command(connection: Connection, text: bytes) -> PGresult:
    # Directly through libpq: these run around every transaction, and a cursor costs more than the round trip.
    result = connection.pgconn.exec_(text)
    if result.status not in (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK):
        raise pg.error_from_result(result)
    return result


def _commit(connection: Connection) -> None:
    if _command(connection, b"COMMIT").command_status != b"COMMIT":
        # The server rolled back, because the body continued after a failed statement.
        raise DatabaseError(
            "A statement failed before the commit, so nothing was stored.",
            hint="Do not catch database errors inside a transaction.",
        )


def _outcome(
    holder: ThreadConnection[Connection],
    deadline: Deadline,
    error: psycopg.Error,
    *,
    committing: bool,
    repeatable: bool,
) -> Exception:
    """Return the error for a failed transaction, as a `_Retry` if it may run again."""
    disconnected = _is_lost(holder, deadline, error)
    reason = f"no response within {deadline.seconds:g} seconds" if deadline.was_cut else brief(error)
    if disconnected and committing:
        unknown = OutcomeUnknownError(f"The connection was lost while committing: {reason}.")
        return _Retry(unknown) if repeatable else unknown
    if (final := refusal_error(error)) is not None:
        return final
    meaning = (
        DatabaseUnavailableError(f"Cannot reach the database: {reason}.")
        if disconnected
        else translate_error(error, disconnected=False)
    )
    again = disconnected or isinstance(error, (pg.SerializationFailure, pg.DeadlockDetected))
    return _Retry(meaning) if again else meaning


def _is_lost(holder: ThreadConnection[Connection], deadline: Deadline, error: psycopg.Error) -> bool:
    """Return whether the connection is lost; otherwise leave it ready for the next transaction."""
    if deadline.was_cut or ends_connection(error):
        holder.drop()
        return True
    return _roll_back(holder, deadline)


def _roll_back(holder: ThreadConnection[Connection], deadline: Deadline) -> bool:
    if holder.current is None:
        return True
    try:
        if holder.current.info.transaction_status is not TransactionStatus.IDLE:
            with deadline:
                holder.current.execute("ROLLBACK")
    except psycopg.Error:
        holder.drop()
        return True
    return False


def _check_role(tx: Tx) -> None:
    role = tx.first("describe_role")
    if role is not None and role["unbound"]:
        raise ConfigurationError(
            f"The role {role['name']!r} can bypass row-level security, so spaces are not isolated.",
            hint="Connect as a role created with LOGIN NOSUPERUSER NOBYPASSRLS that owns the database.",
        )


def _check_row_security(tx: Tx) -> None:
    unprotected = [row["name"] for row in tx.all("list_unguarded_tables", shared=list(_SHARED_TABLES))]
    if unprotected:
        raise ConfigurationError(
            f"Row-level security is not enforced on {', '.join(unprotected)}.",
            hint="Force it on these tables, with own_space as the only policy.",
        )
