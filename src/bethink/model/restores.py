"""Restores of a database from a backup."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self

from bethink.base.frozen import frozen
from bethink.model.moments import from_micros, to_micros


@frozen
class Restore:
    """A restore of the database: its time, the time of the backup, and the number of replayed tombstones."""

    restored_at: datetime
    backup_at: datetime
    tombstones: int = 0

    @property
    def epoch(self) -> int:
        """Return the epoch that starts with this restore. Later numbers are greater than it."""
        return to_micros(self.restored_at)

    def __str__(self) -> str:
        return (
            f"This database was restored on {self.restored_at:%Y-%m-%d at %H:%M:%S} UTC from a backup of "
            f"{self.backup_at:%Y-%m-%d %H:%M:%S} UTC. Writes in between are lost."
        )

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Build a restore from its row."""
        restored, backup = from_micros(row["epoch"]), from_micros(row["backup_at"])
        return cls(restored_at=restored, backup_at=backup, tombstones=row["tombstones"])
