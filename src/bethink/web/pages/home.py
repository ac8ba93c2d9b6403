"""The list of spaces, with failed jobs and pending reviews."""

from typing import Any

from bethink.model.operations.monitoring import LIST_SPACES, ListSpacesRequest
from bethink.model.operations.timeline import TIMELINE
from bethink.model.records import checked_name
from bethink.model.summaries import SpaceInfo
from bethink.web.visit import Goto, PageRoute, PageView, Twin, Visit, address

_PAGE = 50


def _list_request(visit: Visit) -> Twin | None:
    return (LIST_SPACES, _request(visit)) if visit.may(LIST_SPACES) else None


def _request(visit: Visit) -> ListSpacesRequest:
    return ListSpacesRequest(prefix=visit.query_value("prefix"), limit=_PAGE, after=visit.query_value("after"))


async def spaces(visit: Visit) -> PageView | Goto:
    """Show the spaces that the key can access."""
    if visit.query_value("space"):  # the form that opens a space by name
        return Goto(visit.link_to(checked_name(visit.query_value("space"), "a space")))
    request, more, items = _request(visit), "", tuple[SpaceInfo, ...]()
    if visit.may(LIST_SPACES):
        page = await visit.run(LIST_SPACES, request)
        items = page.items
        more = address("spaces", prefix=request.prefix, after=page.next) if page.next else ""
    elif visit.key.spaces is not None:
        names = (name for name in sorted(visit.key.spaces) if name.startswith(request.prefix))
        items = tuple(SpaceInfo(name=name) for name in names)
    values: dict[str, Any] = {
        "spaces": items,
        "more": more,
        "prefix": request.prefix,
        "after": request.after,
        "listed": visit.may(LIST_SPACES) or visit.key.spaces is not None,
    }
    return PageView(template="spaces.html", values=values)


async def space(visit: Visit) -> Goto:
    """Redirect from a space to its first page."""
    return Goto(visit.link("timeline") if visit.may(TIMELINE) else address())


ROUTES = (
    PageRoute(path="/spaces", handler=spaces, twin=_list_request),
    PageRoute(path="/s/{space}", handler=space),
)
