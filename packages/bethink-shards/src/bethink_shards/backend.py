"""Shards: runs each request in the shard of its space."""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from bethink.errors import (
    BethinkError,
    ConfigurationError,
    DatabaseUnavailableError,
    InvalidRequestError,
    NotFoundError,
    OutcomeUnknownError,
    SpaceMovedError,
)
from bethink.extensions.backends import (
    Backend,
    BackendParts,
    LocalBackend,
    Operation,
    RequestT,
    ResultT,
    Retry,
    database_from,
    postgres_options,
)
from bethink.extensions.base import Settings, logger
from bethink.extensions.storage import Database
from bethink_shards import marks
from bethink_shards.directory import Directory, Placement, Shard
from bethink_shards.directory_database import DirectoryDatabase
from bethink_shards.everywhere import run_everywhere
from bethink_shards.marks import MoveState
from bethink_shards.switching import open_target, switch

if TYPE_CHECKING:
    from pathlib import Path

    from bethink.extensions.backends import ArchiveManifest

_MAX_WAIT = 15.0
"""Maximum seconds for a request to follow a space that moves."""
_PAUSE = 0.02
_GRACE = 0.25
"""Seconds until a client finishes a decided move, because its mover probably stopped."""

_log = logger("shards")


class Shards(Backend):
    """A memory in several shards. The directory maps each space to its shard."""

    def __init__(
        self, directory: Directory, make: Callable[[str], LocalBackend], *, database: Callable[[str], Database]
    ) -> None:
        self.directory = directory
        self.database = database
        """Builds the database of a shard by its address, without opening it."""
        self._make = make
        self._max_wait = _MAX_WAIT
        self._shards: dict[str, Shard] = {}
        self._locals: dict[str, LocalBackend] = {}
        self._opening = anyio.Lock()

    async def open(self) -> None:
        """Connect to the directory. Shards are opened when they are first needed."""
        await self.directory.open()
        self._shards = await self.directory.shards()

    async def close(self) -> None:
        """Finish running requests in all shards, and release all connections."""
        with anyio.CancelScope(shield=True):
            opened, self._locals = self._locals, {}
            for local in opened.values():
                await local.close()
            await self.directory.close()

    async def run(self, operation: Operation[RequestT, ResultT], space: str, request: RequestT) -> ResultT:
        """Run a request in the shard of its space, or without a space, in all shards."""
        space = space or request.named_space()
        if not space:
            self._shards = await self.directory.shards()
            shards = {name: await self.shard(name) for name in self._shards}
            return await run_everywhere(operation, request, shards, run=self.run, find_placement=self.directory.find)
        await self._check_together(space, request.other_spaces())
        repeats = request.retry(operation.retry) is not Retry.ONCE
        until, placement = (
            time.monotonic() + self._max_wait,
            await self._find_or_assign(space, read_only=operation.retry is Retry.SAFE),
        )
        since = time.monotonic()
        while True:
            try:
                return await (await self.shard(placement.shard)).run(operation, space, request)
            except (SpaceMovedError, OutcomeUnknownError) as error:
                if not _is_moved(error, repeats=repeats) or time.monotonic() > until:
                    raise
            current = await self._current_placement(space, placement, waited=time.monotonic() - since)
            if current != placement:
                placement, since = current, time.monotonic()

    async def export_archive(self, space: str, path: "Path") -> "ArchiveManifest":
        """Write everything in a space to a file."""
        placement = await self.directory.find(space, refresh=True)
        if placement is None:
            raise NotFoundError(f"No space {space!r}.", hint="'bethink admin spaces' lists the spaces.")
        return await (await self.shard(placement.shard)).export_archive(space, path)

    def local(self) -> LocalBackend:
        """Raise `DatabaseUnavailableError`, because there is no single database.

        Raises:
            DatabaseUnavailableError: always.
        """
        raise DatabaseUnavailableError(
            "This operation needs a single database, but the memory has several shards.",
            hint="Connect to the address of a shard: 'bethink admin shards list' shows the shards.",
        )

    async def shard(self, name: str) -> LocalBackend:
        """Return the open backend of a shard."""
        if name not in self._locals:
            async with self._opening:
                if name not in self._locals:
                    if name not in self._shards:
                        self._shards = await self.directory.shards()
                    if name not in self._shards:
                        raise ConfigurationError(
                            f"The directory has no shard {name!r}.", hint="See 'bethink admin shards list'."
                        )
                    local = self._make(self._shards[name].dsn)
                    await local.open()
                    self._locals[name] = local
        return self._locals[name]

    async def _find_or_assign(self, space: str, *, read_only: bool) -> Placement:
        placement = await self.directory.find(space)
        if placement is not None:
            return placement
        # Reading an unknown space does not assign it: any shard returns the result of an empty space.
        return (
            Placement(shard=await self.directory.emptiest(), version=0)
            if read_only
            else await self.directory.assign(space)
        )

    async def _check_together(self, space: str, others: Sequence[str]) -> None:
        """Raise `InvalidRequestError` if a request reads several spaces and one is in another shard."""
        placements = {name: await self.directory.find(name, refresh=True) for name in (space, *others) if others}
        if len({placement.shard for placement in placements.values() if placement is not None}) > 1:
            raise InvalidRequestError(
                f"The spaces {', '.join(placements)} are in different shards, and this request reads them together.",
                hint="Call it once for each space, or move them into one shard with 'bethink admin shards move'.",
            )

    async def _current_placement(self, space: str, placement: Placement, *, waited: float) -> Placement:
        """Return the current placement of a space after a shard rejected it, finishing its move if necessary."""
        current = await self.directory.find(space, refresh=True)
        if current is not None and current != placement:
            return current
        database = (await self.shard(placement.shard)).database
        mark = await database.transact(lambda tx: marks.find(tx, space=space), read_only=True)
        if mark is None:
            return placement
        if mark.state is MoveState.LEAVING:
            if await database.transact(lambda tx: marks.lift(tx, space=space, overdue=True), repeatable=True):
                _log.info("Released the lock of an interrupted move", extra={"shard": placement.shard})
                return placement
        elif mark.state is MoveState.GONE and waited > _GRACE:
            target = (await self.shard(mark.shard)).database
            if await open_target(target, space=space, token=mark.token):
                await switch(self.directory, space=space, source=placement.shard, mark=mark)
                _log.info("Finished the switch of an interrupted move", extra={"shard": mark.shard})
        await anyio.sleep(random.uniform(0.5, 1.5) * _PAUSE)  # noqa: S311 - spreading clients, not a secret
        return placement


def make_backend(parts: BackendParts) -> Shards:
    """Build the backend of a directory, without opening it. `bethink.connect` calls this for `shards://…`.

    Raises:
        ConfigurationError: without an address, or with a replica.
    """
    settings = parts.settings
    if settings.postgres.replica_dsn:
        raise ConfigurationError("Shards cannot have replicas.", hint="Remove `postgres_replica_dsn`.")

    def settings_for(dsn: str) -> Settings:
        return replace(settings, module="memory.postgres", postgres=replace(settings.postgres, dsn=dsn))

    return Shards(
        Directory(DirectoryDatabase(postgres_options(settings), clock=parts.clock)),
        lambda dsn: parts.connect(settings_for(dsn)).local(),
        database=lambda dsn: database_from(settings_for(dsn), parts.clock),
    )


def _is_moved(error: BethinkError, *, repeats: bool) -> bool:
    """Return whether a request can be retried after its space moved: nothing was done, or repeating is safe."""
    return isinstance(error, SpaceMovedError) or (repeats and isinstance(error.__cause__, SpaceMovedError))
