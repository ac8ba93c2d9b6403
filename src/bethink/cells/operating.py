"""Operating cells: adding one, draining one, moving a space. `bethink cells` and programs call it."""

from collections.abc import AsyncGenerator

from bethink.cells.backend import Cells
from bethink.cells.directory import CellState
from bethink.cells.moving import SpaceMove
from bethink.cells.steps import MoveReport
from bethink.errors import Conflict, Duplicate, Misconfigured
from bethink.store import jobs
from bethink.store.db import NO_LIMIT, Tx

_MEMBER = "cell"
"""The name under which a database says of which directory it is a cell, and which one."""


async def add_cell(cells: Cells, name: str, dsn: str, *, weight: int = 1) -> int:
    """Add a PostgreSQL database as a cell, with the spaces that it holds; return how many.

    Raises `Misconfigured` for a database that cannot be one, `Conflict` if it is one already, and `Duplicate` if the
    name or one of its spaces is taken.
    """
    directory, database = cells.directory, cells.database(dsn)
    if await database.look(lambda tx: tx.has_table("places")):
        raise Misconfigured("this database is a directory.", hint="Create an empty database for the cell.")
    await directory.check_new(name, weight=weight)
    mine = f"{await directory.id()}/{name}"
    await database.open()
    try:

        def join(tx: Tx) -> list[str]:
            found = tx.one("find_deployment_key", name=_MEMBER)
            if found is not None and found["value"] != mine:
                known = found["value"].partition("/")[2]
                raise Conflict(
                    f"this database is a cell already, under the name {known!r}.",
                    hint=f"'bethink cells list' shows it; if not, add it as {known!r}.",
                )
            tx.run("set_deployment_value", name=_MEMBER, value=mine)
            return jobs.spaces(tx, limit=NO_LIMIT, after="")

        held = await database.transact(join, repeatable=True)
        try:
            await directory.add(name, dsn, weight=weight, spaces=held)
        except Duplicate:  # it is a cell only if another process has added it; after any other error, it may be one
            known = (await directory.cells()).get(name)
            if known is None or known.dsn != dsn:
                await database.transact(lambda tx: tx.run("drop_deployment_key", name=_MEMBER), repeatable=True)
            raise
    finally:
        await database.close()
    return len(held)


async def move_space(cells: Cells, space: str, to: str) -> MoveReport:
    """Move a space to a cell, or finish a move that was interrupted. Raises as `SpaceMove.run`."""
    return await SpaceMove(cells.directory, cells.database).run(space, to)


async def drain_cell(cells: Cells, name: str) -> AsyncGenerator[MoveReport]:
    """Give a cell no more spaces, and move those that it has to the emptiest others; yield each move.

    Interrupted, it goes on where it was when it is called again.
    """
    await cells.directory.set_state(name, CellState.DRAINING)
    for space, source, target in await cells.directory.moves():
        if source == name:
            yield await move_space(cells, space, target)
    after = ""
    while names := await cells.directory.spaces_of(name, after=after):
        for space in names:
            yield await move_space(cells, space, await cells.directory.emptiest(but=name))
        after = names[-1]
