"""Adds and drains shards, and moves spaces. `bethink admin shards` and programs use this module."""

from collections.abc import AsyncGenerator

from bethink.errors import ConfigurationError, ConflictError, DuplicateError
from bethink.extensions.storage import NO_LIMIT, Tx, jobs
from bethink_shards.backend import Shards
from bethink_shards.directory import ShardState
from bethink_shards.moving import SpaceMove
from bethink_shards.steps import MoveReport

_MEMBER = "shard"
"""Name of the value in a shard's database that has its directory and its name."""


async def add_shard(shards: Shards, name: str, dsn: str, *, weight: int = 1) -> int:
    """Add a PostgreSQL database as a shard, and return the number of its spaces.

    Raises `ConfigurationError` for an unsuitable database, `ConflictError` if it already is a shard, and
    `DuplicateError` if its name or one of its spaces exists already.
    """
    directory, database = shards.directory, shards.database(dsn)
    if await database.run_unopened(lambda tx: tx.has_table("places")):
        raise ConfigurationError("This database is a directory.", hint="Create an empty database for the shard.")
    await directory.check_new(name, weight=weight)
    membership = f"{await directory.id()}/{name}"
    await database.open()
    try:

        def join(tx: Tx) -> list[str]:
            row = tx.first("find_deployment_key", name=_MEMBER)
            if row is not None and row["value"] != membership:
                other_name = row["value"].partition("/")[2]
                raise ConflictError(
                    f"This database is already the shard {other_name!r}.",
                    hint=f"'bethink admin shards list' shows it. If not, add it as {other_name!r}.",
                )
            tx.run("set_deployment_value", name=_MEMBER, value=membership)
            return jobs.spaces(tx, limit=NO_LIMIT, after="")

        spaces = await database.transact(join, repeatable=True)
        try:
            await directory.add(name, dsn, weight=weight, spaces=spaces)
        except DuplicateError:  # it is a shard only if another process added it; after other errors, it may be one
            existing = (await directory.shards()).get(name)
            if existing is None or existing.dsn != dsn:
                await database.transact(lambda tx: tx.run("drop_deployment_key", name=_MEMBER), repeatable=True)
            raise
    finally:
        await database.close()
    return len(spaces)


async def move_space(shards: Shards, space: str, to: str) -> MoveReport:
    """Move a space to a shard, or finish a move that was interrupted. Raises like `SpaceMove.run`."""
    return await SpaceMove(shards.directory, shards.database).run(space, to)


async def drain_shard(shards: Shards, name: str) -> AsyncGenerator[MoveReport]:
    """Close a shard for new spaces, and move its spaces to the emptiest other shards. Yields each move.

    After an interruption, a second call continues.
    """
    await shards.directory.set_state(name, ShardState.DRAINING)
    for space, source, target in await shards.directory.moves():
        if source == name:
            yield await move_space(shards, space, target)
    after = ""
    while names := await shards.directory.spaces_of(name, after=after):
        for space in names:
            yield await move_space(shards, space, await shards.directory.emptiest(exclude=name))
        after = names[-1]
