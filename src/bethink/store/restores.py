"""The epoch of a database: its last restore from a backup, which invalidates older leases, tokens and sessions."""

from datetime import datetime

from bethink.model.moments import from_micros, to_micros
from bethink.model.restores import Restore
from bethink.store.db import Tx
from bethink.store.listeners import listeners

_SECURED_TABLES = ("spaces", "sessions", "threads", "changes")


def last(tx: Tx) -> Restore | None:
    """Return the last restore, if there was any."""
    row = tx.first("last_restore")
    return None if row is None else Restore.from_row(row)


def begin_epoch(tx: Tx, *, backup_at: datetime, tombstones: int) -> Restore:
    """Record that the database was restored, and invalidate everything issued after the backup.

    Leases are revoked, open sessions end, and each space records the restore. No older token or number is reused.
    """
    before = last(tx)
    epoch = max(to_micros(tx.now), 0 if before is None else before.epoch + 1)
    tx.set_row_security(_SECURED_TABLES, "NO FORCE")  # the owner of the tables must see all spaces
    tx.run("record_restore", epoch=epoch, backup_at=backup_at, tombstones=tombstones)
    tx.run("fence_jobs", epoch=epoch, now=tx.now)
    for listener in listeners():
        listener.on_restored(tx, epoch=epoch)
    tx.run("fence_steps", epoch=epoch)
    tx.run("end_open_sessions", now=tx.now)
    tx.run("record_restored", epoch=epoch, now=tx.now)
    tx.set_row_security(_SECURED_TABLES, "FORCE")
    return Restore(restored_at=from_micros(epoch), backup_at=backup_at, tombstones=tombstones)
