"""Shards: carries out each request in the shard that holds its space."""

import random
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from bethink.errors import BethinkError, Misconfigured, Moved, NotFound, OutcomeUnknown, Unavailable
from bethink.extensions.backends import (
    Backend,
    BackendParts,
    LocalBackend,
    RequestT,
    ResultT,
    Retry,
    Verb,
    database_from,
    postgres_options,
)
from bethink.extensions.base import Settings, logger
from bethink.extensions.storage import Database
from bethink_shards import marks
from bethink_shards.directory import Directory, Place, Shard
from bethink_shards.directory_database import DirectoryDatabase
from bethink_shards.everywhere import ask_everywhere
from bethink_shards.marks import MoveState
from bethink_shards.switching import open_arrived, switch

if TYPE_CHECKING:
    from pathlib import Path

    from bethink.extensions.backends import ArchiveManifest

_PATIENCE = 15.0
"""Seconds for which a request follows a space that moves."""
_PAUSE = 0.02
_GRACE = 0.25
"""Seconds after which a client takes the last steps of a move itself: its mover would have by then."""

_log = logger("shards")


class Shards(Backend):
    """A memory in many shards. Each space is in one of them, which the directory knows."""

    def __init__(
        self, directory: Directory, make: Callable[[str], LocalBackend], *, database: Callable[[str], Database]
    ) -> None:
        self.directory = directory
        self.database = database
        """Returns the database at the address of a shard, not yet open, for who operates the shards."""
        self._make = make
        self._patience = _PATIENCE
        self._shards: dict[str, Shard] = {}
        self._locals: dict[str, LocalBackend] = {}
        self._opening = anyio.Lock()

    async def open(self) -> None:
        """Connect to the directory. Shards are opened when they are first needed."""
        await self.directory.open()
        self._shards = await self.directory.shards()

    async def close(self) -> None:
        """Finish what is running in every shard, and release every connection."""
        with anyio.CancelScope(shield=True):
            opened, self._locals = self._locals, {}
            for local in opened.values():
                await local.close()
            await self.directory.close()

    async def run(self, verb: Verb[RequestT, ResultT], space: str, request: RequestT) -> ResultT:
        """Carry out a request in the shard of its space; one that concerns all spaces, in every shard."""
        space = space or request.named_space()
        if not space:
            self._shards = await self.directory.shards()
            shards = {name: await self.shard(name) for name in self._shards}
            return await ask_everywhere(verb, request, shards, run=self.run, place=self.directory.find)
        repeats = request.retry(verb.retry) is not Retry.ONCE
        until, place = time.monotonic() + self._patience, await self._place(space, reads=verb.retry is Retry.SAFE)
        since = time.monotonic()
        while True:
            try:
                return await (await self.shard(place.shard)).run(verb, space, request)
            except (Moved, OutcomeUnknown) as error:
                if not _is_moved(error, repeats=repeats) or time.monotonic() > until:
                    raise
            found = await self._after(space, place, waited=time.monotonic() - since)
            if found != place:
                place, since = found, time.monotonic()

    async def export_archive(self, space: str, path: "Path") -> "ArchiveManifest":
        """Write everything in a space to a file."""
        place = await self.directory.find(space, anew=True)
        if place is None:
            raise NotFound(f"no space {space!r}.", hint="'bethink spaces' lists the spaces.")
        return await (await self.shard(place.shard)).export_archive(space, path)

    def local(self) -> LocalBackend:
        """Refuse: what needs one database in this process needs one shard.

        Raises:
            Unavailable: always.
        """
        raise Unavailable(
            "this needs one database in this process, and the memory is in many shards.",
            hint="Connect to the shard's own address; 'bethink shards list' shows where a space is.",
        )

    async def shard(self, name: str) -> LocalBackend:
        """Return the memory of one shard, open."""
        if name not in self._locals:
            async with self._opening:
                if name not in self._locals:
                    if name not in self._shards:
                        self._shards = await self.directory.shards()
                    if name not in self._shards:
                        raise Misconfigured(f"the directory has no shard {name!r}.", hint="See 'bethink shards list'.")
                    local = self._make(self._shards[name].dsn)
                    await local.open()
                    self._locals[name] = local
        return self._locals[name]

    async def _place(self, space: str, *, reads: bool) -> Place:
        found = await self.directory.find(space)
        if found is not None:
            return found
        # To read what is nowhere places nothing: any shard gives the answer of an empty space.
        return Place(shard=await self.directory.emptiest(), version=0) if reads else await self.directory.assign(space)

    async def _after(self, space: str, place: Place, *, waited: float) -> Place:
        """Return where a space is by now, after a shard has refused it."""
        found = await self.directory.find(space, anew=True)
        if found is not None and found != place:
            return found
        database = (await self.shard(place.shard)).database
        mark = await database.transact(lambda tx: marks.find(tx, space=space), read=True)
        if mark is None:
            return place
        if mark.state is MoveState.LEAVING:
            if await database.transact(lambda tx: marks.lift(tx, space=space, overdue=True), repeatable=True):
                _log.info("lifted the fence of a move that did not end it", extra={"shard": place.shard})
                return place
        elif mark.state is MoveState.GONE and waited > _GRACE:
            target = (await self.shard(mark.shard)).database
            if await open_arrived(target, space=space, token=mark.token):
                await switch(self.directory, space=space, source=place.shard, mark=mark)
                _log.info("finished the switch of a move that did not end it", extra={"shard": mark.shard})
        await anyio.sleep(random.uniform(0.5, 1.5) * _PAUSE)  # noqa: S311 - spreading clients, not a secret
        return place


def make_backend(parts: BackendParts) -> Shards:
    """Return the backend of a directory, not yet open. `bethink.connect` calls it for `shards://…`.

    Raises:
        Misconfigured: without an address, or with a replica.
    """
    settings = parts.settings
    if settings.postgres.replica_dsn:
        raise Misconfigured("Shards cannot have replicas.", hint="Remove `postgres_replica_dsn`.")

    def at(dsn: str) -> Settings:
        return replace(settings, module="memory.postgres", postgres=replace(settings.postgres, dsn=dsn))

    return Shards(
        Directory(DirectoryDatabase(postgres_options(settings), clock=parts.clock)),
        lambda dsn: parts.connect(at(dsn)).local(),
        database=lambda dsn: database_from(at(dsn), parts.clock),
    )


def _is_moved(error: BethinkError, *, repeats: bool) -> bool:
    """Return whether a request may be sent again, after the move of its space: nothing was done, or it may be twice."""
    return isinstance(error, Moved) or (repeats and isinstance(error.__cause__, Moved))
