"""A transaction is a plain synchronous function of a `Tx`; a `Database` runs it completely or not at all."""

import inspect
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence, Set
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import anyio

from bethink.errors import (
    BethinkError,
    ConfigurationError,
    DatabaseUnavailableError,
    InvalidRequestError,
    LeaseLostError,
    NotFoundError,
    OutcomeUnknownError,
)
from bethink.model.filters import Filter
from bethink.model.jobs import JobKind
from bethink.model.moments import EPOCH, to_micros
from bethink.model.records import checked_name
from bethink.model.restores import Restore
from bethink.store import tombstone_file
from bethink.store.filters import apply_filter
from bethink.store.lanes import Lanes
from bethink.store.sql import Dialect, Query, queries, with_present

T = TypeVar("T")
Row = Mapping[str, Any]
Clock = Callable[[], datetime]

KEY_REJECTION_PERIOD = timedelta(days=30)
NO_LIMIT = 2**62
"""The limit that means all rows: the one value that both databases accept."""

_LISTEN = 0.25
"""Seconds of one wait for notifications; stopping takes no longer than this."""

_CHECK_INTERVAL = 0.05
"""Seconds between two checks for a notification that another task received."""


def system_clock() -> datetime:
    """Return the current time."""
    return datetime.now(UTC)


def until(as_of: datetime | None) -> int:
    """Return the upper bound of time for queries: without `as_of` there is none."""
    return NO_LIMIT if as_of is None else to_micros(as_of)


def checked_limit(limit: int) -> int:
    """Return a valid limit.

    Raises `InvalidRequestError` for a negative number, which the databases interpret differently.
    """
    if not 0 <= limit <= NO_LIMIT:
        raise InvalidRequestError(f"Invalid `limit`: {limit}.", hint="Pass 0 or more.")
    return limit


class Tx(ABC):
    """One transaction. Queries are called by name with keyword parameters; a datetime is bound as microseconds.

    A `Query` that is built from the schema can be passed instead of a name. The transaction begins with its first
    query: a body holds no lock before that.
    """

    dialect: Dialect

    def __init__(self, *, clock: Clock, repeatable: bool) -> None:
        self.repeatable = repeatable
        """Whether it may safely run twice. The body may change this."""
        self.queued: set[JobKind] = set()
        """Kinds of queued jobs. Waiting workers are notified after the commit."""
        self.has_changes = False
        """Whether a change was recorded. Followers of the change feed are notified after the commit."""
        self.deletes = False
        """Whether data was deleted. The write-ahead log is cleared of it after the commit."""
        self.new_tombstones: list[Mapping[str, object]] = []
        """Tombstones that were written. They are added to the tombstone file after the commit."""
        self.deleted_ids: dict[str, dict[str, None]] = {}
        """Ids of deleted items, by kind. Those of messages have their numbers, as in `ses_…:3`."""
        self.key_rejection_period = KEY_REJECTION_PERIOD
        """Time for which the idempotency key of a deleted message is rejected."""
        self.has_begun = False
        self.memo: dict[str, Any] = {}
        """Values that were read once and cannot change before this transaction ends, such as keys."""
        self._locked_spaces: set[str] = set()
        self._clock = clock
        self._now = EPOCH
        self._queries = queries(self.dialect)

    @property
    def now(self) -> datetime:
        """The time of this transaction: when it began."""
        self._begin()
        return self._now

    def run(self, name: str | Query, /, **parameters: object) -> int:
        """Run a statement and return the number of affected rows."""
        self._begin()
        query = self._queries[name] if isinstance(name, str) else name
        return self._run(query, _values(query, parameters))

    def first(self, name: str, /, **parameters: object) -> Row | None:
        """Return the first row, if any."""
        rows = self.all(name, **parameters)
        return rows[0] if rows else None

    def all(self, name: str | Query, only: Filter | None = None, /, **parameters: object) -> list[Row]:
        """Return every row, or up to the `limit` among the parameters; with `only`, the rows that match a filter."""
        query = self._queries[name] if isinstance(name, str) else name
        if query.optional:
            present = frozenset(key for key in query.optional if parameters.get(key) is not None)
            query = with_present(query, present, self.dialect)
        if only is not None:
            query, values = apply_filter(query, only, self.dialect)
            parameters |= values
        if "limit" in query.parameters:
            checked_limit(cast("int", parameters["limit"]))
        self._begin()
        return self._fetch(query, _values(query, parameters))

    def lock_space(self, space: str) -> bool:
        """Lock a space until this transaction ends, and return whether it exists. Locking it again costs nothing."""
        if space not in self._locked_spaces:
            if self.first("lock_space", space=space) is None:
                return False
            self._locked_spaces.add(space)
        return True

    def note_deleted(self, kind: str, names: Iterable[str]) -> None:
        """Note deleted items for the receipt."""
        self.deleted_ids.setdefault(kind, {}).update(dict.fromkeys(names))

    def insert(self, name: str, rows: Iterable[Sequence[object]]) -> None:
        """Insert many rows of values, each in the order in which the query names its parameters.

        Values are not converted, because there may be very many: a time must be passed as microseconds.
        """
        self._begin()
        self._insert(name, rows)

    def script(self, text: str) -> None:
        """Run several statements without parameters."""
        self._begin()
        self._script(text)

    def set_row_security(self, tables: Iterable[str], mode: str) -> None:
        """Set whether row-level security also applies to the owner of tables: `FORCE` or `NO FORCE` (PostgreSQL)."""
        if self.dialect is Dialect.POSTGRES:
            self.script("; ".join(f"ALTER TABLE {table} {mode} ROW LEVEL SECURITY" for table in tables))

    def _begin(self) -> None:
        if not self.has_begun:
            self._open()
            self.has_begun = True
            self._now = self._clock()

    @abstractmethod
    def lock_schema(self) -> None:
        """Block migrations by other processes until this transaction ends."""

    @abstractmethod
    def begin_migration(self) -> None:
        """Restart with every other writer blocked until this transaction ends. Data read before may have changed."""

    @abstractmethod
    def has_table(self, name: str) -> bool:
        """Return whether a table exists."""

    @abstractmethod
    def _open(self) -> None: ...

    @abstractmethod
    def _run(self, query: Query, values: list[object]) -> int: ...

    @abstractmethod
    def _fetch(self, query: Query, values: list[object]) -> list[Row]: ...

    @abstractmethod
    def _insert(self, name: str, rows: Iterable[Sequence[object]]) -> None: ...

    @abstractmethod
    def _script(self, text: str) -> None: ...


