"""A server with a replica: recall reads from the replica if it is recent enough, otherwise from the server."""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from bethink.base.logs import logger
from bethink.errors import BethinkError, ConfigurationError, DatabaseUnavailableError
from bethink.store.db import Clock, Row, Tx, system_clock
from bethink.store.engines.postgres import PostgresDatabase
from bethink.store.engines.postgres_connections import PostgresOptions

T = TypeVar("T")
_log = logger("store")
_PAUSE, _LONG_PAUSE = 0.05, 5.0
"""Seconds between two checks of the replica, and after a failed check."""
_MAX_SPACES = 10_000
_NEVER = float("-inf")


class ReplicatedDatabase(PostgresDatabase):
    """A server, and a standby that follows it.

    A read from the standby has everything that was committed more than `lag` seconds ago, and everything that
    this process wrote to the space. If the standby is further behind, cannot be reached or fails, the server answers.
    """

    def __init__(
        self,
        options: PostgresOptions,
        *,
        replica: PostgresOptions,
        lag: float,
        clock: Clock = system_clock,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(options, clock=clock)
        if lag <= 0:
            raise ConfigurationError("`postgres_replica_lag` must be above 0.", hint="Use a number of seconds.")
        self.standby = Standby(replica, clock=clock)
        self._lag = lag
        self._timer = timer
        self._noting = threading.Lock()  # shared by several loops and threads, and never held during a wait
        self._last_writes: dict[str, float] = {}
        self._last_global_write = _NEVER
        self._is_checking = False
        self._reset_checks()

    def _reset_checks(self) -> None:
        self._positions: deque[tuple[float, int]] = deque()
        """Times and log positions of the server that the standby may not have replayed yet."""
        self._replayed_until = self._next_check = _NEVER
        """Time up to which the standby has everything, and time of its next check."""

    async def read_replica(self, body: Callable[[Tx], T], *, space: str) -> T:
        """Read from the standby if it is recent enough."""
        if self._ready and await self._is_recent(space):
            try:
                return await self.standby.transact(body, space=space, read_only=True)
            except BethinkError as error:
                # The server may have rows that the standby lacks, and reports those that do not exist.
                if isinstance(error, DatabaseUnavailableError):
                    self._stop_using_replica(error)
        return await super().read_replica(body, space=space)

    async def close(self) -> None:
        """Release the connections to both."""
        try:
            await super().close()
        finally:
            await self.standby.close()
            self._reset_checks()

    def _note_write(self, space: str | None) -> None:
        with self._noting:
            now = self._timer()
            if space is None or len(self._last_writes) >= _MAX_SPACES:
                self._last_global_write = now
                self._last_writes.clear()
            else:
                self._last_writes[space] = now

    async def _is_recent(self, space: str) -> bool:
        with self._noting:
            now, last_write = self._timer(), self._last_writes.get(space, self._last_global_write)
            # One read checks, and the others use the server in the meantime: a lost standby delays only one read.
            must_check = not (self._is_caught_up(last_write, now) or self._is_checking or now < self._next_check)
            self._is_checking = self._is_checking or must_check
        if must_check:
            try:
                await self.check_replica()
            finally:
                self._is_checking = False
        return self._is_caught_up(last_write, now)

    def _is_caught_up(self, last_write: float, now: float) -> bool:
        return self._replayed_until > last_write and self._replayed_until >= now - self._lag

    def _stop_using_replica(self, error: BethinkError) -> None:
        self._reset_checks()
        self._next_check = self._timer() + _LONG_PAUSE
        _log.warning("recall uses the primary server, because the replica is unusable: %s", error)

    async def check_replica(self) -> BethinkError | None:
        """Check how far the standby has replayed, and return its error, if any.

        Raises:
            DatabaseUnavailableError: if the server itself cannot be reached.
        """
        now = self._timer()
        self._next_check = now + _PAUSE
        server = await self.transact(lambda tx: tx.first("find_log_position"), read_only=True)
        try:
            await self.standby.open()
            row = await self.standby.transact(lambda tx: tx.first("describe_standby"), read_only=True)
            replay_position = self._replay_position(server or {}, row or {})
        except BethinkError as error:
            self._stop_using_replica(error)
            return error
        positions = self._positions  # the same list, even if another thread resets the checks
        positions.append((now, _position((server or {})["position"])))
        while positions and positions[0][1] <= replay_position:
            self._replayed_until, _ = positions.popleft()
        while len(positions) > 1 and positions[1][0] < now - self._lag:
            positions.popleft()  # too old to be of use
        return None

    def _replay_position(self, server: Row, standby: Row) -> int:
        """Return the log position of the standby. Positions of other logs, as after a failover, cannot be compared."""
        if standby["position"] is None:
            raise ConfigurationError("`postgres_replica_dsn` does not point to a standby.", hint=_HINT)
        if any(server[name] != standby[name] for name in ("cluster", "timeline")):
            raise ConfigurationError("`postgres_replica_dsn` points to a standby of another server.", hint=_HINT)
        if self.standby.fingerprint_key != self.fingerprint_key:
            raise ConfigurationError("`postgres_replica_dsn` points to another database.", hint=_HINT)
        return _position(standby["position"])

    @property
    def replica_lag(self) -> float:
        """Seconds that the standby was behind at its last check; `inf` if unknown."""
        return 0.0 if self._replayed_until != _NEVER and not self._positions else self._timer() - self._replayed_until


_HINT = "Set it to a standby that follows postgres_dsn. After a failover, wait until the standby has made a checkpoint."


class Standby(PostgresDatabase):
    """A standby server, opened read-only. Its schema is not migrated."""

    def _prepare(self, tx: Tx) -> None:
        key = tx.first("find_deployment_key", name="fingerprint") if tx.has_table("deployment_keys") else None
        self.fingerprint_key = b"" if key is None else bytes.fromhex(key["value"])
        self._check(tx)


def _position(text: str) -> int:
    """Return a position in the log as a number: PostgreSQL writes its upper and its lower half."""
    upper, _, lower = text.partition("/")
    return (int(upper, 16) << 32) + int(lower, 16)
