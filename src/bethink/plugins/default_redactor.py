"""The redactor that a Memory uses unless it is given another."""

import logging
from typing import TYPE_CHECKING

from bethink.extend import Redactor
from bethink.store.db import Database

if TYPE_CHECKING:  # its rules take a while to compile, and not every process writes
    from bethink.plugins.redaction import SecretRedactor

_LOGGERS = ("bethink", "bethink.learn", "bethink.redaction", "bethink.store", "bethink.worker")


def redactor_for(database: Database | None, *, key: str = "") -> "SecretRedactor":
    """Return our own rules; fingerprints are made with `key`, or with one that the database keeps."""
    from bethink.plugins.redaction import SecretRedactor  # noqa: PLC0415 - see above

    if key:
        return SecretRedactor(key.encode())
    return SecretRedactor(lambda: b"" if database is None else database.fingerprint_key)


def guard_logs(redactor: Redactor) -> None:
    """Let nothing through our own loggers that the redactor would cut. They write ids and counts; this is the net."""
    from bethink.plugins.redaction import RedactingFilter  # noqa: PLC0415 - see above

    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(each, RedactingFilter) for each in logger.filters):
            logger.addFilter(RedactingFilter(redactor))
