"""The redactor that a Memory uses unless it is given another."""

from typing import TYPE_CHECKING

from bethink.store.db import Database

if TYPE_CHECKING:  # its rules take a while to compile, and not every process writes
    from bethink.providers.redaction import SecretRedactor


def redactor_for(database: Database | None, *, key: str = "") -> "SecretRedactor":
    """Return our own rules; fingerprints are made with `key`, or with one that the database keeps."""
    from bethink.providers.redaction import SecretRedactor  # noqa: PLC0415 - see above

    if key:
        return SecretRedactor(key.encode())
    return SecretRedactor(lambda: b"" if database is None else database.fingerprint_key)
