"""Problem details (RFC 9457): the one place where errors become answers."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from bethink.base.frozen import frozen
from bethink.errors import (
    BethinkError,
    Conflict,
    Invalid,
    ModelError,
    ModelUnavailable,
    NotFound,
    OutcomeUnknown,
    Stale,
    Unavailable,
)
from bethink.model.checks import InvalidField

MEDIA_TYPE = "application/problem+json"
_RETRY_AFTER = 1


@frozen
class Problem:
    """One answer that is not a success. `more` holds members beyond the usual ones, such as `current`."""

    status: int
    title: str
    detail: str = ""
    hint: str = ""
    code: str
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])
    headers: Sequence[tuple[bytes, bytes]] = ()

    def body(self) -> bytes:
        """Write it as JSON."""
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


class Refused(Exception):
    """A request is refused."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.title)
        self.problem = problem


def retry_after(seconds: float) -> tuple[bytes, bytes]:
    """Return the header that says when to come back, in whole seconds and at least one."""
    return (b"retry-after", str(max(1, min(3600, math.ceil(seconds)))).encode())


def problem_for(error: Exception) -> Problem:
    """Return the answer for an error. What is our own fault is told without detail, which is in the log."""
    match error:
        case Refused():
            return error.problem
        case Stale():
            return _told(error, 409, "Stale", more={"current": error.current})
        case Conflict():
            return _told(error, 409, "Conflict")
        case NotFound():
            return _told(error, 404, "Not found")
        case Invalid():
            return _invalid(error)
        case _:
            return _untold(error)


def _told(error: BethinkError, status: int, title: str, more: Mapping[str, Any] | None = None) -> Problem:
    said = str(error.args[0]) if error.args else ""
    return Problem(status=status, title=title, detail=said, hint=error.hint, code=type(error).__name__, more=more or {})


def _invalid(error: Invalid) -> Problem:
    errors: list[dict[str, str]] = getattr(error, "errors", [])
    if isinstance(error, InvalidField):
        errors = [{"at": error.field, "message": str(error.args[0]).removeprefix(f"{error.field} ")}]
    said = str(error.args[0]) if error.args else ""
    more = {"errors": errors} if errors else {}
    return Problem(status=422, title="Invalid", detail=said, hint=error.hint, code="Invalid", more=more)


def _untold(error: Exception) -> Problem:
    match error:
        case OutcomeUnknown():
            # Without Retry-After: programs that know nothing of us repeat whatever has one.
            return Problem(
                status=503,
                title="Outcome unknown",
                detail="The database was lost while committing: the change may or may not be stored.",
                hint="Repeat it with the same Idempotency-Key, which stores nothing twice, or read first.",
                code="OutcomeUnknown",
            )
        case Unavailable():
            return _away(error, "The database cannot be used right now; nothing was written.")
        case ModelUnavailable():
            seconds = _RETRY_AFTER if error.retry_after is None else error.retry_after
            return _away(error, "The model cannot be reached right now.", seconds)
        case ModelError():
            code = type(error).__name__
            return Problem(status=502, title="Bad gateway", detail="The model gave no usable answer.", code=code)
        case _:
            return Problem(
                status=500,
                title="Internal error",
                detail="The server failed.",
                hint="Look up the X-Request-Id in the server's log.",
                code="InternalError",
            )


def _away(error: Exception, detail: str, seconds: float = _RETRY_AFTER) -> Problem:
    return Problem(
        status=503,
        title="Unavailable",
        detail=detail,
        hint="Try again later.",
        code=type(error).__name__,
        headers=[retry_after(seconds)],
    )


def refused(
    status: int,
    title: str,
    detail: str,
    *,
    hint: str = "",
    code: str | None = None,
    headers: Sequence[tuple[bytes, bytes]] = (),
    more: Mapping[str, Any] | None = None,
) -> Refused:
    """Make a refusal to raise."""
    named = code or title.title().replace(" ", "")
    return Refused(
        Problem(status=status, title=title, detail=detail, hint=hint, code=named, headers=headers, more=more or {})
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
            "description": "With code Stale: the version that is current.",
        },
        "errors": {
            "type": "array",
            "description": "With code Invalid: what is wrong, and where.",
            "items": {
                "type": "object",
                "properties": {"at": {"type": "string"}, "message": {"type": "string"}},
            },
        },
    },
}

_SAID = {
    400: "The request cannot be read.",
    401: "No key, or one that is unknown, expired or revoked.",
    403: "The key lacks the scope, or the request comes from a web page that is not allowed.",
    404: "There is nothing by that name, or the key does not open the space.",
    409: "The request and what is stored disagree.",
    408: "The body did not arrive in time.",
    413: "Too large: the body, a message, or the number of messages.",
    415: "The body is not JSON.",
    421: "The Host header names another server.",
    422: "The request is not valid.",
    429: "Too many requests with this key.",
    502: "The model gave no usable answer.",
    503: "Too busy, or the database cannot be used right now.",
}
_RETRYING = (429, 503)


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe the errors of a route for the OpenAPI document."""
    return {status: _described(status) for status in statuses}


def _described(status: int) -> dict[str, Any]:
    said: dict[str, Any] = {
        "description": _SAID[status],
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    if status in _RETRYING:
        said["headers"] = {
            "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}}
        }
    if status == 401:
        said["headers"] = {"WWW-Authenticate": {"schema": {"type": "string"}}}
    return said
