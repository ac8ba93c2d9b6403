"""What a server refuses, as the error that the same call on a Memory would raise."""

import json
from typing import Any, cast

from bethink import errors
from bethink.errors import BethinkError, Denied, Invalid, Misconfigured, NotFound, OutcomeUnknown, Stale, Unavailable

_MOST = 300
_NO_PATH = "NoSuchPath"
_NOT_HERE = "Give the address of a Bethink server, without /v1; or is it older than this client?"


def error_for(status: int, body: bytes, *, reads: bool) -> tuple[BethinkError, bool]:
    """Return the error that an answer stands for, and whether the server says that nothing was done."""
    problem = _problem(body)
    code = str(problem.get("code", ""))
    said = str(problem.get("detail") or problem.get("title") or f"the server answered with status {status}.")[:_MOST]
    hint = str(problem["hint"])[:_MOST] if problem.get("hint") else None
    kind = getattr(errors, code, None)
    if kind is Stale:
        current = problem.get("current")
        return Stale(said, current=current if isinstance(current, int) else None, hint=hint), False
    if isinstance(kind, type) and issubclass(kind, BethinkError):
        return kind(said, hint=hint), issubclass(kind, Unavailable)
    if status in {401, 403}:
        return Denied(said, hint=hint), False
    if status == 429 or (status == 503 and code):
        return Unavailable(said, hint=hint), True
    if status >= 500:
        return lost(said, reads=reads, hint=hint), False
    if status == 404 and code and code != _NO_PATH:
        return NotFound(said, hint=hint), False
    if status >= 400 and code and code != _NO_PATH:
        return Invalid(said, hint=hint), False
    return Misconfigured(f"the server answered with status {status}.", hint=_NOT_HERE), False


def lost(said: str, *, reads: bool, hint: str | None = None) -> BethinkError:
    """Return the error for a request that may have been carried out: a read has at least changed nothing."""
    return (Unavailable if reads else OutcomeUnknown)(said, hint=hint)


def _problem(body: bytes) -> dict[str, Any]:
    try:
        found: object = json.loads(body)
    except ValueError:
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
