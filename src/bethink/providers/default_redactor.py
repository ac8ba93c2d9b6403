"""The redactor that a Memory uses by default."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from bethink.store.db import Database

if TYPE_CHECKING:  # its rules take a while to compile, and not every process needs them
    from bethink.providers.redaction import SecretRedactor


def redactor_for(database: Database | None, *, key: str = "", also: Collection[str] = ()) -> "SecretRedactor":
    """Return the built-in redactor. Fingerprints use `key`, or else the key in the database.

    It also removes personal numbers of the kinds in `also`.
    """
    from bethink.providers.redaction import SecretRedactor  # noqa: PLC0415 - see above

    if key:
        return SecretRedactor(key.encode(), also=also)
    return SecretRedactor(lambda: b"" if database is None else database.fingerprint_key, also=also)
