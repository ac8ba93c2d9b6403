"""Operations on API keys."""

from typing import Annotated

from bethink.base.frozen import frozen
from bethink.model.access import KeyInfo, NewKey, Scope
from bethink.model.checks import Between, Length, any_of
from bethink.model.moments import Moment
from bethink.model.operations.base import Empty, HandleClass, Name, Request, Retry, Verb, served_by

KEYS = Scope.KEYS
_YEAR = 366 * 86_400


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

VERBS = served_by("bethink.features.keys.service", CREATE_KEY, LIST_KEYS, ROTATE_KEY, REVOKE_KEY)
HANDLE = HandleClass(
    name="keys",
    class_name="Keys",
    parent="memory",
    summary="The API keys that give callers of a server access to this memory.",
)
