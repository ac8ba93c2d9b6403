"""Notifies features of changes, in the same transaction: a module `changes.py` of a feature listens as `LISTENER`."""

from functools import cache
from typing import Protocol

from bethink.base.features import modules_named
from bethink.store.db import Tx


class ChangeListener(Protocol):
    """A feature that stores which changes it must still deliver."""

    def on_recorded(self, tx: Tx, *, space: str, first: int, last: int) -> None:
        """Note that a space has new changes, numbered from `first` to `last`."""
        ...

    def on_space_deleted(self, tx: Tx, *, space: str) -> None:
        """Delete the records of a deleted space."""
        ...

    def on_restored(self, tx: Tx, *, epoch: int) -> None:
        """Revoke every lease: the database was restored from a backup. New tokens start at `epoch`."""
        ...


@cache
def listeners() -> tuple[ChangeListener, ...]:
    """Return every feature that listens."""
    return tuple(module.LISTENER for module in modules_named("changes"))
