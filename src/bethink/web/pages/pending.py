"""Pending reviews of all spaces."""

from typing import Any

from bethink.model.held import PendingKind
from bethink.model.operations.monitoring import LIST_PENDING, ListPendingRequest
from bethink.web.visit import MenuItem, PageRoute, PageView, Twin, Visit, address

_PAGE = 20


def _list_request(visit: Visit) -> Twin:
    kind = PendingKind(visit.query_value("kind")) if visit.query_value("kind") in set(PendingKind) else None
    return LIST_PENDING, ListPendingRequest(kind=kind, limit=_PAGE, after=visit.query_value("after"))


async def pending_reviews(visit: Visit) -> PageView:
    """Show pending claims and document changes, newest first. They are decided in their space."""
    operation, request = _list_request(visit)
    page = await visit.run(operation, request)
    values: dict[str, Any] = {
        "items": page.items,
        "kind": request.kind,
        "kinds": tuple(PendingKind),
        "after": request.after,
        "more": address("held", kind=request.kind, after=page.next) if page.next else "",
    }
    return PageView(template="held.html", values=values)


ROUTES = (PageRoute(path="/held", handler=pending_reviews, twin=_list_request),)
MENU = (
    MenuItem(
        section="Operations",
        name="Pending reviews",
        step="held",
        operation=LIST_PENDING,
        shortcut="v",
        position=30,
        in_space=False,
    ),
)
