"""The manifest of a backup: a small JSON file beside it."""

import json
from dataclasses import asdict
from hashlib import file_digest
from pathlib import Path

from bethink.errors import Corrupt
from bethink.model.backups import BackupManifest, Counts
from bethink.model.moments import from_micros, to_micros

_FORMAT = "bethink backup 1"
"""The first key of every manifest; its number grows with the format."""


def path_of(file: Path) -> Path:
    """Return where the manifest of a backup is."""
    return file.with_name(f"{file.name}.json")


def write(file: Path, manifest: BackupManifest) -> None:
    """Write the manifest of a backup."""
    values = {_FORMAT: True, **asdict(manifest), "began_at": to_micros(manifest.began_at)}
    path = path_of(file)
    path.touch(mode=0o600)
    path.write_text(f"{json.dumps(values, indent=2)}\n", encoding="utf-8")


def read(file: Path) -> BackupManifest | None:
    """Return the manifest of a backup; None if it has none. Raises `Corrupt` if it cannot be read."""
    path = path_of(file)
    if not path.exists():
        return None
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        del values[_FORMAT]
        counts = Counts(**values.pop("counts"))
        return BackupManifest(**values | {"counts": counts, "began_at": from_micros(values["began_at"])})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Corrupt(f"{path} is not the manifest of a backup.", hint="Copy it again with its backup.") from error


def digest(file: Path) -> str:
    """Return the SHA-256 of a file."""
    with file.open("rb") as opened:
        return file_digest(opened, "sha256").hexdigest()


def check(file: Path, manifest: BackupManifest) -> None:
    """Raise `Corrupt` if a backup is not, byte for byte, what its manifest says."""
    size = file.stat().st_size
    if size != manifest.bytes:
        raise Corrupt(f"{file} has {size} bytes, and was written with {manifest.bytes}.", hint="Use another copy.")
    if digest(file) != manifest.sha256:
        raise Corrupt(f"{file} was changed since it was written.", hint="Use another copy.")
