"""The verbs of an installation: spaces, learning, audits and keys."""

from typing import Annotated

from bethink.frozen import frozen
from bethink.model.access import KeyInfo, NewKey, Scope
from bethink.model.checks import Between, Length, any_of
from bethink.model.jobs import Audit, JobKind, RunReport
from bethink.model.moments import Moment
from bethink.model.verbs.base import Empty, Limit, Name, Request, Retry, Verb, served_by

KEYS, OPERATE = Scope.KEYS, Scope.OPERATE
_YEAR = 366 * 86_400


@frozen
class ListSpacesRequest(Request):
    """A page of spaces."""

    limit: Limit = 100
    """How many names to return at most."""
    after: str = ""
    """Only spaces that follow this one: the last name of the previous page."""


@frozen
class LearnRequest(Request):
    """What to learn."""

    only: tuple[JobKind, ...] | None = None
    """Only these kinds of jobs."""

    def __post_init__(self) -> None:
        if self.only is not None:
            object.__setattr__(self, "only", any_of("only", self.only, JobKind))
        Request.__post_init__(self)


@frozen
class CreateKeyRequest(Request):
    """A key to make."""

    name: Name
    """What it is for."""
    scopes: Annotated[tuple[Scope, ...], Length(1, 10)]
    """What it allows."""
    spaces: Annotated[tuple[Name, ...], Length(1, 1_000)] | None = None
    """The spaces that it opens; all of them, if left out."""
    expires_at: Moment | None = None
    """When it stops working; never, if left out."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "scopes", any_of("scopes", self.scopes, Scope))
        Request.__post_init__(self)


@frozen
class KeyRequest(Request):
    """One key."""

    prefix: Name
    """The key's prefix, which is not secret."""


@frozen
class RotateKeyRequest(KeyRequest):
    """A key to replace."""

    overlap: Annotated[float, Between(0, _YEAR)] = 86_400.0
    """For how many seconds the old key still works."""


_MISSING = "NotFound: if no key has this prefix."

LIST_SPACES: Verb[ListSpacesRequest, list[str]] = Verb(
    "memory.list_spaces", ListSpacesRequest, list[str], "GET /spaces", OPERATE, Retry.SAFE,
    "List the names of all spaces that hold anything, in order.",
)  # fmt: skip
AUDIT: Verb[Empty, Audit] = Verb(
    "memory.audit", Empty, Audit, "GET /audit", OPERATE, Retry.SAFE,
    "Count the jobs that are not done by status, what was spent today, and violations of invariants.",
)  # fmt: skip
LEARN: Verb[LearnRequest, RunReport] = Verb(
    "memory.learn", LearnRequest, RunReport, "POST /learn", OPERATE, Retry.ONCE,
    "Learn once from everything that is marked, in all spaces, and report what came of it.",
    timed=False,
    details=(
        "It waits for what this process has already begun in the background, and the report includes what was learnt "
        "there since the last call. It does not wait for other processes. What changed is then sent to webhooks, "
        "unless `only` is given."
    ),
)  # fmt: skip
CREATE_KEY: Verb[CreateKeyRequest, NewKey] = Verb(
    "keys.create", CreateKeyRequest, NewKey, "POST /keys", KEYS, Retry.ONCE,
    "Create a key. Its text is returned here and can never be read again.",
    status=201,
    raises="Invalid: for more than the key of the caller allows: a scope, a space, or a later end.",
)  # fmt: skip
LIST_KEYS: Verb[Empty, list[KeyInfo]] = Verb(
    "keys.all", Empty, list[KeyInfo], "GET /keys", KEYS, Retry.SAFE,
    "List all keys, the oldest first, with those that expired or were revoked.",
)  # fmt: skip
ROTATE_KEY: Verb[RotateKeyRequest, NewKey] = Verb(
    "keys.rotate", RotateKeyRequest, NewKey, "POST /keys/{prefix}/rotate", KEYS, Retry.ONCE,
    "Replace a key with one that allows the same. The old one expires after an overlap.",
    status=201,
    raises=f"{_MISSING} Conflict: if it is no longer valid. Invalid: if it allows more than the key of the caller.",
)  # fmt: skip
REVOKE_KEY: Verb[KeyRequest, None] = Verb(
    "keys.revoke", KeyRequest, None, "DELETE /keys/{prefix}", KEYS, Retry.IDEMPOTENT,
    "Revoke a key, in this process at once and in others within seconds.",
    status=204,
    raises=_MISSING,
)  # fmt: skip

VERBS = (LIST_SPACES, AUDIT, LEARN, CREATE_KEY, LIST_KEYS, ROTATE_KEY, REVOKE_KEY)
served_by("bethink.jobs.service", LIST_SPACES, AUDIT, LEARN)
served_by("bethink.audit.keys", CREATE_KEY, LIST_KEYS, ROTATE_KEY, REVOKE_KEY)
