"""Cells: carries out each request in the cell that holds its space."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio

from bethink.base.backoff import jittered
from bethink.base.logs import logger
from bethink.cells.directory import Cell, Directory, Place
from bethink.cells.everywhere import ask_everywhere
from bethink.cells.switching import open_arrived, switch
from bethink.errors import BethinkError, Misconfigured, Moved, NotFound, OutcomeUnknown, Unavailable
from bethink.host.backend import Backend, LocalBackend
from bethink.model.operations.base import RequestT, ResultT, Retry, Verb
from bethink.store import moves
from bethink.store.db import Database
from bethink.store.moves import MoveState

if TYPE_CHECKING:
    from pathlib import Path

    from bethink.memory.archive.format import ArchiveManifest

_PATIENCE = 15.0
"""Seconds for which a request follows a space that moves."""
_PAUSE = 0.03
_GRACE = 0.25
"""Seconds after which a client takes the last steps of a move itself: its mover would have by then."""

_log = logger("cells")


class Cells(Backend):
    """A memory in many cells. Each space is in one of them, which the directory knows."""

    def __init__(
        self, directory: Directory, make: Callable[[str], LocalBackend], *, database: Callable[[str], Database]
    ) -> None:
        self.directory = directory
        self.database = database
        """Returns the database at the address of a cell, not yet open, for who operates the cells."""
        self._make = make
        self._patience = _PATIENCE
        self._cells: dict[str, Cell] = {}
        self._locals: dict[str, LocalBackend] = {}
        self._opening = anyio.Lock()

    async def open(self) -> None:
        """Connect to the directory. Cells are opened when they are first needed."""
        await self.directory.open()
        self._cells = await self.directory.cells()

    async def close(self) -> None:
        """Finish what is running in every cell, and release every connection."""
        with anyio.CancelScope(shield=True):
            opened, self._locals = self._locals, {}
            for local in opened.values():
                await local.close()
            await self.directory.close()

    async def run(self, verb: Verb[RequestT, ResultT], space: str, request: RequestT) -> ResultT:
        """Carry out a request in the cell of its space; one that concerns all spaces, in every cell."""
        if not space:
            self._cells = await self.directory.cells()
            cells = {name: await self.cell(name) for name in self._cells}
            return await ask_everywhere(verb, request, cells, run=self.run, place=self.directory.find)
        repeats = request.retry(verb.retry) is not Retry.ONCE
        until, place = time.monotonic() + self._patience, await self._place(space, reads=verb.retry is Retry.SAFE)
        since = time.monotonic()
        while True:
            try:
                return await (await self.cell(place.cell)).run(verb, space, request)
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
        return await (await self.cell(place.cell)).export_archive(space, path)

    def local(self) -> LocalBackend:
        """Refuse: what needs one database in this process needs one cell.

        Raises:
            Unavailable: always.
        """
        raise Unavailable(
            "this needs one database in this process, and the memory is in many cells.",
            hint="Connect to the cell's own address; 'bethink cells list' shows where a space is.",
        )

    async def cell(self, name: str) -> LocalBackend:
        """Return the memory of one cell, open."""
        if name not in self._locals:
            async with self._opening:
                if name not in self._locals:
                    if name not in self._cells:
                        self._cells = await self.directory.cells()
                    if name not in self._cells:
                        raise Misconfigured(f"the directory has no cell {name!r}.", hint="See 'bethink cells list'.")
                    local = self._make(self._cells[name].dsn)
                    await local.open()
                    self._locals[name] = local
        return self._locals[name]

    async def _place(self, space: str, *, reads: bool) -> Place:
        found = await self.directory.find(space)
        if found is not None:
            return found
        # To read what is nowhere places nothing: any cell gives the answer of an empty space.
        return Place(cell=await self.directory.emptiest(), version=0) if reads else await self.directory.assign(space)

    async def _after(self, space: str, place: Place, *, waited: float) -> Place:
        """Return where a space is by now, after a cell has refused it."""
        found = await self.directory.find(space, anew=True)
        if found is not None and found != place:
            return found
        database = (await self.cell(place.cell)).database
        mark = await database.transact(lambda tx: moves.find(tx, space=space), read=True)
        if mark is None:
            return place
        if mark.state is MoveState.LEAVING:
            if await database.transact(lambda tx: moves.lift(tx, space=space, overdue=True), repeatable=True):
                _log.info("lifted the fence of a move that did not end it", extra={"cell": place.cell})
                return place
        elif mark.state is MoveState.GONE and waited > _GRACE:
            target = (await self.cell(mark.cell)).database
            if await open_arrived(target, space=space, token=mark.token):
                await switch(self.directory, space=space, source=place.cell, mark=mark)
                _log.info("finished the switch of a move that did not end it", extra={"cell": mark.cell})
        await anyio.sleep(jittered(_PAUSE, spread=0.7))
        return place


def _is_moved(error: BethinkError, *, repeats: bool) -> bool:
    """Return whether a request may be sent again, after the move of its space: nothing was done, or it may be twice."""
    return isinstance(error, Moved) or (repeats and isinstance(error.__cause__, Moved))
