"""Authentication and authorization: the key of a request, its scopes and its spaces."""

from collections.abc import Sequence
from typing import Any

from bethink.http.limits import Guesses
from bethink.http.problems import refusal
from bethink.memory.access.keys import KeyRing
from bethink.model.access import EVERYWHERE, KeyInfo, Scope
from bethink.model.operations.base import Operation
from bethink.model.operations.installation import LEARN

_BEARER = "bearer "
_MAX_HEADER = 200


async def authenticate(keys: KeyRing, guesses: Guesses, address: str, header: str | None) -> KeyInfo:
    """Return the key in an `Authorization` header.

    Rejects a missing or invalid key with 401, and an address with too many wrong keys with 429.
    """
    key = await find_key(keys, guesses, address, header)
    if key is not None:
        return key
    raise refusal(
        401,
        "Unauthorized",
        "This needs a valid key.",
        hint="Send `Authorization: Bearer KEY`. Create a key with `bethink admin keys create`.",
        headers=[(b"www-authenticate", b'Bearer realm="bethink"')],
    )


async def find_key(keys: KeyRing, guesses: Guesses, address: str, header: str | None) -> KeyInfo | None:
    """Return the key in an `Authorization` header, or None without a valid key."""
    value = header or ""
    if value[: len(_BEARER)].lower() != _BEARER or len(value) > _MAX_HEADER:
        return None
    return await try_key(keys, guesses, address, value[len(_BEARER) :].strip())


async def try_key(keys: KeyRing, guesses: Guesses, address: str, text: str) -> KeyInfo | None:
    """Return a key, or None if it is invalid. Invalid keys count against the sender's address."""
    if not keys.was_valid(text):  # a known key is not blocked by other callers at the same address
        guesses.check(address)
    key = await keys.find(text)
    if key is None:
        guesses.count(address)
    return key


def scopes_of(operation: Operation[Any, Any]) -> tuple[Scope, ...]:
    """Return the scopes that an operation requires."""
    return (operation.scope, Scope.READ) if operation.also_reads else (operation.scope,)


def authorize(key: KeyInfo, operation: Operation[Any, Any], *, space: str | None) -> None:
    """Reject an operation or a space that the key does not allow. See `require`."""
    if operation is LEARN and key.spaces is not None and not key.allows_scope(operation.scope):
        hint = "Learn in one space: `space.admin.learn()`, or `bethink doc update --space SPACE`."
        raise _lacks_scope(operation.scope, hint)
    require(key, scopes_of(operation), space=space, everywhere=operation.everywhere)


def require(key: KeyInfo, scopes: Sequence[Scope], *, space: str | None = None, everywhere: bool = False) -> None:
    """Reject a key without a scope with 403, and a space that the key does not allow with 404.

    A space that the key does not allow looks exactly like one that does not exist. `everywhere` requires a key for all
    spaces.
    """
    for scope in scopes:
        if not key.allows_scope(scope):
            everything = " for all spaces" if key.spaces is not None and scope in EVERYWHERE else ""
            raise _lacks_scope(scope, f"Create a key{everything} with this scope: {_command(key, scope)}")
    if everywhere and key.spaces is not None:
        raise refusal(
            403,
            "Forbidden",
            "This request needs a key for all spaces.",
            hint="Create a key for all spaces: bethink admin keys create NAME --scope read",
        )
    if space is not None and not key.allows_space(space):
        raise refusal(404, "Not found", "No such space.", hint="Check the space and the key.", code="NotFoundError")


def _lacks_scope(scope: Scope, hint: str) -> Exception:
    return refusal(
        403,
        "Forbidden",
        f"This key lacks the scope {scope}.",
        hint=hint,
        headers=[(b"www-authenticate", f'Bearer error="insufficient_scope", scope="{scope}"'.encode())],
    )


def _command(key: KeyInfo, scope: Scope) -> str:
    """Return the command that creates a key with this scope and those of `key`."""
    scopes = " ".join(f"--scope {candidate}" for candidate in Scope if candidate in key.scopes or candidate is scope)
    some = "" if key.spaces is None or scope in EVERYWHERE else " --space SPACE"
    return f"bethink admin keys create NAME {scopes}{some}"
