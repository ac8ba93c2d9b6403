"""Records of backups, restores, and checks of a database or backup."""

from datetime import datetime

from bethink.base.frozen import frozen


@frozen
class Counts:
    """Number of rows in a snapshot of a database."""

    spaces: int
    sessions: int
    messages: int
    schema_version: int
    epoch: int
    """Time of the last restore in microseconds, or 0."""
    server: int = 0
    """Major version of the database server, or 0."""


@frozen
class BackupManifest:
    """Description of a backup, in a file next to it."""

    database: str
    """`sqlite` or `postgres`."""
    began_at: datetime
    """Start of the backup. It contains all writes that were acknowledged before."""
    counts: Counts
    bytes: int
    sha256: str
    bethink: str
    """Version of Bethink that created the backup."""


@frozen
class RestoreReport:
    """Report of a restore."""

    restored_at: datetime
    backup_at: datetime
    counts: Counts
    """Contents of the backup."""
    tombstones: int
    """Number of replayed tombstones."""
    erased: int
    """Number of messages, facts and documents of the backup that were deleted again."""
    sources: tuple[str, ...]
    """Sources of the tombstones. Empty if deletions after the backup are unknown."""
    damaged: str = ""
    """New path of a damaged file that was replaced."""


@frozen
class BackupFinding:
    """A check and its result."""

    name: str
    ok: bool
    result: str
