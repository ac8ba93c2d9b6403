"""Classifies PostgreSQL errors: which ones end the connection, and how they are translated."""

import re

import psycopg
from psycopg import errors as pg

from bethink.errors import (
    BethinkError,
    ConfigurationError,
    ConflictError,
    DatabaseBusyError,
    DatabaseError,
    DatabaseUnavailableError,
    DuplicateError,
    InvalidRequestError,
)

_REFUSED = re.compile(
    r"(role|database) \".*\" does not exist|authentication failed|no password supplied|no pg_hba.conf entry"
)
_POOLER = re.compile(r"unsupported startup parameter")


def brief(error: psycopg.Error) -> str:
    """Return the message alone: the detail lines can quote stored text, which must not appear in an error message."""
    return error.diag.message_primary or str(error).partition("\n")[0]


def ends_connection(error: psycopg.Error) -> bool:
    """Return whether the connection cannot be used after this error."""
    if error.sqlstate:
        return error.diag.severity_nonlocalized in ("FATAL", "PANIC")
    # An error without a code comes from libpq and is about the connection. Its state cannot be trusted then: after a
    # failed write, libpq may still report the connection as idle.
    return isinstance(error, psycopg.OperationalError) or type(error) is psycopg.DatabaseError


def comes_from_pooler(error: psycopg.Error) -> bool:
    """Return whether a pooler rejected a startup parameter that only a server accepts."""
    return _POOLER.search(str(error)) is not None


def refusal_error(error: psycopg.Error) -> ConfigurationError | None:
    """Return the error for a connection that will always be rejected; None for any other error."""
    if _REFUSED.search(str(error)):
        hint = "Check role, password and database."
    elif comes_from_pooler(error):
        hint = "Remove 'options' from the address and from PGOPTIONS: a pooler does not forward them."
    else:
        return None
    return ConfigurationError(f"The server rejected the connection: {brief(error)}.", hint=hint)


def translate_error(error: psycopg.Error, *, disconnected: bool) -> BethinkError:
    """Convert a driver error to a Bethink error."""
    if disconnected:
        return DatabaseUnavailableError(f"Cannot reach the database: {brief(error)}.")
    match error:
        case psycopg.DataError() | pg.ProgramLimitExceeded():
            # An index limits the size: retrying never makes a name, a key or a subject shorter.
            return InvalidRequestError(
                f"The database cannot store this value: {brief(error)}.", hint="Use a shorter or simpler value."
            )
        case pg.UniqueViolation():
            return DuplicateError(f"Already exists: {brief(error)}.")
        case psycopg.IntegrityError():
            return ConflictError(f"Rejected by the schema: {brief(error)}.")
        case pg.SerializationFailure() | pg.DeadlockDetected() | pg.LockNotAvailable() | pg.QueryCanceled():
            return DatabaseBusyError(f"Waited too long for other transactions: {brief(error)}.")
        case pg.InsufficientPrivilege():
            return ConfigurationError(
                f"The database role lacks a privilege: {brief(error)}.",
                hint="Make the role that Bethink connects as the owner of its tables.",
            )
        case psycopg.OperationalError():
            return DatabaseUnavailableError(f"The database is unavailable: {brief(error)}.")
        case _:
            return DatabaseError(f"{type(error).__name__}: {brief(error)}.")
