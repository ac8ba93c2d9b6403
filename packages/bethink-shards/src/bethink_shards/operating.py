"""Operating shards: adding one, draining one, moving a space. `bethink shards` and programs call it."""

from collections.abc import AsyncGenerator

from bethink.errors import Conflict, Duplicate, Misconfigured
from bethink.extensions.storage import NO_LIMIT, Tx, jobs
from bethink_shards.backend import Shards
from bethink_shards.directory import ShardState
from bethink_shards.moving import SpaceMove
from bethink_shards.steps import MoveReport

_MEMBER = "shard"
"""The name under which a database says of which directory it is a shard, and which one."""


async def add_shard(shards: Shards, name: str, dsn: str, *, weight: int = 1) -> int:
    """Add a PostgreSQL database as a shard, with the spaces that it holds; return how many.

    Raises `Misconfigured` for a database that cannot be one, `Conflict` if it is one already, and `Duplicate` if the
    name or one of its spaces is taken.
    """
    directory, database = shards.directory, shards.database(dsn)
    if await database.look(lambda tx: tx.has_table("places")):
        raise Misconfigured("this database is a directory.", hint="Create an empty database for the shard.")
    await directory.check_new(name, weight=weight)
    mine = f"{await directory.id()}/{name}"
    await database.open()
    try:

        def join(tx: Tx) -> list[str]:
            found = tx.one("find_deployment_key", name=_MEMBER)
            if found is not None and found["value"] != mine:
                known = found["value"].partition("/")[2]
                raise Conflict(
                    f"this database is a shard already, under the name {known!r}.",
                    hint=f"'bethink shards list' shows it; if not, add it as {known!r}.",
                )
            tx.run("set_deployment_value", name=_MEMBER, value=mine)
            return jobs.spaces(tx, limit=NO_LIMIT, after="")

        held = await database.transact(join, repeatable=True)
        try:
            await directory.add(name, dsn, weight=weight, spaces=held)
        except Duplicate:  # it is a shard only if another process has added it; after any other error, it may be one
            known = (await directory.shards()).get(name)
            if known is None or known.dsn != dsn:
                await database.transact(lambda tx: tx.run("drop_deployment_key", name=_MEMBER), repeatable=True)
            raise
    finally:
        await database.close()
    return len(held)


async def move_space(shards: Shards, space: str, to: str) -> MoveReport:
    """Move a space to a shard, or finish a move that was interrupted. Raises as `SpaceMove.run`."""
    return await SpaceMove(shards.directory, shards.database).run(space, to)


async def drain_shard(shards: Shards, name: str) -> AsyncGenerator[MoveReport]:
    """Give a shard no more spaces, and move those that it has to the emptiest others; yield each move.

    Interrupted, it goes on where it was when it is called again.
    """
    await shards.directory.set_state(name, ShardState.DRAINING)
    for space, source, target in await shards.directory.moves():
        if source == name:
            yield await move_space(shards, space, target)
    after = ""
    while names := await shards.directory.spaces_of(name, after=after):
        for space in names:
            yield await move_space(shards, space, await shards.directory.emptiest(but=name))
        after = names[-1]
