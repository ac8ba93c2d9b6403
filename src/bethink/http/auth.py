"""Authentication and authorisation: the key of a request, what it allows, and which spaces it opens."""

from collections.abc import Sequence
from typing import Any

from bethink.http.limits import Guesses
from bethink.http.problems import refused
from bethink.memory.access.keys import KeyRing
from bethink.model.access import EVERYWHERE, KeyInfo, Scope
from bethink.model.operations.base import Verb

_BEARER = "bearer "
_MOST = 200


async def authenticate(keys: KeyRing, guesses: Guesses, address: str, header: str | None) -> KeyInfo:
    """Return what the key in an `Authorization` header allows.

    Refuses with 401 without a valid key, and with 429 an address that sent too many wrong ones.
    """
    found = await find_key(keys, guesses, address, header)
    if found is not None:
        return found
    raise refused(
        401,
        "Unauthorized",
        "This needs a valid key.",
        hint="Send Authorization: Bearer and a key; `bethink keys create` makes one.",
        headers=[(b"www-authenticate", b'Bearer realm="bethink"')],
    )


async def find_key(keys: KeyRing, guesses: Guesses, address: str, header: str | None) -> KeyInfo | None:
    """Return what the key in an `Authorization` header allows; None without a valid key."""
    given = header or ""
    if given[: len(_BEARER)].lower() != _BEARER or len(given) > _MOST:
        return None
    return await try_key(keys, guesses, address, given[len(_BEARER) :].strip())


async def try_key(keys: KeyRing, guesses: Guesses, address: str, text: str) -> KeyInfo | None:
    """Return what a key allows; None if it is none, which counts against the address it came from."""
    if not keys.was_valid(text):  # who already came in with this key is not kept out by others at the same address
        guesses.check(address)
    found = await keys.find(text)
    if found is None:
        guesses.count(address)
    return found


def scopes_of(verb: Verb[Any, Any]) -> tuple[Scope, ...]:
    """Return every scope that a key must have for a verb."""
    return (verb.scope, Scope.READ) if verb.also_reads else (verb.scope,)


def authorise(key: KeyInfo, verb: Verb[Any, Any], *, space: str | None) -> None:
    """Refuse a verb that the key does not allow, or a space that it does not open. See `require`."""
    require(key, scopes_of(verb), space=space, everywhere=verb.everywhere)


def require(key: KeyInfo, scopes: Sequence[Scope], *, space: str | None = None, everywhere: bool = False) -> None:
    """Refuse with 403 a key that lacks a scope, and with 404 a space that it does not open.

    A space that the key does not open looks exactly like one that does not exist. `everywhere` needs a key for all
    spaces.
    """
    for scope in scopes:
        if not key.allows(scope):
            raise refused(
                403,
                "Forbidden",
                f"This key lacks the scope {scope}.",
                hint=f"Create one that has it: {_command(key, scope)}",
                headers=[(b"www-authenticate", f'Bearer error="insufficient_scope", scope="{scope}"'.encode())],
            )
    if everywhere and key.spaces is not None:
        raise refused(
            403,
            "Forbidden",
            "This concerns all spaces, and the key is for some.",
            hint="Create one for all of them: bethink keys create NAME --scope read",
        )
    if space is not None and not key.opens(space):
        raise refused(404, "Not found", "No such space.", hint="Check the space and the key.", code="NotFound")


def _command(key: KeyInfo, scope: Scope) -> str:
    """Return the command for a key that has this scope as well as those of the given one."""
    scopes = " ".join(f"--scope {each}" for each in Scope if each in key.scopes or each is scope)
    some = "" if key.spaces is None or scope in EVERYWHERE else " --for-space SPACE"
    return f"bethink keys create NAME {scopes}{some}"
