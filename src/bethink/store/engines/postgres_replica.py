"""A server with a replica: recall reads from the replica while that is near enough, and else from the server."""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from bethink.base.logs import logger
from bethink.errors import BethinkError, Misconfigured, Unavailable
from bethink.store.db import Clock, Row, Tx, system_clock
from bethink.store.engines.postgres import PostgresDatabase
from bethink.store.engines.postgres_connections import PostgresOptions

T = TypeVar("T")
_log = logger("store")
_PAUSE, _LONG_PAUSE = 0.05, 5.0
"""Seconds between two looks at how far the replica is, and after one that failed."""
_MOST_SPACES = 10_000
_NEVER = float("-inf")


class ReplicatedDatabase(PostgresDatabase):
    """A server, and a standby that follows it.

    A read from the standby has everything that was committed until `lag` seconds before, and everything that this
    process wrote to the space. If the standby is further behind, cannot be reached or fails, the server answers.
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
            raise Misconfigured("postgres_replica_lag is not above 0.", hint="Give it in milliseconds.")
        self.standby = Standby(replica, clock=clock)
        self._lag = lag
        self._timer = timer
        self._noting = threading.Lock()  # of several loops and threads, and never held while one waits
        self._written: dict[str, float] = {}
        self._all_written = _NEVER
        self._looking = False
        self._forget_looks()

    def _forget_looks(self) -> None:
        self._positions: deque[tuple[float, int]] = deque()
        """Where the server's log was, and when: those that the standby is not known to have replayed."""
        self._seen = self._next_look = _NEVER
        """Until when the standby has everything, and before when it is not looked at again."""

    async def read_behind(self, body: Callable[[Tx], T], *, space: str) -> T:
        """Read from the standby if it is near enough."""
        if self._ready and await self._is_near(space):
            try:
                return await self.standby.transact(body, space=space, read=True)
            except BethinkError as error:
                # What it does not have yet, the server has; and what no one has, the server says.
                if isinstance(error, Unavailable):
                    self._leave(error)
        return await super().read_behind(body, space=space)

    async def close(self) -> None:
        """Release the connections to both."""
        try:
            await super().close()
        finally:
            await self.standby.close()
            self._forget_looks()

    def _wrote(self, space: str | None) -> None:
        with self._noting:
            now = self._timer()
            if space is None or len(self._written) >= _MOST_SPACES:
                self._all_written = now
                self._written.clear()
            else:
                self._written[space] = now

    async def _is_near(self, space: str) -> bool:
        with self._noting:
            now, written = self._timer(), self._written.get(space, self._all_written)
            # One looks, and all others read from the server meanwhile: a standby that is away delays one read only.
            looks = not (self._has(written, now) or self._looking or now < self._next_look)
            self._looking = self._looking or looks
        if looks:
            try:
                await self.look_at_replica()
            finally:
                self._looking = False
        return self._has(written, now)

    def _has(self, written: float, now: float) -> bool:
        return self._seen > written and self._seen >= now - self._lag

    def _leave(self, error: BethinkError) -> None:
        self._forget_looks()
        self._next_look = self._timer() + _LONG_PAUSE
        _log.warning("recall reads from the server, because its replica cannot be used: %s", error)

    async def look_at_replica(self) -> BethinkError | None:
        """Find out until when the standby has everything; return what is wrong with it, if anything is.

        Raises:
            Unavailable: if the server itself cannot be reached.
        """
        now = self._timer()
        self._next_look = now + _PAUSE
        server = await self.transact(lambda tx: tx.one("find_log_position"), read=True)
        try:
            await self.standby.open()
            found = await self.standby.transact(lambda tx: tx.one("describe_standby"), read=True)
            replayed = self._replayed(server or {}, found or {})
        except BethinkError as error:
            self._leave(error)
            return error
        positions = self._positions  # the same until the end, if another thread leaves the standby meanwhile
        positions.append((now, _position((server or {})["position"])))
        while positions and positions[0][1] <= replayed:
            self._seen, _ = positions.popleft()
        while len(positions) > 1 and positions[1][0] < now - self._lag:
            positions.popleft()  # too old to be of use
        return None

    def _replayed(self, server: Row, standby: Row) -> int:
        """Return how far the standby is in the log. Positions of other logs, as after a failover, mean nothing here."""
        if standby["position"] is None:
            raise Misconfigured("postgres_replica_dsn is not the address of a standby.", hint=_HINT)
        if any(server[name] != standby[name] for name in ("cluster", "timeline")):
            raise Misconfigured("postgres_replica_dsn is the address of a standby of another server.", hint=_HINT)
        if self.standby.fingerprint_key != self.fingerprint_key:
            raise Misconfigured("postgres_replica_dsn is the address of another memory.", hint=_HINT)
        return _position(standby["position"])

    @property
    def behind(self) -> float:
        """How many seconds the standby was behind when it was last looked at; `inf` if that is not known."""
        return 0.0 if self._seen != _NEVER and not self._positions else self._timer() - self._seen


_HINT = "Set it to a standby that follows postgres_dsn. After a failover, wait until the standby has made a checkpoint."


class Standby(PostgresDatabase):
    """A server that only follows another. It is opened for reading, and its schema stays what it is."""

    def _prepare(self, tx: Tx) -> None:
        key = tx.one("find_deployment_key", name="fingerprint") if tx.has_table("deployment_keys") else None
        self.fingerprint_key = b"" if key is None else bytes.fromhex(key["value"])
        self._check(tx)


def _position(written: str) -> int:
    """Return a position in the log as a number: PostgreSQL writes its upper and its lower half."""
    upper, _, lower = written.partition("/")
    return (int(upper, 16) << 32) + int(lower, 16)
