"""Whose memory is here: the spaces, by name, with what is wrong in them."""

from typing import Any

from bethink.model.operations.monitoring import PAGE_SPACES, PageSpacesRequest
from bethink.model.operations.timeline import TIMELINE
from bethink.model.records import checked_name
from bethink.model.summaries import SpaceSummary
from bethink.web.visit import Goto, Page, PageRoute, Twin, Visit, address

_PAGE = 50


def _listed(visit: Visit) -> Twin | None:
    return (PAGE_SPACES, _request(visit)) if visit.may(PAGE_SPACES) else None


def _request(visit: Visit) -> PageSpacesRequest:
    return PageSpacesRequest(prefix=visit.ask("prefix"), limit=_PAGE, after=visit.ask("after"))


async def spaces(visit: Visit) -> Page | Goto:
    """Show the spaces that the key opens."""
    if visit.ask("space"):  # the form that opens one by its name
        return Goto(visit.link_to(checked_name(visit.ask("space"), "a space")))
    request, more, items = _request(visit), "", tuple[SpaceSummary, ...]()
    if visit.may(PAGE_SPACES):
        found = await visit.run(PAGE_SPACES, request)
        items = found.items
        more = address("spaces", prefix=request.prefix, after=found.next) if found.next else ""
    elif visit.key.spaces is not None:
        names = (name for name in sorted(visit.key.spaces) if name.startswith(request.prefix))
        items = tuple(SpaceSummary(name=name) for name in names)
    values: dict[str, Any] = {
        "spaces": items,
        "more": more,
        "prefix": request.prefix,
        "after": request.after,
        "listed": visit.may(PAGE_SPACES) or visit.key.spaces is not None,
    }
    return Page(template="spaces.html", values=values)


async def space(visit: Visit) -> Goto:
    """Lead from a space to its first page."""
    return Goto(visit.link("timeline") if visit.may(TIMELINE) else address())


ROUTES = (
    PageRoute(path="/spaces", handler=spaces, twin=_listed),
    PageRoute(path="/s/{space}", handler=space),
)
