"""Records of backups: what one holds, what a restore did, and what a look at a database or a backup found."""

from datetime import datetime

from bethink.base.frozen import frozen


@frozen
class Counts:
    """What a database holds, counted in one state of it."""

    spaces: int
    sessions: int
    messages: int
    schema_version: int
    epoch: int
    """When it was last restored, in microseconds; 0 if it never was."""
    server: int = 0
    """The major version of its server, if it has one."""


@frozen
class BackupManifest:
    """What a backup is: it stands beside the file, in a file of its own."""

    database: str
    """`sqlite` or `postgres`."""
    began_at: datetime
    """The mark: whatever was acknowledged before is in the backup."""
    counts: Counts
    bytes: int
    sha256: str
    bethink: str
    """The version that made it."""


@frozen
class Restored:
    """What a restore did."""

    restored_at: datetime
    backup_at: datetime
    counts: Counts
    """What the backup holds."""
    tombstones: int
    """How many tombstones were replayed."""
    erased: int
    """How many messages, facts and documents of the backup were erased again."""
    sources: tuple[str, ...]
    """Where tombstones were found; empty if there were none to say what was erased after the backup."""
    damaged: str = ""
    """Where a file went that could not be read and was replaced."""


@frozen
class BackupFinding:
    """One thing that was checked, and what was found."""

    name: str
    ok: bool
    found: str
