"""The last steps of a move, once it is decided. Both the mover and a client that finds them undone take them."""

from bethink.cells.directory import Directory
from bethink.store import moves
from bethink.store.db import Database
from bethink.store.moves import MoveMark


async def open_arrived(target: Database, *, space: str, token: str) -> bool:
    """Let everyone use a space in its new cell, and return whether they may."""
    await target.transact(lambda tx: moves.settle(tx, space=space, token=token), repeatable=True)
    return await target.transact(lambda tx: moves.find(tx, space=space), read=True) is None


async def switch(directory: Directory, *, space: str, source: str, mark: MoveMark) -> None:
    """Say in the directory that a space is where its old cell says it went."""
    await directory.switch(space, source=source, target=mark.cell, version=mark.version)
