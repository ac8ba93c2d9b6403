"""Who is asking: the key in a request, what it may do, and which spaces it opens."""

from collections.abc import Mapping, Sequence

from bethink.audit.keys import Access
from bethink.model.access import KeyInfo, Scope
from bethink.server.problems import refused

_BEARER = b"bearer "
_MOST = 200


async def authenticate(access: Access, headers: Mapping[bytes, bytes]) -> KeyInfo:
    """Return what the key of a request is good for, or refuse with 401."""
    found = await find_key(access, headers)
    if found is not None:
        return found
    raise refused(
        401,
        "Unauthorized",
        "This needs a key that is good.",
        hint="Send Authorization: Bearer and a key; `bethink keys create` makes one.",
        headers=[(b"www-authenticate", b'Bearer realm="bethink"')],
    )


async def find_key(access: Access, headers: Mapping[bytes, bytes]) -> KeyInfo | None:
    """Return what the key of a request is good for; None for no key, or one that is not good."""
    given = headers.get(b"authorization", b"")
    if given[: len(_BEARER)].lower() != _BEARER or len(given) > _MOST:
        return None
    return await access.find(given[len(_BEARER) :].strip().decode("latin-1"))


def _command(key: KeyInfo, scope: Scope) -> str:
    """Write the command for a key that may do this as well as all that this one may."""
    scopes = " ".join(f"--scope {each}" for each in Scope if each in key.scopes or each is scope)
    some = "" if key.spaces is None or scope is Scope.ADMIN else " --for-space SPACE"
    return f"bethink keys create NAME {scopes}{some}"


def authorise(key: KeyInfo, scopes: Sequence[Scope], *, space: str | None, everywhere: bool = False) -> None:
    """Refuse with 403 what the key lacks a scope for, and with 404 a space that it does not open.

    A space that is not the key's looks just like one that is not there. `everywhere` needs a key for all of them.
    """
    for scope in scopes:
        if scope not in key.scopes or (scope is Scope.ADMIN and key.spaces is not None):
            raise refused(
                403,
                "Forbidden",
                f"This key lacks the scope {scope}.",
                hint=f"Make one that has it: {_command(key, scope)}",
                headers=[(b"www-authenticate", f'Bearer error="insufficient_scope", scope="{scope}"'.encode())],
            )
    if everywhere and key.spaces is not None:
        raise refused(
            403,
            "Forbidden",
            "This is about all spaces, and the key is for some.",
            hint="Make one that is for all: bethink keys create NAME --scope read",
        )
    if space is not None and not key.opens(space):
        raise refused(
            404,
            "Not found",
            "No such space.",
            hint="Check the space and the key.",
            code="NotFound",
        )
