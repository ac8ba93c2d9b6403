"""A transaction is a plain synchronous function of a `Tx`; a `Database` runs it completely or not at all."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence, Set
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import anyio

from bethink.errors import BethinkError, Invalid, LostClaim, Misconfigured, NotFound, OutcomeUnknown, Unavailable
from bethink.model.filters import Filter
from bethink.model.jobs import JobKind
from bethink.model.moments import EPOCH, to_micros
from bethink.model.records import checked_name
from bethink.model.restores import Restore
from bethink.store import tombstone_file
from bethink.store.filters import narrowed
from bethink.store.sql import Dialect, Query, queries, with_given

T = TypeVar("T")
Row = Mapping[str, Any]
Clock = Callable[[], datetime]

KEYS_REFUSED = timedelta(days=30)
NO_LIMIT = 2**62
"""The limit that means all rows: the one value that both databases accept."""

_LISTEN = 0.25
"""Seconds of one wait for notifications; stopping takes no longer than this."""

_GLANCE = 0.05
"""Seconds between two looks at what another task has heard."""


def system_clock() -> datetime:
    """Return the current time."""
    return datetime.now(UTC)


def until(as_of: datetime | None) -> int:
    """Return the upper bound of time for queries: without `as_of` there is none."""
    return NO_LIMIT if as_of is None else to_micros(as_of)


def checked_limit(limit: int) -> int:
    """Return a valid limit. Raises `Invalid` for a negative number, which the databases interpret differently."""
    if not 0 <= limit <= NO_LIMIT:
        raise Invalid(f"a limit cannot be {limit}.", hint="Pass 0 or more.")
    return limit


class Tx(ABC):
    """One transaction. Queries are called by name with keyword parameters; a datetime is bound as microseconds.

    A `Query` may stand for its name where it is made from the schema.

    It begins with its first query: whatever a body does before that runs on its thread without holding a lock.
    """

    dialect: Dialect

    def __init__(self, *, clock: Clock, repeatable: bool) -> None:
        self.repeatable = repeatable
        """Whether it may safely run twice; a body that knows better may set this."""
        self.queued: set[JobKind] = set()
        """The kinds of jobs that it queued: waiting workers are notified once it is committed."""
        self.tells = False
        """Whether it recorded a change: those who follow changes are notified once it is committed."""
        self.forgets = False
        """Whether it forgot something: the write-ahead log is cleared of it once it is committed."""
        self.buried: list[Mapping[str, object]] = []
        """Tombstones that it wrote: they are added to the file of tombstones once it is committed."""
        self.gone: dict[str, dict[str, None]] = {}
        """What it forgot, by kind: the ids, and for messages also their numbers, as in `ses_…:3`."""
        self.keys_refused = KEYS_REFUSED
        """For how long the idempotency key of an erased message is refused."""
        self.begun = False
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

    def one(self, name: str, /, **parameters: object) -> Row | None:
        """Return the first row, if any."""
        rows = self.all(name, **parameters)
        return rows[0] if rows else None

    def all(self, name: str | Query, only: Filter | None = None, /, **parameters: object) -> list[Row]:
        """Return every row, or up to the `limit` among the parameters; with `only`, of those that fit a filter."""
        query = self._queries[name] if isinstance(name, str) else name
        if query.optional:
            given = frozenset(each for each in query.optional if parameters.get(each) is not None)
            query = with_given(query, given, self.dialect)
        if only is not None:
            query, values = narrowed(query, only, self.dialect)
            parameters |= values
        if "limit" in query.parameters:
            checked_limit(cast("int", parameters["limit"]))
        self._begin()
        return self._fetch(query, _values(query, parameters))

    def lose(self, kind: str, names: Iterable[str]) -> None:
        """Note what goes, for the receipt."""
        self.gone.setdefault(kind, {}).update(dict.fromkeys(names))

    def insert(self, name: str, rows: Iterable[Sequence[object]]) -> None:
        """Insert many rows of values, each in the order in which the query names its parameters.

        Values are not converted, because there may be very many: a time must be given as microseconds.
        """
        self._begin()
        self._insert(name, rows)

    def script(self, text: str) -> None:
        """Run several statements without parameters."""
        self._begin()
        self._script(text)

    def set_walls(self, tables: Iterable[str], how: str) -> None:
        """Set whether row-level security binds the owner of tables too: `FORCE` or `NO FORCE`, where there is any."""
        if self.dialect is Dialect.POSTGRES:
            self.script("; ".join(f"ALTER TABLE {table} {how} ROW LEVEL SECURITY" for table in tables))

    def _begin(self) -> None:
        if not self.begun:
            self._open()
            self.begun = True
            self._now = self._clock()

    @abstractmethod
    def lock_schema(self) -> None:
        """Block migrations by other processes until this transaction ends."""

    @abstractmethod
    def begin_migration(self) -> None:
        """Begin anew with every writer kept out until this transaction ends. What was read so far may have changed."""

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


class Rider(Protocol):
    """Something to be written with whatever a task writes next, in the same transaction."""

    database: "Database"
    """The database that it is for: a task may write to others."""

    def ride(self, tx: Tx, result: object) -> None:
        """Write it, given what the body returned. It is called again where the transaction is tried again."""

    def arrived(self) -> None:
        """Note that the transaction was committed."""


rider: ContextVar[Rider | None] = ContextVar("bethink_rider", default=None)
"""What the writing transactions of this task take with them."""


class Database(ABC):
    """Runs transactions. Open it before use; it is safe to share between tasks."""

    dialect: Dialect

    def __init__(self) -> None:
        self._ready = False
        self._opening = anyio.Lock()
        self._notified = 0
        self._hearing = self._listens = False
        self.on_work: Callable[[Set[JobKind]], None] | None = None
        """Called after each commit that queued jobs, with their kinds, on a connection's thread. It must not fail."""
        self.fingerprint_key = b""
        """The key for fingerprints of redacted secrets; known once the database is open."""
        self.tombstones_path: Path | None = None
        """The file that keeps the tombstones outside of the database, for when an old backup is restored."""
        self.keys_refused = KEYS_REFUSED
        """For how long the idempotency key of an erased message is refused."""
        self.unsettled = False
        """Whether something was being forgotten when the database was opened, and is to be finished."""

    async def open(self) -> None:
        """Connect, bring the schema up to date, and check that the database is safe to use.

        It cannot be used before this has succeeded. Once closed it may be opened again.
        """
        async with self._opening:
            if self._ready:
                return
            self._start()
            try:
                await self._transact(self._prepare, space=None, read=False, repeatable=True)
            except BaseException:
                with anyio.CancelScope(shield=True):
                    await self._stop()
                raise
            self._ready = True

    async def look(self, body: Callable[[Tx], T], *, read: bool = True) -> T:
        """Run a body, which by default only reads, on a database that is not open: its schema stays what it is."""
        async with self._opening:
            self._start()
            try:
                return await self._transact(body, space=None, read=read, repeatable=True)
            finally:
                with anyio.CancelScope(shield=True):
                    await self._stop()

    async def close(self) -> None:
        """Finish what is running and release every connection."""
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
        read: bool = False,
        repeatable: bool = False,
        synced: bool = True,
    ) -> T:
        """Run `body` in one transaction on one thread. It sees only the rows of `space`.

        `repeatable` says that it may safely run twice, so that a commit with an unknown outcome is retried. Without
        `synced` it does not wait for the disk: it outlives this process, and may be lost when the machine fails.
        Raises `Unavailable` only if nothing was written, and `OutcomeUnknown` if any attempt may have been committed.
        """
        if inspect.iscoroutinefunction(body):
            raise TypeError(
                "a transaction body must be a plain function, so that it cannot await while it holds a lock"
            )
        if not self._ready:
            raise Unavailable("the database is not open.", hint="Open it first: use it inside an async with block.")
        if space is not None:
            checked_name(space, "a space")
        taken = None if read else rider.get()
        if taken is not None and taken.database is not self:
            taken = None
        carried = body if taken is None else _with(body, taken)
        try:
            result = await self._transact(carried, space=space, read=read, repeatable=repeatable, synced=synced)
        except (NotFound, LostClaim) as error:
            await self._name_restore(error)
            raise
        if taken is not None:
            taken.arrived()
        return result

    async def read_behind(self, body: Callable[[Tx], T], *, space: str) -> T:
        """Read what may be a few seconds old, but has all that this process wrote: from a replica, if there is one."""
        return await self.transact(body, space=space, read=True)

    async def _name_restore(self, error: BethinkError) -> None:
        """Say that the database was restored, if it was: what is missing may have been stored after the backup."""
        row = await self._transact(
            lambda tx: tx.one("last_restore"), space=None, read=True, repeatable=True, synced=False
        )
        if row is not None:
            error.hint = f"{error.hint} {Restore.read(row)}".strip()

    async def start_listening(self) -> int:
        """Start listening for queued work, and return the value to pass to `wait_for_work` as `since`."""
        while self._hearing and not self._listens:  # noqa: ASYNC110 - the task that connects may be on another loop
            await anyio.sleep(_GLANCE)
        await self._hear(0)
        return self._notified

    async def wait_for_work(self, seconds: float, *, since: int) -> bool:
        """Wait until work was queued since `start_listening`, here or by another process. Returns False on timeout."""
        with anyio.move_on_after(seconds):
            while self._notified == since:
                if self._hearing:
                    await anyio.sleep(_GLANCE)
                else:
                    await self._hear(min(seconds, _LISTEN))
            return True
        return False

    async def _hear(self, seconds: float) -> None:
        # One listens for all who wait in this process: a notification is heard by only one of them.
        if self._hearing:
            return
        self._hearing = True
        try:
            heard = await self._listen(seconds)
            self._listens = True
            if heard:
                self._notified += 1
        finally:
            self._hearing = False

    def _notify(self, kinds: Set[JobKind]) -> None:
        # Called on a connection's thread after the commit: it must neither block nor fail.
        self._notified += 1
        if self.on_work is not None:
            self.on_work(kinds)

    def _committed(self, tx: Tx) -> None:
        # Called on a connection's thread after the commit, so it must not fail.
        if tx.queued or tx.tells:
            self._notify(tx.queued)
        if tx.buried and self.tombstones_path is not None:
            tombstone_file.add(self.tombstones_path, tx.buried)

    async def empty_log(self) -> bool:
        """Remove what was forgotten from the log of this database, if it has one of its own; return whether it is out.

        A reader of an older state prevents it.
        """
        return True

    async def run_alone(self, statement: str) -> None:
        """Run a statement that cannot be part of a transaction and may take long, such as building an index."""
        del statement
        raise Misconfigured(f"{self.dialect} cannot run statements outside of transactions.", hint="Use PostgreSQL.")

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
        self, body: Callable[[Tx], T], *, space: str | None, read: bool, repeatable: bool, synced: bool = True
    ) -> T: ...


def _with(body: Callable[[Tx], T], taken: Rider) -> Callable[[Tx], T]:
    def both(tx: Tx) -> T:
        result = body(tx)
        if tx.begun:
            taken.ride(tx, result)
        return result

    return both


def checked_result(result: T) -> T:
    """Refuse a coroutine that a body returned, because it would never be awaited."""
    if inspect.iscoroutine(result):
        result.close()
        raise TypeError("a transaction body returned a coroutine: it must do its work before it returns")
    return result


@contextmanager
def under_way(*, hint: str = "Read what is stored before you repeat it.") -> Generator[None]:
    """Wrap what follows the first commit of a call: if the database is lost then, part of the work is stored."""
    try:
        yield
    except Unavailable as error:
        raise OutcomeUnknown("the database was lost after part of this call was stored.", hint=hint) from error
