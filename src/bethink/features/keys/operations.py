"""Operations on API keys."""

from typing import Annotated

from bethink.base.frozen import frozen
from bethink.model.access import KeyInfo, NewKey, Scope
from bethink.model.checks import Between, Length, any_of
from bethink.model.moments import Moment
from bethink.model.operations.base import Empty, HandleClass, Name, Operation, Request, Retry, served_by
from bethink.model.paging import Page

KEYS = Scope.KEYS
_MAX_OVERLAP = 366 * 86_400


@frozen
class CreateKeyRequest(Request):
    """An API key to create."""

    name: Name
    """Name of the key, such as its purpose."""
    scopes: Annotated[tuple[Scope, ...], Length(1, 10)]
    """Scopes of the key."""
    spaces: Annotated[tuple[Name, ...], Length(1, 1_000)] | None = None
    """Names of the spaces that the key can access (default: all spaces)."""
    expires_at: Moment | None = None
    """Expiry time (default: never)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "scopes", any_of("scopes", self.scopes, Scope))
        Request.__post_init__(self)


@frozen
class KeyRequest(Request):
    """One API key."""

    prefix: Name
    """Prefix of the key, which is not secret."""


@frozen
class RotateKeyRequest(KeyRequest):
    """An API key to replace."""

    overlap: Annotated[float, Between(0, _MAX_OVERLAP)] = 86_400.0
    """Number of seconds that the old key stays valid (default 86,400: one day)."""


_NOT_FOUND = "NotFoundError: if no key has this prefix."

CREATE_KEY: Operation[CreateKeyRequest, NewKey] = Operation(
    "memory.admin.keys.create", CreateKeyRequest, NewKey, "POST /keys", KEYS, Retry.ONCE,
    "Create an API key. The key itself is returned only once.",
    status=201,
    raises="InvalidRequestError: if a scope, a space or the expiry exceeds the key of the caller.",
)  # fmt: skip
LIST_KEYS: Operation[Empty, Page[KeyInfo]] = Operation(
    "memory.admin.keys.list", Empty, Page[KeyInfo], "GET /keys", KEYS, Retry.SAFE,
    "List all API keys, including expired and revoked ones. Oldest first.",
)  # fmt: skip
ROTATE_KEY: Operation[RotateKeyRequest, NewKey] = Operation(
    "memory.admin.keys.rotate", RotateKeyRequest, NewKey, "POST /keys/{prefix}/rotate", KEYS, Retry.ONCE,
    "Replace an API key with a new one. The old key expires after `overlap` seconds.",
    status=201,
    raises=(
        f"{_NOT_FOUND} ConflictError: if the key is no longer valid. "
        "InvalidRequestError: if the key allows more than the key of the caller."
    ),
)  # fmt: skip
REVOKE_KEY: Operation[KeyRequest, None] = Operation(
    "memory.admin.keys.revoke", KeyRequest, None, "DELETE /keys/{prefix}", KEYS, Retry.IDEMPOTENT,
    "Revoke an API key, in this process immediately and in others within seconds.",
    status=204,
    raises=_NOT_FOUND,
)  # fmt: skip

OPERATIONS = served_by("bethink.features.keys.service", CREATE_KEY, LIST_KEYS, ROTATE_KEY, REVOKE_KEY)
HANDLES = (HandleClass(path="memory.admin.keys", class_name="Keys", summary="The API keys of a server."),)
