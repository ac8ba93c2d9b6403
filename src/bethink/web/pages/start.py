"""Getting started: connect an agent, send a first message, or try the demo. New messages appear automatically."""

from typing import Any

from bethink.model.operations.monitoring import LIST_SPACES, ListSpacesRequest
from bethink.model.operations.timeline import TIMELINE, TimelineRequest
from bethink.model.timeline import TimelineKind
from bethink.web.visit import PageRoute, PageView, Visit

_FEW = 3


async def start(visit: Visit) -> PageView:
    """Show how to get started, and the first messages."""
    names: list[str] = []
    if visit.may(LIST_SPACES):
        names = [space.name for space in await visit.run(LIST_SPACES, ListSpacesRequest(limit=2))]
    elif visit.key.spaces is not None:
        names = sorted(visit.key.spaces)[:1]
    values: dict[str, Any] = {
        "server": f"http://{visit.host}",
        "waits": visit.may(LIST_SPACES) and not names,
        "space": names[0] if names else "",
        "several": len(names) > 1,
        "messages": await _first(visit.within(names[0])) if len(names) == 1 else (),
    }
    return PageView(template="start.html", values=values)


async def _first(visit: Visit) -> Any:
    if not visit.may(TIMELINE):
        return ()
    return (await visit.run(TIMELINE, TimelineRequest(kinds=(TimelineKind.MESSAGE,), limit=_FEW))).items


ROUTES = (PageRoute(path="/start", handler=start),)
