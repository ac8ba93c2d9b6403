"""Which keys open what, when they were used, and who is signed in."""

from typing import Any

from bethink.features.keys.operations import CREATE_KEY, LIST_KEYS, REVOKE_KEY, CreateKeyRequest, KeyRequest
from bethink.model.access import Scope
from bethink.model.moments import moment_or_none
from bethink.model.operations.base import Empty
from bethink.web.visit import Goto, MenuItem, Page, PageRoute, Twin, Visit, address


def _listed(visit: Visit) -> Twin:
    del visit
    return LIST_KEYS, Empty()


async def access(visit: Visit) -> Page:
    """List the keys."""
    return Page(template="keys.html", values=await _values(visit))


async def _values(visit: Visit) -> dict[str, Any]:
    found = await visit.run(LIST_KEYS, Empty())
    prefix = visit.ask("prefix")
    scopes = [scope for scope in Scope if visit.key.allows(scope)]  # no key gives what it does not have
    chosen = [each for each in reversed(found) if not prefix or each.prefix == prefix]
    return {"keys": chosen, "prefix": prefix, "scopes": scopes, "made": None, "own": visit.key.prefix}


async def create(visit: Visit) -> Page:
    """Create a key, and show its text this once."""
    spaces = tuple(each.strip() for each in visit.filled("spaces").split("\n") if each.strip())
    made = await visit.run(
        CREATE_KEY,
        CreateKeyRequest(
            name=visit.filled("name").strip(),
            scopes=tuple(Scope(each) for each in visit.form.get("scope", ()) if each in set(Scope)),
            spaces=spaces or None,
            expires_at=moment_or_none(visit.filled("expires") or None),
        ),
    )
    return Page(template="keys.html", values=await _values(visit) | {"made": made}, status=201)


async def revoke(visit: Visit) -> Goto:
    """Revoke a key, and with it the sessions that it began."""
    await visit.run(REVOKE_KEY, KeyRequest(prefix=visit.names["prefix"]))
    return Goto(address("access", told="revoked"))


ROUTES = (
    PageRoute(path="/access", handler=access, twin=_listed),
    PageRoute(path="/access/create", handler=create, method="POST"),
    PageRoute(path="/access/{prefix}/revoke", handler=revoke, method="POST"),
)
MENU = (
    MenuItem(
        section="Governing",
        name="Access keys",
        step="access",
        operation=LIST_KEYS,
        shortcut="k",
        position=10,
        templates=("keys",),
        in_space=False,
    ),
)
