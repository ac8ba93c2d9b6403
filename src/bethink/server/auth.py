"""Who is asking: the key in a request, what it may do, and which spaces it opens."""

from collections.abc import Mapping

from bethink.access import Access
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


def authorise(key: KeyInfo, *, scope: Scope | None, space: str | None) -> None:
    """Refuse with 403 what the key has no scope for, and with 404 a space that it does not open.

    A space that is not the key's looks just like one that is not there.
    """
    if scope is not None and (scope not in key.scopes or (scope is Scope.ADMIN and key.spaces is not None)):
        raise refused(
            403,
            "Forbidden",
            f"This key lacks the scope {scope}.",
            hint="Use a key that has it.",
            headers=[(b"www-authenticate", f'Bearer error="insufficient_scope", scope="{scope}"'.encode())],
        )
    if space is not None and not key.opens(space):
        raise refused(
            404,
            "Not found",
            "No such space.",
            hint="Check the space and the key.",
            code="NotFound",
        )
