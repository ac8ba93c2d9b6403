"""The epoch of a database: when it was last restored from a backup."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self

from bethink.base.frozen import frozen
from bethink.model.moments import from_micros, to_micros


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

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        """Return it from its row."""
        restored, backup = from_micros(row["epoch"]), from_micros(row["backup_at"])
        return cls(restored_at=restored, backup_at=backup, tombstones=row["tombstones"])
