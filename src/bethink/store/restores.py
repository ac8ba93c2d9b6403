"""The epoch of a database: when it was last restored from a backup, and what from before that is no longer valid."""

from datetime import datetime

from bethink.base.frozen import frozen
from bethink.model.moments import from_micros, to_micros
from bethink.store.db import Tx

_WALLED = ("spaces", "sessions", "threads", "changes")


@frozen
class Restore:
    """One time that the database was restored: when, from a backup made when, and how many tombstones were replayed."""

    restored_at: datetime
    backup_at: datetime
    tombstones: int = 0

    @property
    def epoch(self) -> int:
        """What tells the time since this restore from all before: whatever is numbered goes on above it."""
        return to_micros(self.restored_at)

    def __str__(self) -> str:
        return (
            f"This memory was restored on {self.restored_at:%Y-%m-%d at %H:%M:%S} UTC from a backup of "
            f"{self.backup_at:%Y-%m-%d %H:%M:%S} UTC: what was stored in between is not in it."
        )


def last(tx: Tx) -> Restore | None:
    """Return the last restore, if there was any."""
    row = tx.one("last_restore")
    if row is None:
        return None
    return Restore(
        restored_at=from_micros(row["epoch"]), backup_at=from_micros(row["backup_at"]), tombstones=row["tombstones"]
    )


def begin_epoch(tx: Tx, *, backup_at: datetime, tombstones: int) -> Restore:
    """Record that the database was restored, and void what was handed out after the backup.

    Claims are revoked, open sessions end, and each space is told; no token or number from before is given out again.
    """
    before = last(tx)
    epoch = max(to_micros(tx.now), 0 if before is None else before.epoch + 1)
    tx.set_walls(_WALLED, "NO FORCE")  # the owner of the tables must see all spaces
    tx.run("record_restore", epoch=epoch, backup_at=backup_at, tombstones=tombstones)
    tx.run("fence_jobs", epoch=epoch, now=tx.now)
    tx.run("fence_queues", epoch=epoch, now=tx.now)
    tx.run("fence_steps", epoch=epoch)
    tx.run("end_open_sessions", now=tx.now)
    tx.run("record_restored", epoch=epoch, now=tx.now)
    tx.set_walls(_WALLED, "FORCE")
    return Restore(restored_at=from_micros(epoch), backup_at=backup_at, tombstones=tombstones)
