"""Converts error responses of a server to the errors that a local memory would raise."""

import json
from typing import Any, cast

from bethink import errors
from bethink.errors import (
    BethinkError,
    ConfigurationError,
    DatabaseUnavailableError,
    InvalidRequestError,
    NotFoundError,
    OutcomeUnknownError,
    PermissionDeniedError,
    VersionConflictError,
)

_MAX_LENGTH = 300
_NO_PATH = "NoSuchPath"
_WRONG_ADDRESS_HINT = "Pass the address of a Bethink server, without /v1, of at least this client's version."


def error_for(status: int, body: bytes, *, read_only: bool) -> tuple[BethinkError, bool]:
    """Return the error of a response, and whether the server reports that nothing was changed."""
    problem = _problem(body)
    code = str(problem.get("code", ""))
    message = str(problem.get("detail") or problem.get("title") or f"The server responded with status {status}.")[
        :_MAX_LENGTH
    ]
    hint = str(problem["hint"])[:_MAX_LENGTH] if problem.get("hint") else None
    kind = getattr(errors, code, None)
    if kind is VersionConflictError:
        current = problem.get("current")
        return VersionConflictError(message, current=current if isinstance(current, int) else None, hint=hint), False
    if isinstance(kind, type) and issubclass(kind, BethinkError):
        return kind(message, hint=hint), issubclass(kind, DatabaseUnavailableError)
    if status in {401, 403}:
        return PermissionDeniedError(message, hint=hint), False
    if status == 429 or (status == 503 and code):
        return DatabaseUnavailableError(message, hint=hint), True
    if status >= 500:
        return connection_error(message, read_only=read_only, hint=hint), False
    if status == 404 and code and code != _NO_PATH:
        return NotFoundError(message, hint=hint), False
    if status >= 400 and code and code != _NO_PATH:
        return InvalidRequestError(message, hint=hint), False
    return ConfigurationError(f"The server responded with status {status}.", hint=_WRONG_ADDRESS_HINT), False


def connection_error(message: str, *, read_only: bool, hint: str | None = None) -> BethinkError:
    """Return the error for a request without a response. A write may have succeeded; a read changed nothing."""
    return (DatabaseUnavailableError if read_only else OutcomeUnknownError)(message, hint=hint)


def _problem(body: bytes) -> dict[str, Any]:
    try:
        parsed: object = json.loads(body)
    except ValueError:
        return {}
    return cast("dict[str, Any]", parsed) if isinstance(parsed, dict) else {}
