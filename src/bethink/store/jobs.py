"""Promised work: the one table read across spaces, so it holds ids, times and tokens only."""

from bethink.store.db import Tx


def queue(tx: Tx, *, space: str, kind: str, key: str) -> None:
    """Promise work once; promising it again keeps its place in the queue."""
    tx.run("queue_job", space=space, kind=kind, key=key, now=tx.now)


def drop(tx: Tx, *, space: str, kind: str, key: str) -> None:
    """Strike out a promise."""
    tx.run("drop_job", space=space, kind=kind, key=key)
