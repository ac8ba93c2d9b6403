"""What waits for a person in all spaces."""

from typing import Any

from bethink.model.held import HeldKind
from bethink.model.operations.monitoring import HELD, HeldRequest
from bethink.web.visit import MenuItem, Page, PageRoute, Twin, Visit, address

_PAGE = 20


def _listed(visit: Visit) -> Twin:
    kind = HeldKind(visit.ask("kind")) if visit.ask("kind") in set(HeldKind) else None
    return HELD, HeldRequest(kind=kind, limit=_PAGE, after=visit.ask("after"))


async def held(visit: Visit) -> Page:
    """Show claims and changes that wait, the newest first. They are decided in their space."""
    verb, request = _listed(visit)
    found = await visit.run(verb, request)
    values: dict[str, Any] = {
        "items": found.items,
        "total": found.total,
        "kind": request.kind,
        "kinds": tuple(HeldKind),
        "after": request.after,
        "more": address("held", kind=request.kind, after=found.next) if found.next else "",
    }
    return Page(template="held.html", values=values)


ROUTES = (PageRoute(path="/held", handler=held, twin=_listed),)
MENU = (
    MenuItem(
        section="Running",
        name="Waiting for you",
        step="held",
        operation=HELD,
        shortcut="v",
        position=30,
        in_space=False,
    ),
)
