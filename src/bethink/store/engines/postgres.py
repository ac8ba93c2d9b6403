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

from bethink.errors import BethinkError, Misconfigured, OutcomeUnknown, StoreError, Unavailable
from bethink.model.jobs import JobKind
from bethink.store.db import Clock, Database, Row, Tx, checked_result, system_clock
from bethink.store.engines.connection_thread import ConnectionThread, ThreadConnection
from bethink.store.engines.notify import CHANNEL, NotifySender
from bethink.store.engines.patience import Guard, Patience
from bethink.store.engines.postgres_connections import Connection, PostgresConnector, PostgresOptions
from bethink.store.engines.postgres_errors import brief, ends_connection, refused, translated
from bethink.store.engines.retries import with_retries
from bethink.store.keys import deployment_key
from bethink.store.migrate import migrate, newest_version, outdated
from bethink.store.moves import refuse_if_elsewhere
from bethink.store.sql import Dialect, Query

T = TypeVar("T")

_LOOK = 1.0
"""Seconds between two looks for work behind a pooler, through which LISTEN does not work."""
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
    "moves",
)


class PostgresTx(Tx):
    """A transaction on one psycopg connection."""

    dialect = Dialect.POSTGRES

    def __init__(
        self,
        connection: Connection,
        patience: Patience,
        *,
        begin: bytes,
        clock: Clock,
        repeatable: bool,
        knows: int | None = None,
        admit: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(clock=clock, repeatable=repeatable)
        self._admit = admit
        self._patience = patience.on(connection.pgconn)
        self._knows = knows
        self._connection = connection
        self._cursor = connection.cursor()
        self._opening = begin

    def lock_schema(self) -> None:
        """Acquire the advisory lock that every migrating process takes first."""
        # A migration may take minutes to rewrite a large table, and so may waiting for one.
        self._patience.lift()
        self._begin()
        given = self._cursor.execute("SELECT current_setting('lock_timeout') AS wait").fetchone()
        self._script("SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0")
        self._cursor.execute("SELECT pg_advisory_xact_lock($1)", [_SCHEMA_LOCK])
        self._cursor.execute("SELECT set_config('lock_timeout', $1, true)", [(given or {})["wait"]])

    def begin_migration(self) -> None:
        """Acquire the schema's lock, then the one that every writer shares by reading the version.

        In this order and holding nothing else: one that read versions before waiting would block one that writes them.
        """
        _command(self._connection, b"ROLLBACK")
        _command(self._connection, self._opening)
        if self.has_table("schema_version") and not (self.one("describe_roles", role="") or {})["owns"]:
            raise Misconfigured(
                "the schema of this database is behind, and this role does not own its tables.",
                hint="Run 'bethink migrate' as the role that owns them.",
            )
        self.lock_schema()
        if self.has_table("schema_now"):
            self._script("LOCK TABLE schema_now IN ACCESS EXCLUSIVE MODE")

    def has_table(self, name: str) -> bool:
        """Look the table up on the search path."""
        self._begin()
        found = self._cursor.execute("SELECT to_regclass($1) IS NOT NULL AS found", [name]).fetchone()
        return found is not None and found["found"]

    def _open(self) -> None:
        with self._patience:
            result = _command(self._connection, self._opening)
        if self._knows is not None:
            found = int(result.get_value(0, 0) or b"0")
            if found != self._knows:
                raise outdated(found, known=self._knows)
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
        with self._patience:
            self._cursor.execute(text.encode())

    def _run(self, query: Query, values: list[object]) -> int:
        with self._patience:
            return self._cursor.execute(query.text.encode(), values).rowcount

    def _fetch(self, query: Query, values: list[object]) -> list[Row]:
        with self._patience:
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
        """The token of the move that is carried out here: it may use a space where others are refused."""
        self._clock = clock
        self._guard = Guard(options.deadline / 1000)
        self._connector = PostgresConnector(options, self._guard)
        self._unheard = 0.0

    @property
    def pooled(self) -> bool:
        """Whether a pooler stands between this process and the server; known once the database is open."""
        return self._connector.pooled

    def _start(self) -> None:
        self._knows = newest_version(self.dialect)
        self._lane = ConnectionThread("postgres", self.options.pool_size, self._connector.connect)
        self._ear = ConnectionThread("listener", 1, self._connect_listener)
        self._bell = NotifySender(self._connector.connect, lambda: Patience(self._guard))

    async def _stop(self) -> None:
        await self._ear.close()
        await self._lane.close()
        await to_thread.run_sync(self._bell.close)
        await to_thread.run_sync(self._guard.close)

    async def run_alone(self, statement: str) -> None:
        """Run a statement on its own connection, for as long as it takes."""

        def work() -> None:
            sent = False
            try:
                with self._connector.connect() as connection:
                    if not self.pooled:  # behind a pooler, only transactions have our timeouts
                        connection.execute("SET statement_timeout = 0")
                        connection.execute("SET lock_timeout = 0")
                    sent = True
                    connection.execute(statement.encode())
            except psycopg.Error as error:
                if sent and ends_connection(error):
                    raise OutcomeUnknown(
                        f"the connection was lost while a statement ran: {brief(error)}.", hint="Run it again."
                    ) from error
                raise translated(error, lost=not sent) from error

        await to_thread.run_sync(work)

    def _notify(self, kinds: Set[JobKind]) -> None:
        super()._notify(kinds)
        self._bell.pull()

    async def _listen(self, seconds: float) -> bool:
        if self.pooled:  # LISTEN does not work there: look as often as if something had been heard
            await anyio.sleep(seconds)
            self._unheard += seconds
            heard, self._unheard = self._unheard >= _LOOK, self._unheard % _LOOK
            return heard

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
        self._check(tx)

    def _check(self, tx: Tx) -> None:
        """Refuse a server that does not keep spaces apart."""
        _check_role(tx)
        _check_walls(tx)

    def _wrote(self, space: str | None) -> None:
        """Take note that something may have been committed. Called on a connection's thread, so it must not fail."""

    async def _transact(
        self, body: Callable[[Tx], T], *, space: str | None, read: bool, repeatable: bool, synced: bool = True
    ) -> T:
        patience = Patience(self._guard)

        def work(holder: ThreadConnection[Connection]) -> T:
            doubts: list[OutcomeUnknown] = []

            def attempt() -> T:
                try:
                    return self._attempt(
                        holder, patience, body, space=space, read=read, repeatable=repeatable, synced=synced
                    )
                except _Retry as again:
                    if isinstance(again.meaning, OutcomeUnknown):
                        doubts.append(again.meaning)
                    raise

            try:
                return with_retries(attempt, retry_on=lambda error: isinstance(error, _Retry) and patience.left > 0)
            except _Retry as exhausted:
                raise next(iter(doubts), exhausted.meaning) from exhausted.__cause__
            except BethinkError as error:
                if doubts:  # whatever the last attempt raised, an earlier one may have been committed
                    raise doubts[0] from error
                raise

        return await self._lane.run(work, within=patience.seconds)

    def _attempt(
        self,
        holder: ThreadConnection[Connection],
        patience: Patience,
        body: Callable[[Tx], T],
        *,
        space: str | None,
        read: bool,
        repeatable: bool,
        synced: bool,
    ) -> T:
        committing = False
        try:
            if holder.current is None:
                holder.current = self._connector.connect(patience)
            connection = holder.current
            knows = self._knows if self._ready and not read else None
            begin = self._connector.begin(
                space, read=read, synced=synced, asks_version=knows is not None,
                asks_move=self._ready and space is not None,
            )  # fmt: skip
            tx = PostgresTx(
                connection, patience, begin=begin, clock=self._clock, repeatable=repeatable, knows=knows,
                admit=lambda moving: refuse_if_elsewhere(moving, space=space or "", read=read, own=self.move),
            )  # fmt: skip
            tx.keys_refused = self.keys_refused
            result = checked_result(body(tx))
            if tx.begun:
                repeatable, committing = tx.repeatable, not read  # a read has nothing to commit
                try:
                    with patience:
                        _commit(connection)
                finally:
                    if committing and synced:  # what is not synced is the access record, which recall does not read
                        self._wrote(space)
                self._committed(tx)
        except psycopg.Error as error:
            raise _outcome(holder, patience, error, committing=committing, repeatable=repeatable) from error
        except BaseException:
            _roll_back(holder, patience)
            raise
        return result

    def _connect_listener(self) -> Connection:
        connection = self._connector.connect()
        with Patience(self._guard).on(connection.pgconn):
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
        raise StoreError(
            "a statement failed before the commit, so nothing was stored.", hint="Let its error end the body."
        )


def _outcome(
    holder: ThreadConnection[Connection],
    patience: Patience,
    error: psycopg.Error,
    *,
    committing: bool,
    repeatable: bool,
) -> Exception:
    """Return the error for a failed transaction, as a `_Retry` if it may run again."""
    lost = _is_lost(holder, patience, error)
    what = f"it did not answer within {patience.seconds:g} seconds" if patience.was_cut else brief(error)
    if lost and committing:
        unknown = OutcomeUnknown(f"the connection was lost while committing: {what}.")
        return _Retry(unknown) if repeatable else unknown
    if (final := refused(error)) is not None:
        return final
    meaning = Unavailable(f"the database cannot be reached: {what}.") if lost else translated(error, lost=False)
    again = lost or isinstance(error, (pg.SerializationFailure, pg.DeadlockDetected))
    return _Retry(meaning) if again else meaning


def _is_lost(holder: ThreadConnection[Connection], patience: Patience, error: psycopg.Error) -> bool:
    """Return whether the connection is lost; otherwise leave it ready for the next transaction."""
    if patience.was_cut or ends_connection(error):
        holder.drop()
        return True
    return _roll_back(holder, patience)


def _roll_back(holder: ThreadConnection[Connection], patience: Patience) -> bool:
    if holder.current is None:
        return True
    try:
        if holder.current.info.transaction_status is not TransactionStatus.IDLE:
            with patience:
                holder.current.execute("ROLLBACK")
    except psycopg.Error:
        holder.drop()
        return True
    return False


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
