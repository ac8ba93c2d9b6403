"""The last steps of a move, once it is decided. Both the mover and a client that finds them undone take them."""

from bethink.extensions.storage import Database
from bethink_shards import marks
from bethink_shards.directory import Directory
from bethink_shards.marks import MoveMark


async def open_arrived(target: Database, *, space: str, token: str) -> bool:
    """Let everyone use a space in its new shard, and return whether they may."""
    await target.transact(lambda tx: marks.settle(tx, space=space, token=token), repeatable=True)
    return await target.transact(lambda tx: marks.find(tx, space=space), read=True) is None


async def switch(directory: Directory, *, space: str, source: str, mark: MoveMark) -> None:
    """Say in the directory that a space is where its old shard says it went."""
    await directory.switch(space, source=source, target=mark.shard, version=mark.version)
