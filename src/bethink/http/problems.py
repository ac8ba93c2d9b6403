"""Problem details (RFC 9457): converts errors into responses."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from bethink.base.frozen import frozen
from bethink.errors import (
    BethinkError,
    ConflictError,
    DatabaseUnavailableError,
    InvalidFieldError,
    InvalidRequestError,
    ModelError,
    ModelUnavailableError,
    NotFoundError,
    OutcomeUnknownError,
    VersionConflictError,
)

MEDIA_TYPE = "application/problem+json"
_RETRY_AFTER = 1


@frozen
class Problem:
    """An error response. `more` has additional members, such as `current`."""

    status: int
    title: str
    detail: str = ""
    hint: str = ""
    code: str
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])
    headers: Sequence[tuple[bytes, bytes]] = ()

    def body(self) -> bytes:
        """Return the problem as JSON."""
        members = {
            "type": "about:blank",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "hint": self.hint,
            "code": self.code,
            **self.more,
        }
        return json.dumps(members, ensure_ascii=False).encode("utf-8", "replace")


class RefusedRequest(Exception):
    """A request was rejected."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.title)
        self.problem = problem


def retry_after(seconds: float) -> tuple[bytes, bytes]:
    """Return the `Retry-After` header, in whole seconds and at least one."""
    return (b"retry-after", str(max(1, min(3600, math.ceil(seconds)))).encode())


def problem_for(error: Exception) -> Problem:
    """Return the response for an error. Details of server errors appear only in the log."""
    match error:
        case RefusedRequest():
            return error.problem
        case VersionConflictError():
            return _detailed_problem(error, 409, "Version conflict", more={"current": error.current})
        case ConflictError():
            return _detailed_problem(error, 409, "Conflict")
        case NotFoundError():
            return _detailed_problem(error, 404, "Not found")
        case InvalidRequestError():
            return _invalid(error)
        case _:
            return _server_problem(error)


def _detailed_problem(error: BethinkError, status: int, title: str, more: Mapping[str, Any] | None = None) -> Problem:
    detail = str(error.args[0]) if error.args else ""
    return Problem(
        status=status, title=title, detail=detail, hint=error.hint, code=type(error).__name__, more=more or {}
    )


def _invalid(error: InvalidRequestError) -> Problem:
    errors: list[dict[str, str]] = getattr(error, "errors", [])
    if isinstance(error, InvalidFieldError):
        errors = [{"at": error.field, "message": str(error.args[0]).removeprefix(f"{error.field} ")}]
    detail = str(error.args[0]) if error.args else ""
    more = {"errors": errors} if errors else {}
    return Problem(status=422, title="Invalid", detail=detail, hint=error.hint, code="InvalidRequestError", more=more)


def _server_problem(error: Exception) -> Problem:
    match error:
        case OutcomeUnknownError():
            # Without Retry-After: generic clients repeat every request that has one.
            return Problem(
                status=503,
                title="Outcome unknown",
                detail="The database connection was lost during the commit. The change may or may not be stored.",
                hint="Repeat the request with the same Idempotency-Key, or check the stored data first.",
                code="OutcomeUnknownError",
            )
        case DatabaseUnavailableError():
            return _unavailable_problem(error, "The database is unavailable. Nothing was written.")
        case ModelUnavailableError():
            seconds = _RETRY_AFTER if error.retry_after is None else error.retry_after
            return _unavailable_problem(error, "The model is unavailable.", seconds)
        case ModelError():
            code = type(error).__name__
            return Problem(status=502, title="Bad gateway", detail="The model returned no usable answer.", code=code)
        case _:
            return Problem(
                status=500,
                title="Internal error",
                detail="The server failed.",
                hint="Search the server log for the X-Request-Id.",
                code="InternalError",
            )


def _unavailable_problem(error: Exception, detail: str, seconds: float = _RETRY_AFTER) -> Problem:
    return Problem(
        status=503,
        title="Unavailable",
        detail=detail,
        hint="Try again later.",
        code=type(error).__name__,
        headers=[retry_after(seconds)],
    )


def refusal(
    status: int,
    title: str,
    detail: str,
    *,
    hint: str = "",
    code: str | None = None,
    headers: Sequence[tuple[bytes, bytes]] = (),
    more: Mapping[str, Any] | None = None,
) -> RefusedRequest:
    """Return the exception for a rejected request."""
    error_code = code or title.title().replace(" ", "")
    return RefusedRequest(
        Problem(status=status, title=title, detail=detail, hint=hint, code=error_code, headers=headers, more=more or {})
    )


SCHEMA: dict[str, Any] = {
    "title": "Problem",
    "type": "object",
    "description": "Problem details (RFC 9457). `code` names the error, `hint` the next step.",
    "required": ["type", "title", "status", "detail", "hint", "code"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "hint": {"type": "string"},
        "code": {"type": "string"},
        "current": {
            "anyOf": [{"type": "integer"}, {"type": "null"}],
            "description": "With code VersionConflictError: the current version.",
        },
        "errors": {
            "type": "array",
            "description": "With code InvalidRequestError: the invalid fields.",
            "items": {
                "type": "object",
                "properties": {"at": {"type": "string"}, "message": {"type": "string"}},
            },
        },
    },
}

_DESCRIPTIONS = {
    400: "The request cannot be read.",
    401: "The key is missing, unknown, expired or revoked.",
    403: "The key lacks the scope, or the origin of the web page is not allowed.",
    404: "Not found, or the key does not allow the space.",
    409: "The request conflicts with the stored data.",
    408: "The body did not arrive in time.",
    413: "Too large: the body, a message, or the number of messages.",
    415: "The body is not JSON.",
    421: "The Host header names another server.",
    422: "The request is not valid.",
    429: "Too many requests with this key.",
    502: "The model returned no usable answer.",
    503: "The server is busy, or the database is unavailable.",
}
_RETRYABLE = (429, 503)


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe the errors of a route for the OpenAPI document."""
    return {status: _error_response(status) for status in statuses}


def _error_response(status: int) -> dict[str, Any]:
    response: dict[str, Any] = {
        "description": _DESCRIPTIONS[status],
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    if status in _RETRYABLE:
        response["headers"] = {
            "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}}
        }
    if status == 401:
        response["headers"] = {"WWW-Authenticate": {"schema": {"type": "string"}}}
    return response
