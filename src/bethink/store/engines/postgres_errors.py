"""What PostgreSQL's errors mean: which end the connection, and which of our errors they become."""

import re

import psycopg
from psycopg import errors as pg

from bethink.errors import BethinkError, Busy, Conflict, Duplicate, Invalid, Misconfigured, StoreError, Unavailable

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
    """Return whether a pooler refused what only a server takes when a connection starts."""
    return _POOLER.search(str(error)) is not None


def refused(error: psycopg.Error) -> Misconfigured | None:
    """Return the error for a connection that will always be refused; None for any other error."""
    if _REFUSED.search(str(error)):
        hint = "Check role, password and database."
    elif comes_from_pooler(error):
        hint = "Take 'options' out of the address and out of PGOPTIONS: a pooler does not pass them on."
    else:
        return None
    return Misconfigured(f"the server refused the connection: {brief(error)}.", hint=hint)


def translated(error: psycopg.Error, *, lost: bool) -> BethinkError:
    """Convert a driver error to one of ours."""
    if lost:
        return Unavailable(f"the database cannot be reached: {brief(error)}.")
    match error:
        case psycopg.DataError() | pg.ProgramLimitExceeded():
            # An index limits the size: retrying never makes a name, a key or a subject shorter.
            return Invalid(
                f"the database cannot store this value: {brief(error)}.", hint="Use a shorter or simpler value."
            )
        case pg.UniqueViolation():
            return Duplicate(f"already exists: {brief(error)}.")
        case psycopg.IntegrityError():
            return Conflict(f"rejected by the schema: {brief(error)}.")
        case pg.SerializationFailure() | pg.DeadlockDetected() | pg.LockNotAvailable() | pg.QueryCanceled():
            return Busy(f"waited too long for other transactions: {brief(error)}.")
        case pg.InsufficientPrivilege():
            return Misconfigured(
                f"the database role lacks a privilege: {brief(error)}.",
                hint="Make the role that Bethink connects as the owner of its tables.",
            )
        case psycopg.OperationalError():
            return Unavailable(f"the database is unavailable: {brief(error)}.")
        case _:
            return StoreError(f"{type(error).__name__}: {brief(error)}.")
