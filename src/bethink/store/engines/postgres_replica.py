"""A server with a replica: recall reads from the replica while that is near enough, and else from the server."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from bethink.errors import BethinkError, Misconfigured, Unavailable
from bethink.logs import logger
from bethink.store.db import Clock, Tx, system_clock
from bethink.store.engines.postgres import PostgresDatabase
from bethink.store.engines.postgres_connections import PostgresOptions

T = TypeVar("T")
_log = logger("store")
_PAUSE, _LONG_PAUSE = 0.05, 5.0
"""Seconds between two looks at how far the replica is, and after one that failed."""
_MOST_SPACES = 10_000


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
        self.standby = Standby(replica, clock=clock)
        self._lag = lag
        self._timer = timer
        self._seen = self._next_look = float("-inf")
        """Until when the standby is known to have everything, and before when it is not asked again."""
        self._written: dict[str, float] = {}
        self._all_written = float("-inf")
        self._noting = threading.Lock()

    async def read_behind(self, body: Callable[[Tx], T], *, space: str) -> T:
        """Read from the standby if it is near enough."""
        if await self._is_near(space):
            try:
                return await self.standby.transact(body, space=space, read=True)
            except BethinkError as error:
                # What it does not have yet, the server has; and what no one has, the server says.
                if isinstance(error, Unavailable):
                    self._leave(error)
        return await self.transact(body, space=space, read=True)

    async def close(self) -> None:
        """Release the connections to both."""
        await super().close()
        await self.standby.close()

    def _wrote(self, space: str | None) -> None:
        now = self._timer()
        with self._noting:
            if space is None or len(self._written) >= _MOST_SPACES:
                self._all_written = now
                self._written.clear()
            else:
                self._written[space] = now

    async def _is_near(self, space: str) -> bool:
        now = self._timer()
        with self._noting:
            written = self._written.get(space, self._all_written)
        if not self._has(written, now) and now >= self._next_look:
            self._next_look = now + _PAUSE
            try:
                await self.look_at_replica()
            except BethinkError as error:
                self._leave(error)
        return self._has(written, now)

    def _has(self, written: float, now: float) -> bool:
        return self._seen > written and self._seen >= now - self._lag

    def _leave(self, error: BethinkError) -> None:
        self._seen, self._next_look = float("-inf"), self._timer() + _LONG_PAUSE
        _log.warning("recall reads from the server, because its replica cannot be used: %s", error)

    async def look_at_replica(self) -> bool:
        """Return whether the standby has all that the server has now.

        Raises:
            Misconfigured: if it does not follow this server.
            Unavailable: if it cannot be reached.
        """
        await self.standby.open()
        if self.standby.fingerprint_key != self.fingerprint_key:
            raise Misconfigured(
                "postgres_replica_dsn is the address of another memory.", hint="Give the address of its standby."
            )
        now = self._timer()
        found = await self.transact(lambda tx: tx.one("find_log_position"), read=True)
        position = (found or {})["position"]
        row = await self.standby.transact(lambda tx: tx.one("has_replayed", position=position), read=True)
        if row is not None:
            self._seen = now
        return row is not None


class Standby(PostgresDatabase):
    """A server that only follows another. It is opened for reading, and its schema stays what it is."""

    def _prepare(self, tx: Tx) -> None:
        if tx.one("has_replayed", position="0/0") is None:
            raise Misconfigured(
                "postgres_replica_dsn is not the address of a standby.", hint="Set it to one that follows postgres_dsn."
            )
        key = tx.one("find_deployment_key", name="fingerprint")
        self.fingerprint_key = b"" if key is None else bytes.fromhex(key["value"])
        self._check(tx)
