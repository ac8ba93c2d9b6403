"""Rejects transactions on a space that is moving to another database, or has moved there.

A transaction reads the row of its space in the statement that begins it. That statement also takes a shared lock on
`schema_now` before it looks, so the process that marks a space waits for the holders of this lock: a writer that begins
later sees the mark, and those that began before have ended. bethink-shards writes the marks.
"""

from bethink.errors import SpaceMovedError


def check_not_moved(mark: str, *, space: str, read_only: bool, own: str) -> None:
    """Raise `SpaceMovedError` if a transaction may not use a space here. A space that is leaving may still be read.

    `mark` has the state of the space and the token of its move; transactions of the move itself have the same token.
    """
    state, _, token = mark.partition(" ")
    if (own and token == own) or (read_only and state == "leaving"):
        return
    if state == "gone":
        raise SpaceMovedError(f"Space {space!r} has moved to another shard.")
    raise SpaceMovedError(f"Space {space!r} is moving to another shard.")