def _values(query: Query, parameters: Mapping[str, object]) -> list[object]:
    values = [parameters[name] for name in query.parameters]
    return [to_micros(value) if isinstance(value, datetime) else value for value in values]


class CommitHook(Protocol):
    """Writes additional rows in the next writing transaction of a task."""

    database: "Database"
    """The database of the hook. A task may also write to others."""

    def before_commit(self, tx: Tx, result: object) -> None:
        """Write the rows. Called with the result of the body, and again if the transaction is retried."""

    def after_commit(self) -> None:
        """Note that the transaction was committed."""


commit_hook: ContextVar[CommitHook | None] = ContextVar("bethink_commit_hook", default=None)
"""The hook of this task's writing transactions."""


class Database(ABC):
    """Runs transactions. Open it before use; it is safe to share between tasks."""

    dialect: Dialect

    def __init__(self) -> None:
        self._ready = False
        self.lanes = Lanes()
        """Turns to process long texts, before the transaction that stores them."""
        self._opening = anyio.Lock()
        self._notified = 0
        self._is_listening = self._has_listened = False
        self.on_work: Callable[[Set[JobKind]], None] | None = None
        """Called after each commit that queued jobs, with their kinds, on a connection's thread. It must not fail."""
        self.fingerprint_key = b""
        """The key for fingerprints of redacted secrets; known once the database is open."""
        self.tombstones_path: Path | None = None
        self.copies_path: Path | None = None
        """A folder of texts copied from the database. Every deletion removes it."""
        """File with a copy of the tombstones, for when an old backup is restored."""
        self.key_rejection_period = KEY_REJECTION_PERIOD
        """Time for which the idempotency key of a deleted message is rejected."""
        self.has_open_erasures = False
        """Whether an unfinished erasure existed when the database was opened."""

    async def open(self) -> None:
        """Connect, bring the schema up to date, and check that the database is safe to use.

        It cannot be used before this has succeeded. Once closed it may be opened again.
        """
        async with self._opening:
            if self._ready:
                return
            self._start()
            try:
                await self._transact(self._prepare, space=None, read_only=False, repeatable=True)
            except BaseException:
                with anyio.CancelScope(shield=True):
                    await self._stop()
                raise
            self._ready = True

    async def run_unopened(self, body: Callable[[Tx], T], *, read_only: bool = True) -> T:
        """Run a body, by default read-only, on a database that is not open. Its schema is not migrated."""
        async with self._opening:
            self._start()
            try:
                return await self._transact(body, space=None, read_only=read_only, repeatable=True)
            finally:
                with anyio.CancelScope(shield=True):
                    await self._stop()

    async def close(self) -> None:
        """Finish running transactions and release every connection."""
        with anyio.CancelScope(shield=True):
            async with self._opening:
                if self._ready:
                    self._ready = False
                    await self._stop()

    async def transact(
        self,
        body: Callable[[Tx], T],
        *,
        space: str | None = None,
        read_only: bool = False,
        repeatable: bool = False,
        synced: bool = True,
    ) -> T:
        """Run `body` in one transaction on one thread. It sees only the rows of `space`.

        `repeatable` means that it may safely run twice, so that a commit with an unknown outcome is retried. Without
        `synced` it does not wait for the disk: it survives the end of this process, but not a failure of the machine.
        Raises `DatabaseUnavailableError` only if nothing was written, and `OutcomeUnknownError` if any attempt may have
        been committed.
        """
        if inspect.iscoroutinefunction(body):
            raise TypeError(
                "A transaction body must be a plain function, so that it cannot await while it holds a lock."
            )
        if not self._ready:
            raise DatabaseUnavailableError(
                "The database is not open.", hint="Open it first: use it inside an async with block."
            )
        if space is not None:
            checked_name(space, "a space")
            self.lanes.note(space)
        hook = None if read_only else commit_hook.get()
        if hook is not None and hook.database is not self:
            hook = None
        work = body if hook is None else _with_hook(body, hook)
        try:
            result = await self._transact(work, space=space, read_only=read_only, repeatable=repeatable, synced=synced)
        except (NotFoundError, LeaseLostError) as error:
            await self._add_restore_hint(error)
            raise
        if hook is not None:
            hook.after_commit()
        return result

    async def read_replica(self, body: Callable[[Tx], T], *, space: str) -> T:
        """Read from a replica, if any: data may be seconds old, but includes everything that this process wrote."""
        return await self.transact(body, space=space, read_only=True)

    async def _add_restore_hint(self, error: BethinkError) -> None:
        """Add the last restore to the hint: missing data may have been stored after the backup."""
        row = await self._transact(
            lambda tx: tx.first("last_restore"), space=None, read_only=True, repeatable=True, synced=False
        )
        if row is not None:
            error.hint = f"{error.hint} {Restore.from_row(row)}".strip()

    async def start_listening(self) -> int:
        """Start listening for queued work, and return the value to pass to `wait_for_work` as `since`."""
        while self._is_listening and not self._has_listened:  # noqa: ASYNC110 - the task that connects may be on another loop
            await anyio.sleep(_CHECK_INTERVAL)
        await self._listen_once(0)
        return self._notified

    async def wait_for_work(self, seconds: float, *, since: int) -> bool:
        """Wait until work was queued since `start_listening`, here or by another process. Returns False on timeout."""
        with anyio.move_on_after(seconds):
            while self._notified == since:
                if self._is_listening:
                    await anyio.sleep(_CHECK_INTERVAL)
                else:
                    await self._listen_once(min(seconds, _LISTEN))
            return True
        return False

    async def _listen_once(self, seconds: float) -> None:
        # One task listens for all waiting tasks of this process: only one of them receives a notification.
        if self._is_listening:
            return
        self._is_listening = True
        try:
            notified = await self._listen(seconds)
            self._has_listened = True
            if notified:
                self._notified += 1
        finally:
            self._is_listening = False

    def _notify(self, kinds: Set[JobKind]) -> None:
        # Called on a connection's thread after the commit: it must neither block nor fail.
        self._notified += 1
        if self.on_work is not None:
            self.on_work(kinds)

    def _after_commit(self, tx: Tx) -> None:
        # Called on a connection's thread after the commit, so it must not fail.
        if tx.queued or tx.has_changes:
            self._notify(tx.queued)
        if tx.new_tombstones and self.tombstones_path is not None:
            tombstone_file.add(self.tombstones_path, tx.new_tombstones)
        if tx.new_tombstones and self.copies_path is not None:
            shutil.rmtree(self.copies_path, ignore_errors=True)

    async def empty_log(self) -> bool:
        """Remove deleted data from the write-ahead log, if the database has one; return whether that succeeded.

        A reader of an older state prevents it.
        """
        return True

    async def run_alone(self, statement: str) -> None:
        """Run a statement that cannot be part of a transaction and may take long, such as building an index."""
        del statement
        raise ConfigurationError(
            f"{self.dialect} cannot run statements outside of transactions.", hint="Use PostgreSQL."
        )

    @abstractmethod
    async def _listen(self, seconds: float) -> bool:
        """Wait a moment for other processes to queue work, and return whether one did."""

    @abstractmethod
    def _start(self) -> None: ...

    @abstractmethod
    async def _stop(self) -> None: ...

    @abstractmethod
    def _prepare(self, tx: Tx) -> None: ...

    @abstractmethod
    async def _transact(
        self, body: Callable[[Tx], T], *, space: str | None, read_only: bool, repeatable: bool, synced: bool = True
    ) -> T: ...


def _with_hook(body: Callable[[Tx], T], hook: CommitHook) -> Callable[[Tx], T]:
    def with_hook(tx: Tx) -> T:
        result = body(tx)
        if tx.has_begun:
            hook.before_commit(tx, result)
        return result

    return with_hook


def checked_result(result: T) -> T:
    """Reject a coroutine that a body returned, because it would never be awaited."""
    if inspect.iscoroutine(result):
        result.close()
        raise TypeError("A transaction body returned a coroutine. It must do its work before it returns.")
    return result


@contextmanager
def after_first_commit(*, hint: str = "Check what is stored before you repeat it.") -> Generator[None]:
    """Wrap the work after the first commit of a call: if the database is lost then, part of it is stored."""
    try:
        yield
    except DatabaseUnavailableError as error:
        raise OutcomeUnknownError("The database was lost after part of this call was stored.", hint=hint) from error
