"""Last steps of a decided move. The mover takes them, or a client if the mover stopped."""

from bethink.extensions.storage import Database
from bethink_shards import marks
from bethink_shards.directory import Directory
from bethink_shards.marks import MoveMark


async def open_target(target: Database, *, space: str, token: str) -> bool:
    """Open a space in its new shard, and return whether it is open."""
    await target.transact(lambda tx: marks.settle(tx, space=space, token=token), repeatable=True)
    return await target.transact(lambda tx: marks.find(tx, space=space), read_only=True) is None


async def switch(directory: Directory, *, space: str, source: str, mark: MoveMark) -> None:
    """Record in the directory the new shard of a space, as marked in its old shard."""
    await directory.switch(space, source=source, target=mark.shard, version=mark.version)
