"""The page of API keys."""

from typing import Any

from bethink.features.keys.operations import CREATE_KEY, LIST_KEYS, REVOKE_KEY, CreateKeyRequest, KeyRequest
from bethink.model.access import Scope
from bethink.model.moments import moment_or_none
from bethink.model.operations.base import Empty
from bethink.web.visit import Goto, MenuItem, PageRoute, PageView, Twin, Visit, address


def _list_request(visit: Visit) -> Twin:
    del visit
    return LIST_KEYS, Empty()


async def access(visit: Visit) -> PageView:
    """List the keys."""
    return PageView(template="keys.html", values=await _values(visit))


async def _values(visit: Visit) -> dict[str, Any]:
    keys = await visit.run(LIST_KEYS, Empty())
    prefix = visit.query_value("prefix")
    scopes = [scope for scope in Scope if visit.key.allows_scope(scope)]  # a key cannot grant scopes that it lacks
    chosen = [key for key in reversed(keys) if not prefix or key.prefix == prefix]
    return {"keys": chosen, "prefix": prefix, "scopes": scopes, "made": None, "own": visit.key.prefix}


async def create(visit: Visit) -> PageView:
    """Create a key and show it once."""
    spaces = tuple(value.strip() for value in visit.form_value("spaces").split("\n") if value.strip())
    new_key = await visit.run(
        CREATE_KEY,
        CreateKeyRequest(
            name=visit.form_value("name").strip(),
            scopes=tuple(Scope(value) for value in visit.form.get("scope", ()) if value in set(Scope)),
            spaces=spaces or None,
            expires_at=moment_or_none(visit.form_value("expires") or None),
        ),
    )
    return PageView(template="keys.html", values=await _values(visit) | {"made": new_key}, status=201)


async def revoke(visit: Visit) -> Goto:
    """Revoke a key and end its web sessions."""
    await visit.run(REVOKE_KEY, KeyRequest(prefix=visit.names["prefix"]))
    return Goto(address("access", told="revoked"))


ROUTES = (
    PageRoute(path="/access", handler=access, twin=_list_request),
    PageRoute(path="/access/create", handler=create, method="POST"),
    PageRoute(path="/access/{prefix}/revoke", handler=revoke, method="POST"),
)
MENU = (
    MenuItem(
        section="Administration",
        name="API keys",
        step="access",
        operation=LIST_KEYS,
        shortcut="k",
        position=10,
        templates=("keys",),
        in_space=False,
    ),
)
