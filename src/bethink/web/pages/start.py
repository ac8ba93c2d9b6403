"""How to begin: connect an agent, send a first message, or look at a demo. What arrives appears by itself."""

from typing import Any

from bethink.model.operations.installation import LIST_SPACES, ListSpacesRequest
from bethink.model.operations.timeline import TIMELINE, TimelineRequest
from bethink.model.timeline import TimelineKind
from bethink.web.visit import Page, PageRoute, Visit

_FEW = 3


async def start(visit: Visit) -> Page:
    """Show how to begin, and what has arrived so far."""
    names: list[str] = []
    if visit.may(LIST_SPACES):
        names = await visit.run(LIST_SPACES, ListSpacesRequest(limit=2))
    elif visit.key.spaces is not None:
        names = sorted(visit.key.spaces)[:1]
    values: dict[str, Any] = {
        "server": f"http://{visit.host}",
        "waits": visit.may(LIST_SPACES) and not names,
        "space": names[0] if names else "",
        "several": len(names) > 1,
        "messages": await _first(visit.within(names[0])) if len(names) == 1 else (),
    }
    return Page(template="start.html", values=values)


async def _first(visit: Visit) -> Any:
    if not visit.may(TIMELINE):
        return ()
    return (await visit.run(TIMELINE, TimelineRequest(kinds=(TimelineKind.MESSAGE,), limit=_FEW))).items


ROUTES = (PageRoute(path="/start", handler=start),)
