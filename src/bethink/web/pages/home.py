"""The first page: which spaces there are, and what to do where there is none yet."""

from bethink.model.records import checked_name
from bethink.model.verbs.pages import TIMELINE
from bethink.model.verbs.service import LIST_SPACES, ListSpacesRequest
from bethink.web.visit import Goto, Page, PageRoute, Twin, Visit, address

_PAGE = 50


def _listed(visit: Visit) -> Twin | None:
    return (LIST_SPACES, _request(visit)) if visit.may(LIST_SPACES) else None


def _request(visit: Visit) -> ListSpacesRequest:
    return ListSpacesRequest(limit=_PAGE, after=visit.ask("after"))


async def spaces(visit: Visit) -> Page | Goto:
    """Show the spaces that the key opens."""
    if visit.ask("space"):  # the form that opens one by its name
        return Goto(visit.link_to(checked_name(visit.ask("space"), "a space"), "recall"))
    if visit.key.spaces is not None:
        names = sorted(visit.key.spaces)
    else:
        names = await visit.run(LIST_SPACES, _request(visit)) if visit.may(LIST_SPACES) else []
    if not names and not visit.ask("after") and visit.may(LIST_SPACES):
        return await start(visit)
    more = address(after=names[-1]) if visit.key.spaces is None and len(names) == _PAGE else ""
    values = {"names": names, "more": more, "after": visit.ask("after"), "blind": not names}
    return Page(template="spaces.html", values=values)


async def start(visit: Visit) -> Page:
    """Show how to begin: nothing is stored yet, or somebody asks."""
    return Page(template="start.html", values={"server": f"http://{visit.host}"})


async def space(visit: Visit) -> Goto:
    """Lead from a space to its first page."""
    return Goto(visit.link("timeline") if visit.may(TIMELINE) else address())


ROUTES = (
    PageRoute(path="/", handler=spaces, twin=_listed),
    PageRoute(path="/start", handler=start),
    PageRoute(path="/s/{space}", handler=space),
)
