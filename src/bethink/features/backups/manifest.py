"""The manifest of a backup: a small JSON file next to it."""

import json
from dataclasses import asdict
from hashlib import file_digest
from pathlib import Path

from bethink.errors import CorruptDatabaseError
from bethink.model.backups import BackupManifest, Counts
from bethink.model.moments import from_micros, to_micros

_FORMAT = "bethink backup 1"
"""First key of every manifest. Its number increases with the format."""


def path_of(file: Path) -> Path:
    """Return the path of a backup's manifest."""
    return file.with_name(f"{file.name}.json")


def write(file: Path, manifest: BackupManifest) -> None:
    """Write the manifest of a backup."""
    values = {_FORMAT: True, **asdict(manifest), "began_at": to_micros(manifest.began_at)}
    path = path_of(file)
    path.touch(mode=0o600)
    path.write_text(f"{json.dumps(values, indent=2)}\n", encoding="utf-8")


def load(file: Path) -> BackupManifest | None:
    """Return the manifest of a backup, or None. Raises `CorruptDatabaseError` if it is unreadable."""
    path = path_of(file)
    if not path.exists():
        return None
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        del values[_FORMAT]
        counts = Counts(**values.pop("counts"))
        return BackupManifest(**values | {"counts": counts, "began_at": from_micros(values["began_at"])})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorruptDatabaseError(
            f"{path} is not a backup manifest.", hint="Copy it again together with the backup."
        ) from error


def digest(file: Path) -> str:
    """Return the SHA-256 of a file."""
    with file.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def check(file: Path, manifest: BackupManifest) -> None:
    """Raise `CorruptDatabaseError` if a backup differs from its manifest in size or digest."""
    size = file.stat().st_size
    if size != manifest.bytes:
        raise CorruptDatabaseError(f"{file} is {size} bytes, expected {manifest.bytes}.", hint="Use another copy.")
    if digest(file) != manifest.sha256:
        raise CorruptDatabaseError(f"{file} was changed after it was created.", hint="Use another copy.")
